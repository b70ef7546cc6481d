"""Text of so many tokens: the same for the same key, exact where a tokenizer counts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from benchwright.core import UsageError
from benchwright.perf._texts import open_text_maker


@pytest.fixture(scope="module")
def by_word(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer that knows the words of our texts, but for a few, which it takes letter by letter."""
    letters = {chr(code): code for code in range(32, 127)}
    words = {
        word: 200 + number for number, word in enumerate(open_text_maker(None, 0).text(400, "w").split())
    }
    for split in list(words)[:20]:
        del words[split]
    model = models.WordPiece(
        {**letters, **words, "[UNK]": 199}, unk_token="[UNK]", continuing_subword_prefix=""
    )
    return _saved(Tokenizer(model), tmp_path_factory.mktemp("words"))


@pytest.fixture(scope="module")
def by_letter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bytes and nothing else: no word is one token."""
    tokenizer = Tokenizer(models.BPE(vocab={chr(code): code for code in range(32, 127)}, merges=[]))
    return _saved(tokenizer, tmp_path_factory.mktemp("letters"))


def _saved(tokenizer: Tokenizer, folder: Path) -> Path:
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(64)  # as models' files have it; a count must not stop there
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_text_depends_on_seed_and_key_alone() -> None:
    maker = open_text_maker(None, 7)
    assert not maker.exact
    assert maker.count("one two") is None
    assert maker.text(40, "a") == open_text_maker(None, 7).text(40, "a")
    assert maker.text(40, "a") != maker.text(40, "b")
    assert maker.text(40, "a") != open_text_maker(None, 8).text(40, "a")
    assert maker.text(40, "a").startswith(maker.text(13, "a"))
    assert maker.text(0, "a") == ""


def test_a_tokenizer_makes_lengths_exact_and_blocks_add_up(by_word: Path) -> None:
    maker = open_text_maker(str(by_word), 1)
    assert maker.exact
    texts = [maker.text(tokens, str(tokens)) for tokens in (1, 2, 100, 512)]
    assert [maker.count(text) for text in texts] == [1, 2, 100, 512]
    assert maker.count(" ".join(texts)) == 615
    assert open_text_maker(str(by_word / "tokenizer.json"), 1).text(100, "100") == texts[2]


def test_words_of_several_tokens_are_cut(by_letter: Path) -> None:
    maker = open_text_maker(str(by_letter), 1)
    assert [maker.count(maker.text(tokens, "k")) for tokens in (1, 5, 6, 7, 300)] == [1, 5, 6, 7, 300]


def test_a_tokenizer_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"nowhere: no such file"):
        open_text_maker(str(tmp_path / "nowhere"), 0)
    bad = tmp_path / "tokenizer.json"
    bad.write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"tokenizer.json: not a tokenizer.json"):
        open_text_maker(str(tmp_path), 0)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UsageError, match=r"pip install 'benchwright\[tokenizer\]'"):
        open_text_maker(str(tmp_path), 0)
    bad.rename(tmp_path / "tokenizer.model")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UsageError, match=r"has no tokenizer\.json"):
        open_text_maker(str(tmp_path), 0)
