"""Corrected scores against hand-computed cases, and their intervals against simulation."""

from __future__ import annotations

from random import Random

import pytest

from benchwright.stats import Corrected


def test_rogan_and_gladen_by_hand() -> None:
    # 60 of 100 called right; sensitivity 0.9, specificity 0.8: (0.6 + 0.8 - 1) / (0.9 + 0.8 - 1)
    found = Corrected.by_rates((60, 100), (45, 50), (40, 50))
    assert found is not None
    assert found.value == pytest.approx(0.4 / 0.7)
    perfect = Corrected.by_rates((60, 100), (50, 50), (50, 50))
    assert perfect is not None
    assert perfect.value == pytest.approx(0.6)
    assert perfect.ci_low < 0.51
    assert perfect.ci_high > 0.68


def test_a_judge_that_tells_nothing_corrects_nothing() -> None:
    assert Corrected.by_rates((60, 100), (25, 50), (25, 50)) is None
    assert Corrected.by_rates((60, 100), (0, 0), (25, 50)) is None
    assert Corrected.by_rates((60, 100), (10, 10), (0, 0)) is None


def test_the_share_stays_between_0_and_1() -> None:
    found = Corrected.by_rates((2, 100), (45, 50), (40, 50))
    assert found is not None
    assert found.value == found.ci_low == 0.0


def test_prediction_powered_by_hand() -> None:
    # Labels: the judge gives 1 to thirty right ones and to ten wrong ones, 0 to twenty wrong ones. With weight w the
    # value is mean(human - w judge) + w mean(judge elsewhere) = 1/2 - w 2/3 + w 2/3 = 1/2.
    labelled = [(1.0, 1.0)] * 30 + [(1.0, 0.0)] * 10 + [(0.0, 0.0)] * 20
    found = Corrected.by_error(labelled, [1.0] * 200 + [0.0] * 100, (0, 1))
    assert found is not None
    assert found.value == pytest.approx(0.5)
    alone = Corrected.by_error(labelled, [], (0, 1))
    assert alone is not None
    assert alone.value == pytest.approx(0.5)
    assert found.ci_high - found.ci_low < alone.ci_high - alone.ci_low  # the other rows tell something
    assert Corrected.by_error(labelled[:1], [1.0], (0, 1)) is None


def test_a_useless_judge_leaves_the_labels_alone() -> None:
    labelled = [(float(n % 2), float(n // 2 % 2)) for n in range(40)]
    found, alone = (Corrected.by_error(labelled, more, (0, 1)) for more in ([1.0] * 500, []))
    assert found is not None
    assert alone is not None
    assert found.value == pytest.approx(alone.value)


@pytest.mark.parametrize(
    ("share", "sensitivity", "specificity"), [(0.5, 0.9, 0.8), (0.8, 0.95, 0.7), (0.9, 0.98, 0.9)]
)
def test_the_intervals_hold_the_truth(share: float, sensitivity: float, specificity: float) -> None:
    dice, tries, size, labels = Random(share), 200, 400, 60
    held = {"prediction_powered": 0, "rogan_gladen": 0}
    for _ in range(tries):
        human = [dice.random() < share for _ in range(size)]
        judge = [dice.random() < (sensitivity if right else 1 - specificity) for right in human]
        known = list(zip(judge[:labels], human[:labels], strict=True))
        ones, zeros = [j for j, h in known if h], [j for j, h in known if not h]
        ways: list[Corrected | None] = [
            Corrected.by_error(
                [(float(j), float(h)) for j, h in known], list(map(float, judge[labels:])), (0, 1)
            ),
            Corrected.by_rates(
                (sum(judge), size), (sum(ones), len(ones)), (len(zeros) - sum(zeros), len(zeros))
            ),
        ]
        for found in ways:
            if found is not None:
                held[found.method] += found.ci_low <= share <= found.ci_high
    assert all(count / tries >= 0.92 for count in held.values()), held


def test_scales_of_more_than_two_grades() -> None:
    dice, tries, held = Random(3), 200, 0
    for _ in range(tries):
        human = [dice.choice((0.2, 0.4, 0.6, 0.8, 1.0)) for _ in range(300)]
        judge = [min(1.0, h + 0.2 * (dice.random() < 0.4)) for h in human]  # too kind
        found = Corrected.by_error(list(zip(judge[:50], human[:50], strict=True)), judge[50:], (0.2, 1.0))
        assert found is not None
        held += found.ci_low <= 0.6 <= found.ci_high
    assert held / tries >= 0.92
