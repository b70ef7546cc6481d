"""Which of a benchmark's `requirements` this Python lacks. Nothing is installed or imported."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement


def unmet_requirements(requirements: Sequence[str]) -> Iterator[str]:
    """Warnings about requirements that are not met, with the command that installs them."""
    if not requirements:
        return
    from packaging.requirements import InvalidRequirement, Requirement

    absent: list[str] = []
    other: dict[str, str] = {}
    for written in requirements:
        text = written.partition(" #")[0].strip()
        try:
            required = Requirement(text)
        except InvalidRequirement:  # an option or a path: metadata says nothing about it
            continue
        if required.marker is not None and not required.marker.evaluate():
            continue  # for other systems or versions of Python
        version = _installed_version(required.name)
        if version is None:
            absent.append(text)
        elif required.url is None and not _satisfies(version, required):
            other[text] = version
    if absent:
        yield f"required packages are not installed: {', '.join(absent)}; run: {_install(absent)}"
    if other:
        found = ", ".join(f"{text} (installed: {version})" for text, version in other.items())
        yield f"required packages are installed in another version: {found}; run: {_install(other)}"


def _satisfies(version: str, required: Requirement) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        installed = Version(version)
    except InvalidVersion:
        return True  # a version of another scheme: only pip can say
    # A pre-release that somebody installed is there on purpose.
    return required.specifier.contains(installed, prereleases=True)


def _install(requirements: Iterable[str]) -> str:
    return f"pip install {' '.join(map(shlex.quote, requirements))}"  # unquoted, a shell takes > for a redirection


def _installed_version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None
