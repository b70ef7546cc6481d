"""Prompts that are made: laws of lengths, shared prefixes, exact tokens, and what is refused."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from statistics import fmean, pstdev

import pytest
from tests.perf.made_records import read_request_file

from benchwright import perf
from benchwright.core import UsageError
from benchwright.perf import synthetic_rows
from benchwright.perf._synthetic import parse_synthetic
from benchwright.perf._texts import open_text_maker


def lengths(text: str, count: int = 4000) -> list[int]:
    """The tokens of made prompts, by their words."""
    rows, facts = synthetic_rows(text, None, 1, count)
    found = [len(str(row["prompt"]).split()) for row in rows]
    assert found == [row["input_tokens"] for row in rows]
    assert facts["mean_input_tokens"] == pytest.approx(fmean(found), abs=0.001)
    return found


def test_laws_have_their_means_and_spreads() -> None:
    assert set(lengths("input=7,output=3", 50)) == {7}
    uniform = lengths("input=10-20,output=3")
    assert (min(uniform), max(uniform)) == (10, 20)
    assert fmean(uniform) == pytest.approx(15, abs=4 * sqrt(10 / len(uniform)))
    for law in ("normal", "lognormal"):
        drawn = lengths(f"input=40,output=3,law={law},spread=0.25")
        assert fmean(drawn) == pytest.approx(40, abs=4 * 10 / sqrt(len(drawn)))
        assert pstdev(drawn) == pytest.approx(10, rel=0.1)
    assert max(lengths("input=40,output=3,law=lognormal,spread=1,max=50")) == 50
    zipf = lengths("input=5-30,output=3,law=zipf,alpha=1")
    # Of 26 lengths, the shortest is drawn twice as often as the second, and three times as often as the third.
    assert zipf.count(5) / zipf.count(6) == pytest.approx(2, rel=0.25)
    assert zipf.count(5) / zipf.count(7) == pytest.approx(3, rel=0.35)


def test_prefixes_are_shared_and_the_share_of_a_cache_is_known() -> None:
    how = "input=20,output=4,prefixes=3x8,prefix_share=0.5"
    rows, facts = synthetic_rows(how, None, 2, 400)
    seen: set[str] = set()
    cached = total = 0
    for row in rows:
        words = str(row["prompt"]).split()
        total += len(words)
        if row["prefix"] is not None:
            prefix = " ".join(words[:8])
            cached += 8 if prefix in seen else 0
            seen.add(prefix)
    assert len(seen) == 3
    assert facts["cacheable_share"] == pytest.approx(cached / total, abs=1e-6)
    assert 0.15 < cached / total < 0.25
    assert len({row["prompt"] for row in rows}) == 400
    assert synthetic_rows(how, None, 2, 400)[0] == rows
    assert synthetic_rows(how, None, 3, 400)[0] != rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("input=5", "needs output"),
        ("output=5", "needs input"),
        ("input=5,output", "KEY=VALUE"),
        ("input=5,output=5,imput=6", "Did you mean"),
        ("input=5,output=5,input=6", "input twice"),
        ("input=0,output=5", "from 1 to"),
        ("input=9-5,output=5", "shorter end first"),
        ("input=x,output=5", "512 or 128-1024"),
        ("input=5,output=5,law=poison", "Laws: fixed"),
        ("input=5,output=5,law=uniform", "both ends"),
        ("input=5,output=5-9,output_law=fixed", "one number"),
        ("input=5,output=5,spread=0", "above 0"),
        ("input=5,output=5,prefixes=4", "prefixes=4x256"),
        ("input=5,output=5,prefixes=4x5", "no room"),
        ("input=5,output=5,prefix_share=0.5", "needs prefixes"),
        ("input=50,output=5,prefixes=2x5,prefix_share=1.5", "1 at most"),
        ("input=5,output=5,prompts=0", "from 1 to 100,000"),
    ],
)
def test_what_cannot_be_made_is_refused_by_its_key(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_synthetic(text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_test_needs_no_target_and_asks_for_whole_replies(folder: Path) -> None:
    result = perf(synthetic="input=12,output=5,prefixes=2x4", concurrency=[1, 2], requests=6, warmup=1)
    assert (result.name, result.exit_code, result.summary.sent) == ("synthetic", 0, 12)
    requests = read_request_file(result.folder / "requests.parquet")
    assert set(requests["requested_tokens"].to_pylist()) == {5}
    assert len(set(requests["prompt_hash"].to_pylist())) == 13
    kinds = {note.kind for note in result.summary.notes}
    assert {"made_prompts", "approximate_lengths"} <= kinds
    assert result.view.settings.exact_output
    with pytest.raises(UsageError, match="leave qa"):
        perf("qa.csv", synthetic="input=12,output=5")
    with pytest.raises(UsageError, match="no right answers"):
        perf(synthetic="input=12,output=5", score=True)
    with pytest.raises(UsageError, match="nothing to send"):
        perf()


def test_with_a_tokenizer_every_prompt_has_exactly_its_tokens(folder: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    pieces = {"[UNK]": 0} | {letter: place + 1 for place, letter in enumerate("abcdefghijklmnopqrstuvwxyz")}
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(pieces, unk_token="[UNK]", continuing_subword_prefix="")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    maker = open_text_maker(str(folder / "tokenizer.json"), 0)
    rows, _ = synthetic_rows("input=30-60,output=5,prefixes=2x11", str(folder / "tokenizer.json"), 0, 20)
    assert [maker.count(str(row["prompt"])) for row in rows] == [row["input_tokens"] for row in rows]
    result = perf(
        synthetic="input=30,output=5", tokenizer=str(folder / "tokenizer.json"), requests=2, concurrency=1
    )
    assert result.view.settings.prompt_lengths == "exact"
