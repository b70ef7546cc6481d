"""Shows pages in a real browser: Chromium without a window. If it is missing, it is installed from the system's packages."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LONGEST_S = 240
_INSTALL_S = 540
_PATIENT = ("-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3")
"""A new machine may be installing something else at the same time."""


@cache
def chromium() -> str:
    """The program. Fails if there is none and none can be installed."""
    with (Path(tempfile.gettempdir()) / "benchwright-tests-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # workers must not install it at the same time
        for name in ("chromium", "google-chrome"):
            if found := shutil.which(name):
                return found
        assert shutil.which("apt-get"), "these tests need Chromium, which they can install only with apt-get"
        for words in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
            command = ["apt-get", "-q", *_PATIENT, *words]
            done = subprocess.run(
                command,
                capture_output=True, text=True, timeout=_INSTALL_S, check=False,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            )  # fmt: skip
            assert done.returncode == 0, f"install Chromium; {' '.join(command)} failed: {done.stderr[-500:]}"
        found = shutil.which("chromium")
        assert found, "the package chromium has no program of that name"
        return found


def page_data(page: str) -> Any:
    """The JSON inside a page that is one file."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found)


def document_of(page: Path, scratch: Path, width: int = 1300) -> str:
    """The document of a page after its scripts have run, as HTML."""
    quiet = [
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic", "--no-first-run",
    ]  # fmt: skip
    done = subprocess.run(
        [
            chromium(), "--headless", "--no-sandbox", "--disable-gpu", *quiet, "--virtual-time-budget=5000",
            f"--user-data-dir={scratch / 'profile'}", f"--window-size={width},1000", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, check=False, timeout=LONGEST_S,
    )  # fmt: skip
    assert done.stdout, done.stderr[-1000:]
    return done.stdout


@contextmanager
def driven() -> Iterator[Browser]:
    """Chromium, driven by a test that clicks and waits for what appears."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"], timeout=LONGEST_S * 1000
        )
        try:
            yield browser
        finally:
            browser.close()
