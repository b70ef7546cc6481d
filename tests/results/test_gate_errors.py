"""False alarms and power of gates over 20 slices, by simulation with fixed seeds. `gate_errors.py` prints the whole table."""

from __future__ import annotations

import pytest
from gate_errors import SETTINGS, Setting, false_alarms, found

GATES = 60
"""Simulated gates. The standard error of a share of 5 % found by so many is 0.028, of 80 % it is 0.052."""


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_false_alarms_stay_below_five_percent_and_power_is_as_stated(setting: Setting) -> None:
    assert false_alarms(setting, 60, GATES) <= 0.05 + 0.028
    power = found(setting, 100, GATES)
    assert power is not None
    assert power[1] >= 0.8 - 0.052
