"""`benchwright compile --containerize`: writes the build folder, and builds the image if docker's daemon answers."""

from __future__ import annotations

import shlex
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
    folder = (arguments.install_dir or Path("dist")) / f"{package.manifest.package}-image"
    found = inspected.write_image(
        package,
        folder,
        tag=arguments.tag,
        base_image=arguments.base_image or BASE_IMAGE,
        platform=arguments.platform,
        push=arguments.push,
    )
    if not output.as_json:
        output.line(f"wrote {folder}: Containerfile, packages, code, data, metadata")
    problem = found.build()
    if output.as_json:
        output.json(
            {"folder": str(folder), "tag": found.tag, "built": problem is None, "pushed": found.push, "problem": problem, "exit_code": 0}
        )  # fmt: skip
    elif problem is None:
        output.line(f"built {found.tag}" + ("" if found.push is None else f", pushed {found.push}"))
    else:
        output.line(f"no image was built: {problem}. Build it with: {shlex.join(found.command)}")
    return 0
