"""Makes an installed package of a file of benchmarks: checks it, makes the wheel, tries it, and installs it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from benchwright.benchmarks import BenchmarkSpec, CheckReport, unmet_requirements
from benchwright.core import BenchmarkError, DatasetError
from benchwright.packages._container import DATA_AT, BuildFolder, image_tag
from benchwright.packages._content import DATA_FIELDS, Content, read_module
from benchwright.packages._installed import PackageError, install_wheel, refuse_collisions, try_wheel
from benchwright.packages._package import MEGABYTE, Package, make_package

MAX_DATA_MB = 100
"""The default limit of data in a package, in megabytes."""


class Inspected(Struct, frozen=True):
    """A module and the findings of its check."""

    content: Content
    """The module and its files."""
    reports: tuple[CheckReport, ...]
    """One report per benchmark whose data was read."""
    unchecked: tuple[str, ...]
    """Benchmarks whose data would be fetched from elsewhere and was not checked."""

    @classmethod
    def of(cls, target: str, cwd: Path, include: Sequence[str] = (), *, fetch: bool = False) -> Inspected:
        """Load a module and check its benchmarks; with `fetch`, also those whose data is on other machines.

        Raises PackageError for a module that cannot be loaded or packaged.
        """
        try:
            content = read_module(target, cwd, include)
        except (BenchmarkError, DatasetError) as error:
            raise PackageError(f"VALIDATION FAILED: {error}") from error
        near = [spec for spec in content.specs if fetch or not _is_remote(spec)]
        reports = tuple(CheckReport.of(spec) for spec in near)
        return cls(content, reports, tuple(spec.key for spec in content.specs if spec not in near))

    @property
    def records(self) -> dict[str, int]:
        """Rows of each dataset that was read, including bad ones."""
        read = (report for report in self.reports if report.rows or report.bad_total or not report.errors)
        return {report.key: report.rows + report.bad_total for report in read}

    @property
    def unmet(self) -> list[str]:
        """Requirements that this environment does not meet."""
        written = (text for spec in self.content.specs for text in spec.requirements)
        return list(unmet_requirements(tuple(dict.fromkeys(written))))

    def failure(self, *, allow_failing_gold: bool) -> str | None:
        """Why it must not be packaged; None for benchmarks that can be run."""
        for report in self.reports:
            if report.errors:
                return f"{report.key}: {report.errors[0]}"
            if report.bad_total:
                return f"{report.key}: {report.bad_rows[0]}"
            if report.gold_fails and not allow_failing_gold:
                return f"{report.key}: no gold answer scores as right; correct the targets or the scorer, or accept this with --allow-failing-gold"
        return None

    def package(
        self, *, name: str | None = None, reference_data: bool = False, max_data_mb: float = MAX_DATA_MB
    ) -> Package:
        """Make the package, with its data inside or, with `reference_data`, as absolute paths. Raises PackageError for names and
        requirements that cannot be used, and for too much data."""
        try:
            return make_package(
                self.content,
                name=name,
                records=self.records,
                data_at="" if reference_data else None,
                max_data=round(max_data_mb * MEGABYTE),
            )
        except BenchmarkError as error:
            raise PackageError(f"VALIDATION FAILED: {error}") from error

    def deliver(
        self, package: Package, folder: Path | None, *, install: bool, force: bool = False
    ) -> Path | None:
        """Write the wheel, try it, and install it. Returns the wheel if it is kept in a folder.

        A package that fails the trial is neither kept nor installed.
        """
        # A package that is not installed here may share benchmarks with others, but a wheel called numpy would replace numpy.
        refuse_collisions(package, self.content.source, force=force or not install)
        with tempfile.TemporaryDirectory() as temporary:
            wheel = package.write(Path(temporary))
            try_wheel(wheel, package, self.content.source)
            kept = None if folder is None else package.write(folder)
            if install:
                install_wheel(kept or wheel, force=force)
        return kept

    def write_image(
        self,
        package: Package,
        folder: Path,
        *,
        tag: str | None,
        base_image: str,
        platform: str | None,
        push: str | None,
    ) -> BuildFolder:
        """Try the package, and write the folder from which an image with it is built. Raises UsageError for names that no image
        can have."""
        base = image_tag(base_image, None, "--base-image")
        pushed = None if push is None else image_tag(push, platform, "--push")
        name = pushed or package.metadata.name
        if tag is not None or pushed is None:
            name = image_tag(tag or package.metadata.name, platform, "--tag")
        with tempfile.TemporaryDirectory() as temporary:
            try_wheel(package.write(Path(temporary)), package, self.content.source)
        outside = make_package(
            self.content, name=package.manifest.package, records=self.records, data_at=DATA_AT
        )
        found = BuildFolder(folder, name, platform, bool(self.unchecked), pushed)
        found.write(self.content, outside, base)
        return found


def _is_remote(spec: BenchmarkSpec) -> bool:
    refs = (getattr(spec, name) for name in DATA_FIELDS)
    return any(isinstance(ref, str) and "://" in ref and not ref.lower().startswith("file:") for ref in refs)
