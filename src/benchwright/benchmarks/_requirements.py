"""Which of a benchmark's `requirements` this Python lacks. Nothing is installed or imported.

Only what is certain is told: of versions their numbers are compared, and where a pre-release, a URL, an option or an
environment marker decides, pip alone can say.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*\(?(?P<versions>[^;@#)]*)"
)
_CONDITION = re.compile(r"(?P<how>~=|==|!=|<=|>=|<|>)\s*v?(?P<version>\d+(?:\.\d+)*)(?P<any>\.\*)?")
_INSTALLED = re.compile(r"v?(?P<release>\d+(?:\.\d+)*)(?P<more>.*)", re.DOTALL)

Release = tuple[int, ...]

_HOLDS: dict[str, Callable[[Release, Release], bool]] = {
    "==": lambda have, want: have == want,
    "!=": lambda have, want: have != want,
    ">=": lambda have, want: have >= want,
    "<=": lambda have, want: have <= want,
    ">": lambda have, want: have > want,
    "<": lambda have, want: have < want,
}


def unmet_requirements(requirements: Sequence[str]) -> Iterator[str]:
    """Warnings about requirements that are not met, with the command that installs them."""
    absent: list[str] = []
    other: dict[str, str] = {}
    for written in requirements:
        requirement = written.partition(" #")[0].strip()
        match = _REQUIREMENT.match(requirement)
        if match is None:  # an option or a path: nothing that metadata could tell
            continue
        version = _installed_version(match["name"])
        if version is None:
            absent.append(requirement)
        elif ";" not in requirement and "@" not in requirement and not _is_met(version, match["versions"]):
            other[requirement] = version
    if absent:
        yield f"required packages are not installed: {', '.join(absent)}; run: {_install(absent)}"
    if other:
        told = ", ".join(f"{requirement} (installed: {version})" for requirement, version in other.items())
        yield f"required packages are installed in another version: {told}; run: {_install(other)}"


def _install(requirements: Sequence[str] | dict[str, str]) -> str:
    return f"pip install {' '.join(map(shlex.quote, requirements))}"  # unquoted, a shell takes > for a redirection


def _installed_version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _is_met(version: str, conditions: str) -> bool:
    installed = _INSTALLED.fullmatch(version)
    if installed is None or "!" in version:  # no version, or one with an epoch
        return True
    have = _release(installed["release"])
    special = bool(installed["more"]) and not installed["more"].startswith("+")
    for condition in conditions.split(","):
        match = _CONDITION.fullmatch(condition.strip())
        if match is None:
            continue
        want = _release(match["version"])
        if special and have[: len(want)] == want[: len(have)]:  # 2.0rc1 beside 2.0: pip knows
            continue
        if not _holds(have, match["how"], want, any_after=match["any"] is not None):
            return False
    return True


def _holds(have: Release, how: str, want: Release, *, any_after: bool) -> bool:
    if how == "~=":
        return _HOLDS[">="](*_padded(have, want)) and _HOLDS["=="](*_cut(have, want[:-1]))
    if any_after:
        return _HOLDS[how](*_cut(have, want))
    return _HOLDS[how](*_padded(have, want))


def _release(text: str) -> Release:
    return tuple(map(int, text.split(".")))


def _padded(one: Release, other: Release) -> tuple[Release, Release]:
    """Both as long as the longer: 2 and 2.0 are the same."""
    length = max(len(one), len(other))
    return one + (0,) * (length - len(one)), other + (0,) * (length - len(other))


def _cut(have: Release, want: Release) -> tuple[Release, Release]:
    """The installed version as far as the wanted one goes."""
    return (have + (0,) * len(want))[: len(want)], want
