"""Makes prompt text of a given number of tokens from a seed: exact with a tokenizer, approximate without one.

The same seed and key always give the same text, and a shorter text is the beginning of a longer one. So the prefix cache of
a server sees the same prefix for the same key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from benchwright.core import UsageError, expand_home

_TEXT = """
about above across action active after again against agree almost along always among animal another answer appear apple area
around arrive article autumn balance bank basic beach bean because become before behind believe below between bird black blue board
book bottle bottom bread break bridge bright bring brother brown build business busy button buy cake camp capital carry castle
center change cheap check child choose circle city class clean clear climb clock close cloud coast coffee cold color common
company complete cook copper corner cost cotton count country course cover cross dance danger dark daughter day deep degree
describe desert design desk different dinner direct doctor double down dream drink drive early earth east easy edge eight empty
engine enough enter evening event every exact example expect express face factory fair family famous farm father field fight figure
final find finger finish fire first fish flower follow food foot forest form forward four free fresh friend fruit full garden
gather general gentle glass gold good grand grass great green ground group grow guess guide half hand happy heart heavy help
hill history hold home honest horse hospital hotel hour house human hundred ice idea important increase industry inside iron island
join journey kitchen known lake land language large late laugh leader learn leave left letter level light listen little local
long lunch machine main market matter meeting member memory message metal middle minute modern moment money month morning mother
mountain move music name narrow nation natural near never night nine north note number object ocean office often open orange
order other paper park part past pattern people perfect person picture place plan plant point popular power present press price
problem produce proper public quarter question quick quiet quite rain raise reach ready reason record region remember report rest
result return rich right river road rock room round safe sample school science season second seven shape share short silver simple
sister six small smile snow social sound south space special spring square stand star station stone story street strong student
sugar summer supply surface system table teacher ten test think third thousand three time today together tomorrow tool touch
toward town trade train travel tree trouble true turn twelve twenty uncle under unit valley value very village visit voice wait
walk wall warm watch water weather week west wheel white whole wide wind window winter wish wonder wood work world write yellow
young
"""
_WORDS = _TEXT.split()

_FEWEST = 16
"""If fewer words are single tokens, the tokenizer counts as one that splits words."""


class TextMaker:
    """Makes text. `open_text_maker` opens one."""

    def __init__(self, seed: int, counter: Callable[[str], int] | None) -> None:
        self._seed, self._counter = seed, counter
        self._words: Sequence[str] = _WORDS
        self._whole = True  # whether each word is one token in any context
        if counter is not None:
            single = [word for word in _WORDS if counter(word) == 1 and counter(f"{word} {word}") == 2]
            self._whole = len(single) >= _FEWEST
            self._words = single if self._whole else _WORDS

    @property
    def exact(self) -> bool:
        """Whether texts have exactly the requested number of tokens, or only approximately."""
        return self._counter is not None

    def count(self, text: str) -> int | None:
        """The tokens of any text; None without a tokenizer."""
        return None if self._counter is None else self._counter(text)

    def text(self, tokens: int, key: str) -> str:
        """Make a text of this many tokens from common English words; the same key gives the same text. Raises UsageError if the
        tokenizer makes that impossible."""
        chosen = Random(f"{self._seed}/{key}").choices(self._words, k=max(0, tokens))
        text = " ".join(chosen)
        if self._counter is None or (self._whole and self._counter(text) == tokens):
            return text
        return self._cut(text, tokens)

    def fitted(self, text: str, tokens: int, key: str) -> str:
        """The text cut or continued to this many tokens in total. Without a tokenizer it stays unchanged."""
        missing = 0 if self._counter is None else tokens - self._counter(text)
        if missing > 0:
            text = f"{text} {self.text(missing, key)}"
        if missing == 0 or self.count(text) == tokens:
            return text
        return self._cut(text, tokens)

    def _cut(self, text: str, tokens: int) -> str:
        """The longest beginning with this many tokens; words of several tokens may be cut inside."""
        assert self._counter is not None
        low, high = 0, len(text)
        while low < high:  # the count grows with the length, except around the ends of words
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._counter(text[:middle]) <= tokens else (low, middle - 1)
        for end in (*range(low, max(-1, low - 64), -1), *range(low + 1, min(len(text), low + 64) + 1)):
            if self._counter(text[:end]) == tokens:
                return text[:end]
        raise UsageError(f"--tokenizer makes no text of {tokens} tokens out of English words; leave it out")


def open_text_maker(tokenizer: str | None, seed: int) -> TextMaker:
    """Open a text maker that counts with a tokenizer: a `tokenizer.json`, or the folder of a model with one.

    Raises UsageError if the tokenizer cannot be read, or its library is not installed.
    """
    return TextMaker(seed, None if tokenizer is None else _counter(expand_home(tokenizer)))


def _counter(path: Path) -> Callable[[str], int]:
    if not path.exists():
        raise UsageError(
            f"--tokenizer {path}: no such file or folder; give a tokenizer.json, or a model's folder"
        )
    file = path / "tokenizer.json" if path.is_dir() else path
    return _fast_counter(file) if file.is_file() else _slow_counter(path)


def _fast_counter(file: Path) -> Callable[[str], int]:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise UsageError(
            f"--tokenizer {file}: reading it needs one more package: pip install 'benchwright[tokenizer]'"
        ) from None
    try:
        opened: Any = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises Exception itself
        raise UsageError(f"--tokenizer {file}: not a tokenizer.json: {error}") from None
    opened.no_truncation()
    opened.no_padding()
    return lambda text: len(opened.encode(text, add_special_tokens=False).ids)


def _slow_counter(folder: Path) -> Callable[[str], int]:
    """A counter for folders without a tokenizer.json, by the transformers library, which runs none of their code."""
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise UsageError(
            f"--tokenizer {folder}: has no tokenizer.json; other files need the transformers library: pip install transformers"
        ) from None
    try:
        opened: Any = AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # a file of that folder may cause any error
        raise UsageError(f"--tokenizer {folder}: {error}") from None
    return lambda text: len(opened.encode(text, add_special_tokens=False))
