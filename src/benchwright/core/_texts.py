"""Text for people: names, suggestions, messages about missing fields, and text that is safe to print in a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from benchwright.core._errors import BenchwrightError
from benchwright.core._json import Row
from benchwright.core._late_patterns import late_pattern
from benchwright.core._secrets import redact

_NOT_ALLOWED = late_pattern(r"[^a-z0-9]+")


def normalise_name(name: str, *, any_script: bool = False) -> str:
    """Lower-case a name, turn everything else than a-z and 0-9 into single `_`, none at the ends, and cut it to 50. `any_script`: letters
    and digits of all scripts stay, for what is named after a file.

    >>> normalise_name("My QA Benchmark!"), normalise_name("Prüfung: 数学"), normalise_name("Prüfung: 数学", any_script=True)
    ('my_qa_benchmark', 'pr_fung', 'prüfung_数学')
    """
    name = name.lower()
    if any_script and not name.isascii():
        from unicodedata import category, normalize  # few names need it

        # Letters with their marks, in one spelling: some file systems take the marks of letters apart.
        name = "".join(each if category(each)[0] in "LMN" else " " for each in normalize("NFC", name))
        return "_".join(name.replace("_", " ").split())[:50]
    return _NOT_ALLOWED.sub("_", name).strip("_")[:50]


_LONGEST_NAME = 120
"""Longest file name in bytes; with an ending such as `_failed.jsonl` it still fits into the 255 of file systems."""


def safe_name(name: str) -> str:
    """Replace characters that a file system may refuse with `_`; letters of any script stay.

    >>> safe_name("org/model:7b"), safe_name(".."), safe_name("CON")
    ('org_model_7b', '_', 'CON_')
    """
    # The patterns are not compiled at import: every command loads this module, and few need them.
    safe = re.sub(r'[\x00-\x1f\x7f<>:"/\\|?*]+|\s+', "_", name.encode("utf-8", "replace").decode()).strip(
        ". "
    )
    while len(safe.encode()) > _LONGEST_NAME:
        safe = safe[:-1]
    if re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", safe):
        safe += "_"
    return safe or "_"


_NEAR, _NEAR_IF_SHORT = 0.7, 0.6
"""Share of letters in the same order from which one name may be a misspelling of the other."""
_SHORT = 4
_AS_NEAR = 0.05
"""How far behind the nearest name another one may be to be suggested too."""


def suggest(name: str, known: Iterable[str]) -> str:
    """` Did you mean …?` with the nearest known names, or else names that contain the given one or are contained in it;
    an empty text if there are none.

    >>> suggest("temprature", ["temperature", "template"]), suggest("workers", ["trackers", "workspace"])
    (" Did you mean 'temperature'?", '')
    """
    from difflib import SequenceMatcher  # only on the way to an error

    wanted = name.lstrip("-").casefold()
    matcher = SequenceMatcher(None, "", wanted)
    rated = []
    for each in dict.fromkeys(known):
        # Leading dashes do not make two options similar, and capitals do not make them different.
        matcher.set_seq1(each.lstrip("-").casefold())
        rated.append((matcher.ratio(), each))
    rated.sort(key=lambda pair: -pair[0])
    least = max(_NEAR_IF_SHORT if len(name) <= _SHORT else _NEAR, rated[0][0] - _AS_NEAR) if rated else 1.0
    near = [each for ratio, each in rated if ratio >= least]
    parts = [
        each
        for _, each in rated
        if min(len(each), len(name)) > 2 and (wanted in each.casefold() or each.casefold() in wanted)
    ]
    found = (near or parts)[:3]
    return " Did you mean " + " or ".join(map(repr, found)) + "?" if found else ""


_HARMLESS = {ord("\n"), ord("\t")}
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_HIDDEN = (*range(127, 160), *_BIDI, 0x2028, 0x2029, 0xFEFF, *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080))
_CONTROLS = {code: f"\\x{code:02x}" for code in range(32) if code not in _HARMLESS} | {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _HIDDEN
}
_IN_JSON = {
    code: f"\\u{code:04x}" if code < 65536 else f"\\udb40\\u{0xDC00 + code - 0xE0000:04x}" for code in _HIDDEN
}


def printable(text: str) -> str:
    r"""Make control characters and direction marks visible, so that a reply cannot move the cursor or reverse a line.

    >>> printable("a\x1b[2Jb\u202e")
    'a\\x1b[2Jb\\u202e'
    """
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def shown(text: str) -> str:
    """Make text from outside safe to print: remove secrets, and make control characters visible."""
    return printable(redact(text))


def percent(share: float, digits: int = 0) -> str:
    """A share as every message, table and page writes it.

    >>> percent(0.95), percent(0.286, 1)
    ('95 %', '28.6 %')
    """
    return f"{100 * share:.{digits}f} %"


def p_text(p_value: float, *, named: bool = False) -> str:
    """A p-value as tables write it: never 0, and no more exact than it is; `named` for a sentence.

    >>> p_text(0.0496), p_text(0.125), p_text(0.00743), p_text(2.4e-7), p_text(0.0), p_text(1.0)
    ('0.0496', '0.125', '0.0074', '< 0.001', '< 0.001', '1')
    >>> p_text(0.0312, named=True), p_text(0.0, named=True)
    ('p = 0.0312', 'p < 0.001')
    """
    if p_value < 0.001:
        return "p < 0.001" if named else "< 0.001"
    text = f"{p_value:.3g}" if p_value >= 0.01 else f"{p_value:.4f}"
    return f"p = {text}" if named else text


def clause(text: object) -> str:
    """Text of another program or an exception as part of a sentence: without its final punctuation mark.

    >>> f"{clause('The port is taken.')}; choose another"
    'The port is taken; choose another'
    """
    return str(text).rstrip().rstrip(".!?;,: ")


def printable_json(text: str) -> str:
    r"""Write the hidden characters of a JSON text as escapes; its value stays the same.

    >>> printable_json('"\u202e"')
    '"\\u202e"'
    """
    return text if text.isascii() and "\x7f" not in text else text.translate(_IN_JSON)


def rfc3339(seconds: float) -> str:
    """A wall-clock time in UTC, with microseconds and `Z`.

    >>> rfc3339(0.5)
    '1970-01-01T00:00:00.500000Z'
    """
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


class MissingFieldError(BenchwrightError):
    """A row lacks a field that a template, or another part of the definition, needs.

    The message is composed only when it is read: a run over a million such rows lists twenty of them.

    >>> print(MissingFieldError("question", {"id": 1, "questoin": "?"}))
    field "question" is missing; the row has: id, questoin. Did you mean "questoin"? Map it with field_mapping={"questoin": "question"}
    """

    exit_code = 2

    def __init__(
        self, field: str, row: Row | None = None, *, reason: str | Callable[[], str] | None = None
    ) -> None:
        super().__init__(field)
        self.field = field
        """The missing field as the template writes it, e.g. `question` or `meta[lang]`."""
        self._row = row
        self._reason = reason

    @property
    def message(self) -> str:
        """What is missing, which fields exist, the nearest name, and the mapping that would cure it."""
        if self._reason is not None:
            return self._reason if isinstance(self._reason, str) else self._reason()
        names = list(self._row or {})
        has = f"the row has: {listed(names)}" if names else "the row has no fields"
        near = nearest(self.field, names)
        if near is None:
            return f'field "{self.field}" is missing; {has}'
        return (
            f'field "{self.field}" is missing; {has}. Did you mean "{near}"? '
            f'Map it with field_mapping={{"{near}": "{self.field}"}}'
        )

    def __str__(self) -> str:
        return self.message


def nearest(name: str, known: Iterable[object]) -> str | None:
    """The known name closest to a mistyped one, if any is close."""
    from difflib import get_close_matches  # only on the way to an error

    names = [str(k) for k in known]
    lowered = {n.lower(): n for n in reversed(names)}
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    return close[0] if close else lowered.get(name.lower())


def listed(names: Iterable[object], limit: int = 12) -> str:
    """Join names with commas and stop after `limit`, so that messages about wide tables stay readable."""
    all_names = [str(name) for name in names]
    first = ", ".join(all_names[:limit])
    return f"{first}, … ({len(all_names)} in all)" if len(all_names) > limit else first


def judge_question_cure(setting: str) -> str:
    """Where to set what a judge is asked, by the parameter of `judge_score`."""
    nocode = {"template": "judge_template", "criteria": "criteria"}.get(setting)
    table = (
        f"write {nocode} in a table [benchmarks.NAME] with an llm_judge (docs/nocode.md), or "
        if nocode
        else ""
    )
    return f"It belongs to the question, not to the judge: {table}call judge_score(sample, {setting}=…) in a benchmark in Python (docs/scorers.md)."
