"""Answers that depend on a case: `A if it is cold, B otherwise` gives none. All readers of answers ask here.

A condition that only explains leaves an answer as it is: `The answer is B, since if it were A, …`. What counts are two values that
differ, of which each is tied to a case of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cache
from itertools import pairwise
from re import IGNORECASE, Pattern, compile as compile_pattern

from benchwright.scorers._replies import Span, listed
from benchwright.scorers._triggers import may_match

_IF = listed(
    "if when whenever provided provided_that providing as_long_as assuming in_case only_if given_that where"
    " wenn falls sofern solange vorausgesetzt si s'il s'ils lorsque quand à_condition_que pourvu_que tant_que"
    " cuando siempre_que se quando purché desde_que caso als mits wanneer indien zolang"
)
_UNLESS = listed(
    "unless except_when except_if es_sei_denn außer_wenn sauf_si sauf_quand à_moins_que a_menos_que salvo_que salvo_si salvo_se excepto_si"
    " exceto_se a_meno_che tranne_se tranne_quando tenzij behalve_als"
)
_ELSE = listed(
    "otherwise else or_else if_not if_it_isn't in_all_other_cases in_other_cases in_any_other_case in_every_other_case"
    " sonst ansonsten andernfalls falls_nicht wenn_nicht sinon autrement dans_le_cas_contraire si_no de_lo_contrario en_caso_contrario"
    " altrimenti in_caso_contrario se_no caso_contrário senão se_não do_contrário anders zo_niet in_het_andere_geval"
)
_THEN = listed(
    "then in_which_case in_that_case dann in_dem_fall in_diesem_fall alors auquel_cas dans_ce_cas entonces en_cuyo_caso en_ese_caso allora nel_qual_caso in_tal_caso"
    " in_quel_caso então caso_em_que nesse_caso dan in_dat_geval"
)


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True)).replace(" ", r"\s")


_CONDITION = (
    rf"(?!if\s(?:(?:i|we)\s(?:had|have)\sto|you\s(?:ask|think|look|like)|i'm\s|i\sam\s))(?:{_any(_IF)})"
)
"""Not `if I had to choose`, which supposes nothing."""
TIES = rf"(?<!\w)(?:{_any((*_IF, *_UNLESS, *_ELSE))})(?!\w)"
_REACH = 200
"""Characters before a value that may tie it to a case, and between two values of one decision."""
_BETWEEN = 6
"""Values of one decision, with those of its conditions."""
_VALUES = 200
"""Values of a text, from its end, that are looked at."""


def depends(text: str, values: Iterable[Span[Hashable]], key: Hashable, at: int = -1) -> bool:
    """Whether a text gives a value only for one of several cases.

    Args:
        text: the text, in any case.
        values: the values it names, in order.
        key: the one that was read.
        at: its place; -1: it is not known, so that it counts where it is tied to no case.

    >>> text = "5 if it is cold, 6 otherwise"
    >>> depends(text, [Span(0, 1, 5), Span(17, 18, 6)], 5)
    True
    """
    given = [*values][-_VALUES:]
    if len({one.value for one in given}) < 2:
        return False
    roles = [_role(text, before.end, one) for before, one in pairwise([Span(0, 0, None), *given])]
    tied = [
        (one.start, _sentence_end(text, other.end))
        for number, one in enumerate(given)
        if roles[number] in ("if", "unless")
        for step, other in enumerate(given[number + 1 : number + 1 + _BETWEEN], number + 1)
        if one.value != other.value and key in (one.value, other.value) and other.start - one.end <= _REACH
        and roles[step] in (("then", "else", "if") if roles[number] == "unless" else ("if", "else"))
    ]  # fmt: skip
    if at >= 0:
        return any(start <= at < end for start, end in tied)
    return bool(tied) and all(
        any(start <= one.start < end for start, end in tied) for one in given if one.value == key
    )


def may_depend(lower: str) -> bool:
    """Whether a text in lower case contains a word that ties something to a case; most contain none."""
    return may_match(TIES, lower)


def _role(text: str, begin: int, one: Span[Hashable]) -> str:
    """The case that a value is tied to: by a condition, as an exception, for all other cases, or none."""
    after = _after().match(text, one.end)
    if after is not None:
        return after.lastgroup or ""
    before = _before().search(text, max(begin, one.start - _REACH), one.start)
    return (before.lastgroup or "") if before is not None else ""


def _sentence_end(text: str, at: int) -> int:
    stops = (text.find(mark, at) for mark in ".!?;\n")
    return min((stop for stop in stops if stop >= 0), default=len(text))


@cache
def _after() -> Pattern[str]:
    """After a value, and perhaps its unit or its text: what ties it to a case."""
    return compile_pattern(
        rf"[)\]\"'*]{{0,4}}(?:\s[^\W\d_]+){{0,2}}?(?:\s?\([^()\n]{{1,60}}\))?[*]{{0,2}}\s?[,–—]?\s?\(?(?<!\w)(?:"
        rf"(?P<else>{_any(_ELSE)})(?=\s?(?:[.;!)\n]|$))|(?P<unless>{_any(_UNLESS)})|(?:only\s|nur\s|seulement\s|solo\s|só\s|alleen\s)?(?P<if>{_CONDITION}))(?!\w)",
        IGNORECASE,
    )


@cache
def _before() -> Pattern[str]:
    """Before a value: what ties it to a case."""
    lead = r"[,:]?\s[^.,;:!?\n]{0,40}?[*(\[\"'$€£]{0,4}"
    return compile_pattern(
        rf"(?<!\w)(?:(?P<else>{_any(_ELSE)}){lead}|(?P<then>{_any(_THEN)}){lead}"
        rf"|(?P<if>{_CONDITION})\s[^.;:!?\n]{{1,120}}?(?:[,:]|\s(?:then|dann|alors|entonces|allora|então|dan)){lead[5:]})$",
        IGNORECASE,
    )
