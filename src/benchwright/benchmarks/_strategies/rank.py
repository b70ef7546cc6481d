"""Rank: the log-likelihood of each candidate continuation; the likeliest is the response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchwright.benchmarks._fields import missing_choices, resolve_choices, target_of
from benchwright.benchmarks._missing_fields import has_column, parameter_without_column
from benchwright.benchmarks._requests import choice_request
from benchwright.benchmarks._strategies.base import (
    Answer,
    Asking,
    RowPlan,
    Strategy,
    size_of,
    tokens_of,
)
from benchwright.core import JsonObject, MissingFieldError, ModelReply, UsageError

if TYPE_CHECKING:
    from benchwright.benchmarks._scan import RowScan, ScannedRow
    from benchwright.benchmarks._spec import BenchmarkSpec
    from benchwright.core import ModelRequest, ModelType, Row

_OPENS = "([{<\"'`/\\-=_*$#@«“‘„"
_FIRST_UNSPACED = "\u2e80"
"""From here on come East Asian scripts, which have no spaces between words."""


class Rank(Strategy):
    """The model's most probable candidate is its answer."""

    name = "choices"

    @classmethod
    def check(cls, spec: BenchmarkSpec, model_type: ModelType | None) -> None:
        if spec.candidates is not None:
            return
        if spec.traits.ranks_with is not None:
            raise UsageError(
                f"completions_logprob ranks choices, and {spec.name} asks for a reply (its method is gen); use "
                f"--model-type chat or completions{spec.traits.ranks_with}"
            )
        if spec.choices is None and spec.choices_field is None:
            raise UsageError(
                f"completions_logprob ranks choices, and {spec.where} ({spec.name!r}) has none; add choices= or "
                f"choices_field= to @benchmark, or use --model-type chat"
            )

    def plan(self, row: Row) -> RowPlan:
        """One request for each candidate."""
        from benchwright.scorers import reread_target

        prompt, choices = self._build(row), self._choices(row)
        chars = size_of(prompt.flat) * len(choices) + sum(map(size_of, choices))
        reread = (
            self._spec.candidates is None
            and reread_target(target_of(self._spec, row), choices) is not None
        )  # fmt: skip
        return RowPlan(prompt, len(choices), chars, choices, choices, reread=reread)

    def requests(self, row: Row, repeat: int = 0) -> list[ModelRequest]:
        """One request for each candidate, with the prompt and the candidate to echo."""
        self._checked(row)
        context = self._build(row).flat
        return [self._request(context, choice, repeat) for choice in self._choices(row)]

    async def answer(self, row: Row, repeat: int, asking: Asking) -> Answer:
        """The likeliest candidate. All are requested at once."""
        import asyncio  # not for `check`

        try:
            self._checked(row)
            context, choices = self._build(row).flat, self._choices(row)
        except MissingFieldError as error:
            return Answer(None, "", row, skipped=str(error))
        replies = await asyncio.gather(
            *(
                asking.ask(self._request(context, choice, repeat), f"c{number:03d}")
                for number, choice in enumerate(choices)
            )
        )
        for reply in replies:
            if reply.failure is not None:  # ranking the rest would answer a different question
                return Answer(reply, "", row)
        logprobs: list[float] = []
        greedy: list[bool] = []
        for choice, reply in zip(choices, replies, strict=True):
            found = asking.likelihood(reply, context, choice)
            if isinstance(found, ModelReply):
                return Answer(found, "", row)
            logprobs.append(found[0])
            greedy.append(found[1])
        best = logprobs.index(max(logprobs))
        ranking = _ranking(choices, logprobs, greedy)
        extra = {name.removeprefix("_"): value for name, value in ranking.items()}
        return Answer(replies[best], choices[best], {**row, **ranking}, extra=extra, usage=tokens_of(replies))

    def gold(self, scanned: ScannedRow, target: Any) -> Iterator[Answer]:
        """Each candidate as the likeliest in turn: at least one must score as right."""
        for best, choice in enumerate(scanned.choices):
            yield Answer(None, choice, row_with_best(scanned, best))

    def missing_fields(self, columns: Sequence[str], missing: Mapping[str, int]) -> Iterator[str]:
        """Fields that the prompt reads, and the column with the candidates."""
        yield from super().missing_fields(columns, missing)
        field = self._spec.choices_field
        if field is not None and self._spec.choices is None and not has_column(field, columns):
            yield parameter_without_column(self._spec, "choices_field", columns)

    def doubts(self, scan: RowScan, source: str) -> Iterator[str]:
        """Candidates that run into the prompt, and targets that the scorer mistakes for another candidate."""
        yield from _glued_choices(scan, source)
        if reread := reread_targets(self._spec, scan):
            yield reread

    def _choices(self, row: Row) -> tuple[str, ...]:
        choices = resolve_choices(self._spec, row)
        if choices is None:
            raise missing_choices(self._spec, row)
        return tuple(choices)

    def _request(self, context: str, choice: str, repeat: int) -> ModelRequest:
        generation = self._generation
        return choice_request(
            context,
            choice,
            generation.model,
            max_tokens=self._echo_tokens,
            repeat=repeat,
            extra_body=generation.extra_body,
        )


