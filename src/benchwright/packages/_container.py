"""Makes container images: a self-contained build folder, and the image if docker's daemon answers."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import msgspec

from benchwright.core import VERSION, UsageError, clause
from benchwright.packages._content import Content
from benchwright.packages._installed import PackageError
from benchwright.packages._package import Package
from benchwright.packages._wheel import WheelMetadata, write_wheel

DATA_AT = "/opt/byob/data"
"""Where the data is in an image."""
_REFERENCE = re.compile(r"[a-zA-Z0-9][\w.-]*(:[0-9]+)?(/[\w.-]+)*(:[\w.-]+)?(@sha256:[0-9a-f]{64})?")
_PLATFORM = re.compile(r"[a-z0-9]+/[a-z0-9]+(/[a-z0-9]+)?")
_ANSWER_S = 30
_ASKS = re.compile(r"\s*Is [^.?]*\?$")
"""What docker asks after it has said what is wrong."""
_TOKEN = "HF_TOKEN"
_WITH_TOKEN = "--mount=type=secret,id=hf_token HF_TOKEN_PATH=/run/secrets/hf_token "
_RECIPE = """\
# Written by benchwright compile. Build it with: {command}
FROM {base}
COPY packages/benchwright /opt/byob_pkg/benchwright
RUN pip install --no-cache-dir /opt/byob_pkg/benchwright/*.whl
COPY packages/benchmarks /opt/byob_pkg/benchmarks
RUN pip install --no-cache-dir /opt/byob_pkg/benchmarks/*.whl
COPY code /opt/byob/code
COPY data {data}
COPY metadata /opt/metadata
ENV BENCHWRIGHT_CACHE={data}/cache
# Fetches data of other machines into the image, and proves that every benchmark can be run.
{checks}
WORKDIR /work
ENTRYPOINT ["benchwright"]
CMD ["ls"]
"""


class BuildFolder(msgspec.Struct, frozen=True):
    """A folder from which an image is built."""

    folder: Path
    """Where it is."""
    tag: str
    """Name of the image."""
    platform: str | None
    """Platform of the image; None for this machine's."""
    remote: bool = False
    """Whether the build fetches data."""
    push: str | None = None
    """The name under which the image is pushed; None: it stays here."""

    @property
    def command(self) -> list[str]:
        """The command that builds the image. A token of the hub is passed by name and never gets into a layer."""
        platform = ["--platform", self.platform] if self.platform else []
        token = ["--secret", f"id=hf_token,env={_TOKEN}"] if self.remote and os.environ.get(_TOKEN) else []
        return ["docker", "build", *platform, *token, "-f", str(self.folder / "Containerfile"), "-t", self.tag, str(self.folder)]  # fmt: skip

    def write(self, content: Content, package: Package, base_image: str) -> None:
        """Write everything that the image needs, replacing the files of an earlier call. `package` has its local data at
        `DATA_AT`; remote data is fetched when the image is built."""
        folder = self.folder
        if folder.exists() and not (folder / "Containerfile").is_file() and any(folder.iterdir()):
            raise UsageError(f"{folder} contains something else; give another folder with --install-dir DIR")
        for name in ("packages", "code", "data", "metadata"):
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).mkdir(parents=True)
        package.write(folder / "packages" / "benchmarks")
        write_own_wheel(folder / "packages" / "benchwright")
        for name, files in (("code", content.files), ("data", content.data)):
            for place, path in files.items():
                (folder / name / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, folder / name / place)
        (folder / "metadata" / "package.json").write_bytes(package.manifest.encoded())
        keys = [benchmark.key for benchmark in package.manifest.benchmarks]
        check = "RUN " + (_WITH_TOKEN if self.remote else "")
        checks = "\n".join(f"{check}benchwright check {key} --allow-failing-gold --quiet" for key in keys)
        recipe = _RECIPE.format(
            command=shlex.join([*self.command[:-1], "."]).replace(str(folder / "Containerfile"), "Containerfile"),
            base=base_image, data=DATA_AT, checks=checks,
        )  # fmt: skip
        (folder / "Containerfile").write_text(recipe, encoding="utf-8")

    def build(self) -> str | None:
        """Build the image, and push it if it is to be pushed. Docker's output goes to standard error. Returns why no image can be
        built here, or None; raises PackageError if one was to be pushed."""
        problem = _why_no_docker()
        if problem is None:
            _docker(self.command)
            if self.push is not None:
                if self.push != self.tag:
                    _docker(["docker", "tag", self.tag, self.push])
                _docker(["docker", "push", self.push])
        elif self.push is not None:
            raise PackageError(
                f"{problem}; {self.push} was not pushed. The build folder is {self.folder}; build it with: "
                f"{shlex.join(self.command)}"
            )
        return problem


def image_tag(image: str, platform: str | None, flag: str) -> str:
    """The name of an image, with the platform at its end.

    >>> image_tag("registry:5000/quiz:2", "linux/arm64", "--tag"), image_tag("quiz", None, "--tag")
    ('registry:5000/quiz:2-linux-arm64', 'quiz')
    """
    if _REFERENCE.fullmatch(image) is None:
        raise UsageError(f"{flag} {image}: expected the name of an image, such as quiz:1.0")
    if platform is None:
        return image
    if _PLATFORM.fullmatch(platform) is None:
        raise UsageError(f"--platform {platform}: expected one platform, such as linux/amd64")
    tagged = image if ":" in image.rpartition("/")[2] else f"{image}:latest"
    return f"{tagged}-{platform.replace('/', '-')}"


def write_own_wheel(folder: Path) -> None:
    """Write this version of benchwright as a wheel, so that the image runs the version that was tried here."""
    from importlib.metadata import distribution

    import benchwright

    dist = distribution("benchwright")
    place = Path(str(benchwright.__file__)).parent
    files: dict[str, Path | bytes] = {
        f"benchwright/{path.relative_to(place).as_posix()}": path
        for path in place.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    entries = {point.name: point.value for point in dist.entry_points if point.group == "console_scripts"}
    metadata = WheelMetadata(
        "benchwright", VERSION, str(dist.metadata["Summary"]), tuple(dist.requires or ()),
        str(dist.metadata["Requires-Python"]), f"benchwright {VERSION}", {"console_scripts": entries},
    )  # fmt: skip
    write_wheel(folder, metadata, files)


def _why_no_docker() -> str | None:
    """Why no image can be built here; None if docker's daemon answers."""
    if shutil.which("docker") is None:
        return "docker is not installed"
    try:
        done = subprocess.run(
            ["docker", "version", "--format", "{{.Server.Version}}"],
            capture_output=True, text=True, errors="replace", timeout=_ANSWER_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"docker does not answer: {clause(error)}"
    if done.returncode == 0:
        return None
    said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return f"docker does not answer: {clause(_ASKS.sub('', said[-1]))}"


def _docker(command: list[str]) -> None:
    done = subprocess.run(command, stdout=2, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise PackageError(
            f"{shlex.join(command)} failed with exit code {done.returncode}; see its output above"
        )
