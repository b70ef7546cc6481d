"""What holds for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from benchwright.core import forget_secrets

# How long an example takes says something about the machine, not about the code.
settings.register_profile("benchwright", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("benchwright")


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests() -> Iterator[None]:
    yield
    forget_secrets()
