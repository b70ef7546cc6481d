"""Cohen's κ against worked examples and against scikit-learn's figures, and its interval against simulation."""

from __future__ import annotations

from random import Random

import pytest

from benchwright.stats import Agreement, PanelAgreement
from benchwright.stats._agreement import weighted_kappa

SCALE = {"1": 1.0, "2": 2.0, "3": 3.0}


def pairs_of(table: list[list[int]]) -> list[tuple[str, str]]:
    return [
        (str(i + 1), str(j + 1)) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)
    ]  # fmt: skip


def test_kappa_of_a_worked_example() -> None:
    # 20 and 15 agree, 5 and 10 do not: observed 0.7; by chance 0.5·0.6 + 0.5·0.4 = 0.5.
    found = Agreement.of(pairs_of([[20, 5], [10, 15]]))
    assert found.kappa == pytest.approx(0.4)
    assert found.agreed == 0.7
    assert found.pairs == 50
    assert found.weights == "none"
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_low < 0.4 < found.ci_high


@pytest.mark.parametrize(
    ("weights", "kappa"), [("none", 1 - 6 / 12.6), ("linear", 1 - 7 / 16.2), ("quadratic", 1 - 9 / 23.4)]
)
def test_weights_count_far_disagreements_more(weights: str, kappa: float) -> None:
    # Margins 7, 6, 7 and 6, 7, 7 of 20. Disagreement observed and by chance, by the definition of weighted κ.
    table = [[5, 1, 1], [1, 5, 0], [0, 1, 6]]
    rows, columns = [7, 6, 7], [6, 7, 7]
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    off = [(i, j) for i in range(3) for j in range(3) if i != j]
    observed = sum(table[i][j] * abs(i - j) ** power for i, j in off)
    chance = sum(rows[i] * columns[j] / 20 * abs(i - j) ** power for i, j in off)
    found = Agreement.of(pairs_of(table), SCALE, weights)  # type: ignore[arg-type]
    assert found.kappa == pytest.approx(1 - observed / chance)


def test_a_scale_gets_quadratic_weights_and_two_grades_none() -> None:
    assert Agreement.of(pairs_of([[5, 1, 1], [1, 5, 0], [0, 1, 6]]), SCALE).weights == "quadratic"
    assert Agreement.of([("C", "I"), ("C", "C")], {"C": 1.0, "I": 0.0}).weights == "none"


def test_the_error_is_that_of_fleiss_cohen_and_everitt() -> None:
    # Their formula for equal margins and two categories is √(po (1 - po) / n) / (1 - pe) when margins are 1/2.
    _, error = weighted_kappa([[40, 10], [10, 40]], [[1, 0], [0, 1]])
    assert error == pytest.approx((0.8 * 0.2 / 100) ** 0.5 / 0.5)


def test_perfect_agreement_is_no_certainty_and_one_category_no_agreement() -> None:
    perfect = Agreement.of(pairs_of([[30, 0], [0, 20]]))
    assert perfect.kappa == 1.0
    assert perfect.ci_high == 1.0
    assert perfect.ci_low is not None
    assert 0.8 < perfect.ci_low < 0.95
    constant = Agreement.of([("C", "C")] * 30)
    assert constant.kappa is None
    assert constant.ci_low is None
    for pairs in ([("C", "C")] * 4 + [("C", "I")] * 2, [("C", "C")] * 4 + [("I", "C")] * 2):
        one_sided = Agreement.of(pairs)
        assert one_sided.kappa == 0.0  # whatever the items
        assert one_sided.ci_low is one_sided.ci_high is None
    assert constant.agreed == 1.0


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="no pairs"):
        Agreement.of([])
    with pytest.raises(ValueError, match="no place on the scale for x"):
        Agreement.of([("1", "x")], SCALE, "linear")


@pytest.mark.parametrize("right", [0.75, 0.9, 0.97])
def test_the_interval_holds_kappa_in_about_95_of_100(right: float) -> None:
    dice, tries, size = Random(right), 300, 60
    share = [[0.6 * right, 0.6 * (1 - right)], [0.4 * (1 - right), 0.4 * right]]
    true, _ = weighted_kappa(share, [[1, 0], [0, 1]])
    assert true is not None
    held = 0
    for _ in range(tries):
        human = ["C" if dice.random() < 0.6 else "I" for _ in range(size)]
        judge = [grade if dice.random() < right else "IC"[grade == "I"] for grade in human]
        found = Agreement.of(list(zip(human, judge, strict=True)))
        held += (
            found.ci_low is not None and found.ci_high is not None and found.ci_low <= true <= found.ci_high
        )
    assert held / tries >= 0.92


def test_a_panel_is_the_mean_of_its_pairs() -> None:
    panel = PanelAgreement()
    for one, other, third in [("C", "C", "C"), ("I", "I", "C"), ("C", "I", "C"), ("I", "I", "I")]:
        panel.add({"a": (one, 1.0), "b": (other, 0.0), "c": (third, 0.0)})
    expected = [
        Agreement.of([("C", "C"), ("I", "I"), ("C", "I"), ("I", "I")]).kappa,
        Agreement.of([("C", "C"), ("I", "C"), ("C", "C"), ("I", "I")]).kappa,
        Agreement.of([("C", "C"), ("I", "C"), ("I", "C"), ("I", "I")]).kappa,
    ]
    assert panel.figures()["judge_kappa"] == pytest.approx(sum(e or 0 for e in expected) / 3)
    assert PanelAgreement().figures() == {}