def row_with_best(scanned: ScannedRow, best: int) -> dict[str, Any]:
    """A row as a scorer sees it if one candidate is by far the likeliest."""
    wins = [at == best for at in range(len(scanned.choices))]
    logprobs = [0.0 if won else -1000.0 for won in wins]
    return {**scanned.row, **_ranking(scanned.choices, logprobs, wins)}


def reread_targets(spec: BenchmarkSpec, scan: RowScan) -> str | None:
    """A warning, with the cure, that the scorer reads targets as a candidate other than the one whose text they are.

    The first such row shows whether it does, because a user's own scorer may read targets either way.
    """
    from benchwright.scorers import ScorerInput, reread_target

    row = scan.reread_first
    if row is None:
        return None
    target = target_of(spec, row.row)
    meant, read = reread_target(target, row.choices) or (0, 0)

    def scored(best: int) -> object:
        sample = ScorerInput(row.choices[best], target, row_with_best(row, best), config=spec.config)
        scores = spec.score(sample)
        return scores.get("acc") if isinstance(scores, dict) else None

    try:
        if scored(meant) or not scored(read):
            return None
    except Exception:  # reported by the check of gold answers
        return None
    many = scan.reread_targets
    rows = "1 row has a target that is" if many == 1 else f"{many} rows have targets that are"
    return (
        f"{rows} the text of one candidate and the index or letter of another: {target!r} in line {row.line} is read as "
        f"{row.choices[read].strip()!r}. To read targets as texts first, score with multiple_choice_acc_verbatim"
    )


def _ranking(choices: Sequence[str], logprobs: Sequence[float], greedy: Sequence[bool]) -> JsonObject:
    return {
        "_choices": list(choices),
        "_choices_logprobs": list(logprobs),
        "_choices_is_greedy": list(greedy),
    }


def _glued_choices(scan: RowScan, source: str) -> Iterator[str]:
    """Warn if candidates run into the prompt: without a space in between, a different word would be ranked."""
    for scanned in scan.first:
        text = scanned.prompt.flat
        glued = next((choice for choice in scanned.choices if _runs_together(text, choice)), None)
        if glued is not None:
            yield (
                f"choices are appended as written, and {source}:{scanned.line} ends in "
                f'"…{text[-12:]}{glued[:20]}"; begin each choice with a space: " {glued[:20]}"'
            )
            return


def _runs_together(text: str, choice: str) -> bool:
    if not text or not choice or text[-1].isspace() or text[-1] in _OPENS:
        return False
    return choice[0].isalnum() and max(text[-1], choice[0]) < _FIRST_UNSPACED
