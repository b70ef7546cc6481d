"""`benchwright compile --containerize`: writes the build folder, and builds the image if docker's daemon answers."""

from __future__ import annotations

import shlex
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.cli._output import Output

if TYPE_CHECKING:
    from benchwright.packages import Inspected, Package


BASE_IMAGE = "python:3.12-slim"
"""The image to start from, unless the user names another."""


def containerize(inspected: Inspected, package: Package, arguments: Namespace, output: Output) -> int:
    """Write the folder, build and push. JSON: `{"folder", "tag", "built", "pushed", "problem", "exit_code"}`."""
    from benchwright.packages import (
        DATA_AT,
        PackageError,
        build_image,
        image_tag,
        make_package,
        try_wheel,
        why_no_docker,
        write_build_folder,
    )

    platform = arguments.platform
    base = image_tag(arguments.base_image or BASE_IMAGE, None, "--base-image")
    push = None if arguments.push is None else image_tag(arguments.push, platform, "--push")
    tag = push or package.metadata.name
    if arguments.tag is not None or push is None:
        tag = image_tag(arguments.tag or package.metadata.name, platform, "--tag")
    with tempfile.TemporaryDirectory() as temporary:
        try_wheel(package.write(Path(temporary)), package, inspected.content.source)
    outside = make_package(
        inspected.content, name=package.manifest.package, records=inspected.records, data_at=DATA_AT
    )
    folder = (arguments.install_dir or Path("dist")) / f"{package.manifest.package}-image"
    found = write_build_folder(
        folder, inspected.content, outside, tag=tag, base_image=base, platform=platform, remote=bool(inspected.unchecked)
    )  # fmt: skip
    problem = why_no_docker()
    if not output.as_json:
        output.line(f"wrote {folder}: Containerfile, packages, code, data, metadata")
    command = shlex.join(found.build)
    if problem is None:
        build_image(found, push)
    elif push is not None:
        raise PackageError(
            f"{problem}; {push} was not pushed. The build folder is {folder}; build it with: {command}"
        )
    if output.as_json:
        output.json(
            {"folder": str(folder), "tag": tag, "built": problem is None, "pushed": push, "problem": problem, "exit_code": 0}
        )  # fmt: skip
    elif problem is None:
        output.line(f"built {tag}" + ("" if push is None else f", pushed {push}"))
    else:
        output.line(f"no image was built: {problem}. Build it with: {command}")
    return 0
