"""Policies that cannot be used are refused before anything is judged, with file, line, key and cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.core import ConfigError
from benchwright.results import Policy
from benchwright.results._gates.claims import _CLAIMS
from benchwright.results._gates.policy import KEYS

RULE = '[[threshold]]\nmetric = "correct"\nmin = 0.7\nbound = "lower"\n'


def policy(tmp_path: Path, text: str | bytes) -> Policy:
    file = tmp_path / "policy.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = Policy.read(file)
    found.check_figures()
    return found


@pytest.mark.parametrize(
    "text",
    [
        RULE,
        b"\xef\xbb\xbf" + RULE.encode(),
        RULE.replace("\n", "\r\n"),
        RULE.replace("[[threshold]]", "[threshold]"),
    ],
)
def test_a_policy_is_read_with_a_byte_order_mark_and_any_line_ends(tmp_path: Path, text: str | bytes) -> None:
    found = policy(tmp_path, text)
    (rule,) = found.rules
    assert (rule.metric, rule.min, rule.bound, rule.level) == ("correct", 0.7, "lower", 0.95)
    assert (found.alpha, found.power) == (0.05, 0.8)
    assert rule.where.endswith("policy.toml:1: [[threshold]]")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no rules"),
        ("[gate]\nalpha = 0.05\n", "has no rules"),
        (RULE.replace("threshold", "treshold"), r"policy.toml:1: \[\[treshold\]\] is not known. Did you mean 'threshold'\?"),
        (RULE + RULE.replace("bound", "bond"), r":5: \[\[threshold\]\] bond is not known. Did you mean 'bound'\?"),
        (RULE.replace('bound = "lower"', ""), "has no bound; add it: what must meet the limit"),
        (RULE.replace("min = 0.7", ""), "has no limit; add min or max"),
        (RULE.replace('"lower"', '"lowest"'), "'lowest' is not known; expected one of lower, value, upper"),
        (RULE.replace("0.7", "nan"), "min: nan is not a number"),
        (RULE.replace("0.7", "inf"), "min: inf is not a number"),
        (RULE.replace("0.7", '"0.7"'), "min: '0.7' is not a number"),
        (RULE.replace("0.7", "true"), "min: true is not a number"),
        (RULE.replace("0.7", "0.7\nmax = 0.5"), "min 0.7 is above max 0.5"),
        (RULE + "level = 1.5\n", "level: 1.5 is too large"),
        (RULE + "margin = 0.1\n", r"a margin belongs to \[\[regression\]\]"),
        (RULE + RULE, r":5: \[\[threshold\]\] repeats the rule at .*policy.toml:1: "),
        ('[[regression]]\nmetric = "x"\nbound = "lower"\nmin = 1\n', r"min belongs to \[\[threshold\]\]"),
        ('[[regression]]\nmetric = "x"\nbound = "lower"\ndetect = 0.1\n', 'only with bound = "upper"'),
        ('[[regression]]\nmetric = "x"\nbound = "lower"\nmargin = -0.1\n', "margin: -0.1 is too small"),
        ('[[regression]]\nmetric = "x"\nbound = "lower"\nmargin = 0.1\nmargin_percent = 3\n', "keep one of them"),
        ('[[failures]]\nmax = 2\n', "max: 2 is too large"),
        ('[[failures]]\nmax = 0.1\noutcome = "request_faild"\n', "Did you mean 'request_failed'"),
        ('[[usage]]\nfigure = "costs"\nmax = 1\n', "Did you mean 'cost'"),
        ('[[load]]\nfigure = "ttft"\nmax = 1\n', "needs a statistic; write ttft.p99"),
        ('[[load]]\nfigure = "tfft.p99"\nmax = 1\n', "Did you mean 'ttft'"),
        ('[[load]]\nfigure = "goodput.p99"\nmin = 1\n', "is one value and has no 'p99'"),
        ("gate = 3\n" + RULE, r"written as \[gate\]"),
        ("threshold = 3\n", r"written as \[\[threshold\]\]"),
        (RULE + "min = 0.8\n", "not valid TOML: .*line 5"),
        (b"\xff\xfe[[threshold]]\n", "is not UTF-8"),
    ],
)  # fmt: skip
def test_a_wrong_policy_is_refused_with_its_cure(tmp_path: Path, text: str | bytes, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        policy(tmp_path, text)


def test_a_policy_is_a_toml_file(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("threshold: []")
    with pytest.raises(ConfigError, match=r"ends in \.toml"):
        Policy.read(tmp_path / "policy.yaml")


def test_every_kind_of_rule_has_its_claims() -> None:
    assert set(_CLAIMS) == set(KEYS)


def test_all_that_is_wrong_with_a_policy_is_told_at_once_and_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(
        "[gate]\nmay_difer = []\n[[treshold]]\nmin = 1\n[regresion]\nmargin = 1\n[[failures]]\nmaxi = 1\n"
    )
    with pytest.raises(ConfigError) as caught:
        Policy.read(path)
    told = str(caught.value).splitlines()
    for wrong in (
        ":1: [gate] may_difer is",
        ":3: [[treshold]] is",
        ":5: [regresion] is",
        ":7: [[failures]] maxi is",
    ):
        assert sum(wrong in line for line in told) == 1, wrong
