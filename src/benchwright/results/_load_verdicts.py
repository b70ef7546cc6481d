"""The verdicts of a load test: whether its figures can be trusted, and the answer of a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from benchwright.core import p_text, percent
from benchwright.perf import (
    MAX_ERROR_SHARE,
    LoadSettings,
    LoadSummary,
    SearchResult,
    StageSummary,
    delay_words,
)
from benchwright.results._figures import duration, plural
from benchwright.results._load import (
    LoadView,
    limit_text,
    none_within_limits,
    outcomes_of,
    stages_of_interest,
)


def verdicts(view: LoadView) -> list[tuple[str, str]]:
    """The verdicts, each as `ok`, `warn` or `bad` and a sentence."""
    summary = view.summary
    found: list[tuple[str, str]] = []
    if view.stopped_because:
        found.append(("bad" if view.run.status == "failed" else "warn", view.stopped_because))
    if summary.search is not None:
        found.append(_of_search(view, summary.search))
    found.append(_of_requests(view))
    if view.run.demo and not view.stopped_because and all(map(_ok_or_not_judged, summary.stages)):
        pass  # a note says that these figures don't describe a server, so there is nothing to judge
    else:
        found += _of_clients(summary, open_loop=view.settings.open_loop)
        found += _of_steadiness(summary)
    if view.settings.slo and summary.search is None:
        found.append(_of_limits(view))
    if view.settings.score:
        found += _of_minimum(view)
        found += _of_quality(summary)
    return found


def _ok_or_not_judged(stage: StageSummary) -> bool:
    return (
        stage.health is not None
        and stage.health["verdict"] == "not_judged"
        and stage.steady.verdict in ("unclear", "absent", "steady")
    )


def low_scores(summary: LoadSummary, settings: LoadSettings) -> list[tuple[str, str, float | None]]:
    """The levels whose headline score is below `--min-score`: level, score, mean; None if nothing was scored there."""
    if settings.min_score is None:
        return []
    name = next((name for stage in summary.stages for name in stage.scores), "score")
    found: list[tuple[str, str, float | None]] = []
    for stage in summary.stages:
        score = stage.scores.get(name)
        if score is None or score.mean < settings.min_score:
            found.append((stage.label, name, None if score is None else score.mean))
    return found


def _of_minimum(view: LoadView) -> list[tuple[str, str]]:
    """Whether every level reached `--min-score`."""
    least = view.settings.min_score
    if least is None:
        return []
    low = low_scores(view.summary, view.settings)
    if not low:
        return [("ok", f"the score reached {least:g} at every level")]
    where = ", ".join(
        f"{'no score' if mean is None else f'{name} {mean:.4f}'} at {label}" for label, name, mean in low
    )
    return [("bad", f"quality is below the minimum of {least:g}: {where}")]


def _of_quality(summary: LoadSummary) -> list[tuple[str, str]]:
    """Whether replies got worse when the server was busy, and how many could not be scored."""
    found = []
    for place, each in enumerate(summary.quality):
        change = each.change
        # The headline score is always reported; the others only if they are significant among this many tests.
        if place and not (change.significant and change.p_value * len(summary.quality) < 0.05):
            continue
        ends = "" if change.ci95 is None else f", 95 % {change.ci95[0]:+.4f} … {change.ci95[1]:+.4f}"
        figures = (
            f"{change.a:.4f} at {each.lowest} and {change.b:.4f} at {each.highest} over {change.rows:,} common rows "
            f"(difference {change.difference:+.4f}{ends}, {p_text(change.p_value, named=True)})"
        )
        if change.significant:
            state, words = ("bad", "falls") if change.worse else ("ok", "rises")
            found.append((state, f"{change.name} {words} under load: {figures}"))
        else:
            found.append(("ok", f"{change.name} does not change with the load beyond chance: {figures}"))
    completed = sum(stage.counts.completed for stage in summary.stages)
    scored = sum(max((each.n for each in stage.scores.values()), default=0) for stage in summary.stages)
    if scored < completed:
        first = next((stage.score_error for stage in summary.stages if stage.score_error), "")
        why = f": {first}" if first else ""
        found.append(("warn", f"{completed - scored:,} of {completed:,} replies have no score{why}"))
    return found


def _of_search(view: LoadView, search: SearchResult) -> tuple[str, str]:
    """The answer, and how certain it is."""
    state = "warn" if search.status in ("unfinished", "too_few") else "bad"
    words = search_words(search, view.settings)
    if search.status == "client_limit" and not any(map(_says_cure, view.summary.stages)):
        words += ": give it more processes (--workers) or a machine of its own"
    return "ok" if search.answered else state, words


def _says_cure(stage: StageSummary) -> bool:
    """Whether the verdict on the client names its cause and cure."""
    return stage.health is not None and stage.health["verdict"] in ("limit", "strained")


def search_words(search: SearchResult, settings: LoadSettings) -> str:
    """What a search found, in sentences."""
    share = settings.slo_share
    rule = f"{limits_words(settings)} in {f'{100 * share:g} % of' if share < 1 else 'all counted'} requests"
    failed = next(
        (probe for probe in reversed(search.probes) if not probe.passed and not probe.client_limit), None
    )
    parts = []
    if search.status == "not_met":
        why = "" if failed is None else failed.why
        level = "" if search.failing_level is None else f" ({settings.label_of(search.failing_level)})"
        parts.append(f"the server does not meet {rule} even at the lowest level{level}: {why}")
    elif search.level is None:
        parts.append(f"no level is known to meet {rule}")
        parts.append(_what_held(search, settings))
        if search.failing_level is not None:
            level = settings.label_of(search.failing_level)
            why = next(
                (
                    f": {probe.why}"
                    for probe in reversed(search.probes)
                    if probe.level == search.failing_level and not probe.passed
                ),
                "",
            )
            parts.append(f"{search.failed[0]} of {plural(search.failed[1], 'probe')} failed at {level}{why}")
    elif search.requests < search.needed and search.passed[1]:
        cure = f" ({_more_requests(settings)})" if search.status == "too_few" else ""
        parts.append(
            f"{settings.label_of(search.level)} passed, but {plural(search.requests, 'counted request')} cannot show "
            f"{rule}: {search.needed:,} are needed{cure}"
        )
        parts.append(_passed_there(search))
    else:
        least = (
            ""
            if search.status == "found"
            else "at least "
            if search.passed[1]
            else "estimated to be at least "
        )
        parts.append(f"the largest load that meets {rule} is {least}{settings.label_of(search.level)}")
        if search.status == "at_least":
            flag = "--rate" if settings.open_loop else "--concurrency"
            parts[-1] += f", the highest level allowed ({flag} LOWEST,HIGHEST)"
        parts.append(_passed_there(search))
    if search.failing_level is not None and search.level is not None:
        level = settings.label_of(search.failing_level)
        parts.append(f"{search.failed[0]} of {search.failed[1]} failed at {level}")
    if search.ci95 is not None and search.sure is not None:
        low, high = (f"{end:.3g}" for end in search.ci95)
        parts.append(
            f"the largest load lies between {low} and {high} (95 % interval; the answer is close to its lower end)"
        )
    if search.status == "client_limit":
        last = search.probes[-1]
        why = f" (at {settings.label_of(last.level)}, {last.why})" if last.why else ""
        parts.append(f"the client was the limit in two probes in a row{why}")
    if search.status == "unfinished":
        parts.append("the search ended before the boundary was found")
    if search.status in ("unfinished", "too_few", "bounded"):
        parts += _what_ended(search, settings)
    return "; ".join(parts)


def _what_held(search: SearchResult, settings: LoadSettings) -> str:
    """Where probes passed, though this is no answer."""
    if search.held is None:
        return "no probe passed"
    probes = f"{search.passed[0]} of {plural(search.passed[1], 'probe')}, {plural(search.requests, 'counted request')}"
    return f"probes passed up to {settings.label_of(search.held)} ({probes}: too few to be sure)"


def _passed_there(search: SearchResult) -> str:
    if not search.passed[1]:
        return "no probe had exactly this load"
    return f"{search.passed[0]} of {plural(search.passed[1], 'probe')} passed there"


def _more_requests(settings: LoadSettings) -> str:
    if settings.requests is None or settings.search is None:
        return "longer probes with --seconds, or a lower --slo-share"
    most = SearchResult.requests_of_probe(settings.search.share, settings.search.repeats)
    return f"--requests {most} or more, or a lower --slo-share"


def _what_ended(search: SearchResult, settings: LoadSettings) -> list[str]:
    """The limit that ended a search, and what to raise."""
    if settings.search is None or search.next_level is None:
        return []
    level = settings.label_of(search.next_level)
    closer = "for a narrower interval, allow more" if search.status == "bounded" else "allow more"
    if search.ended_by == "max_probes":
        return [
            f"--max-probes {settings.search.most_probes} ended it before the next probe, at {level}: {closer}"
        ]
    if search.ended_by == "search_seconds":
        takes = "" if search.next_seconds is None else f", which takes {duration(search.next_seconds)}"
        return [
            f"--search-seconds {settings.search.seconds:g} left no time for the next probe, at {level}{takes}: {closer}"
        ]
    return []


def limits_words(settings: LoadSettings) -> str:
    """
    >>> limits_words(LoadSettings(slo=(("ttft", 0.2), ("e2e", 2.0))))
    'ttft ≤ 200 ms, e2e ≤ 2 s'
    """
    return ", ".join(f"{name} ≤ {limit_text(seconds)}" for name, seconds in settings.slo)


def _of_requests(view: LoadView) -> tuple[str, str]:
    summary, allowed = view.summary, view.settings.max_error_share
    if not summary.sent:
        return "bad", "no request was sent"
    if not summary.failed:
        return (
            "ok",
            "the only request completed" if summary.sent == 1 else f"all {summary.sent:,} requests completed",
        )
    share = f"{summary.failed:,} of {summary.sent:,} requests failed ({100 * summary.failed / summary.sent:.1f} %)"
    classes: Counter[str] = Counter()
    for stage in summary.stages:
        classes.update({each.outcome: each.count for each in stage.errors})
    share += "".join(
        f"{', ' if place else ': '}{count:,} {outcome}"
        for place, (outcome, count) in enumerate(classes.most_common())
    )
    most = MAX_ERROR_SHARE if allowed is None else allowed
    if summary.failed <= most * summary.sent or summary.search is not None:
        return "warn", share
    return "bad", f"{share}; not comparable with other tests"


_NEVER_THERE = frozenset({"connect", "not_sent", "cancelled"})
"""Outcomes of requests that tell nothing about the client, because no server saw them."""


def _of_clients(summary: LoadSummary, *, open_loop: bool) -> list[tuple[str, str]]:
    """Whether the client kept up. Probes in which it did not are repeated and do not count, unless they ended the search."""
    search, stages = summary.search, summary.stages
    if search is None or search.status == "client_limit":
        return [_of_client(stages, open_loop=open_loop)]
    lost = {probe.stage for probe in search.probes if probe.client_limit}
    found = []
    if counted := [stage for stage in stages if stage.stage not in lost]:
        state, words = _of_client(counted, open_loop=open_loop)
        # Its delays were too short to change the result of a probe that counts.
        found.append(
            ("warn", f"{words}. Its probes count: the client cannot have decided them")
            if state == "bad"
            else (state, words)
        )
    if lost:
        hit = [stage for stage in stages if stage.stage in lost]
        verb = "does" if len(lost) == 1 else "do"
        found.append(
            (
                "warn",
                f"{plural(len(lost), 'probe')}{_where(hit, stages)} {verb} not count: the client was the limit",
            )
        )
    return found


def _of_client(stages: Sequence[StageSummary], *, open_loop: bool) -> tuple[str, str]:
    if outcomes_of(stages).keys() <= _NEVER_THERE:
        return "warn", "the client cannot be judged: no request was connected"
    known = [stage for stage in stages if stage.health is not None]
    for verdict, state, words in (
        ("limit", "bad", "the client was the limit"),
        ("strained", "warn", "the client was under strain"),
    ):
        hit = [stage for stage in known if stage.health is not None and stage.health["verdict"] == verdict]
        if hit:
            reasons = (hit[0].health or {})["reasons"]
            where = _where(hit, stages)
            return state, f"{words}{where}: {'; '.join(reasons)}"
    if not known:
        return "warn", "the client's health is not on record: no stage ended"
    paused = [stage for stage in known if any(note.kind == "idle_gaps" for note in stage.notes)]
    if paused:
        return "warn", f"the client paused{_where(paused, stages)} although requests were due: see the note"
    judged = [stage for stage in known if (stage.health or {})["verdict"] == "ok"]
    others = [stage for stage in known if stage not in judged]
    if not judged:
        return "warn", f"the client was not judged: {'; '.join((others[0].health or {})['reasons'])}"
    lag = max((stage.health or {})["event_loop_lag_p99_ms"] for stage in judged)
    late = max((stage.health or {})["send_lateness_p99_ms"] for stage in judged) / 1000 if open_loop else None
    words = delay_words(lag / 1000, late)
    if others:
        words += f"; not judged{_where(others, stages)}"
    return "ok", f"the client kept up: {words}"


def _where(hit: Sequence[StageSummary], stages: Sequence[StageSummary]) -> str:
    if len(stages) == 1:
        return ""
    if len(hit) == len(stages):
        return " at every level"
    return f" at {', '.join(dict.fromkeys(stage.label for stage in hit))}"


def _of_steadiness(summary: LoadSummary) -> list[tuple[str, str]]:
    """Whether the server was steady; in a search, at the load found."""
    stages = summary.stages if summary.search is None else stages_of_interest(summary)[:1]
    found = []
    for verdict, state, words in (
        ("not_steady", "warn", "the server was not steady"),
        ("unclear", "warn", "cannot tell whether the server was in a steady state"),
        ("absent", "warn", "there is no steady window"),
    ):
        hit = [stage for stage in stages if stage.steady.verdict == verdict]
        if hit:
            where = _where(hit, stages)
            found.append((state, f"{words}{where}: {'; '.join(hit[0].steady.reasons)}"))
    if found:
        return found
    others = [stage for stage in summary.stages if stage.steady.verdict != "steady"]
    if not others:
        return [("ok", "the server was steady")]
    words = f"the server was steady at {stages[0].label}, but not known to be so in {len(others)} of {plural(len(summary.stages), 'probe')}"
    return [("warn" if 2 * len(others) > len(summary.stages) else "ok", words)]


def _of_limits(view: LoadView) -> tuple[str, str]:
    limits = limits_words(view.settings)
    if all(stage.slo is None for stage in view.summary.stages):
        return "warn", f"limits ({limits}) could not be judged"
    best, missed = LoadView.best_stage(view.summary), none_within_limits(view.summary)
    shares = [(stage.slo.met / max(1, stage.slo.sent), stage) for stage in view.summary.stages if stage.slo]
    if missed:
        share, stage = max(shares, key=lambda each: each[0])
    else:
        share, stage = next(each for each in shares if each[1] is best)
    state = "ok" if not missed else "warn" if share >= 0.9 else "bad"
    met = f"{100 * share:.1f} % of requests met all limits"
    if len(view.summary.stages) == 1:
        return state, f"{met}: {limits}"
    if missed:
        needed = f"{100 * view.settings.slo_share:g} %"
        return (
            state,
            f"no level met all limits in {needed} of requests; the closest was {stage.label} with {100 * share:.1f} %: {limits}",
        )
    return state, f"{met} at the best level, {stage.label}: {limits}"


def server_rows(stage: StageSummary) -> list[tuple[str, str]]:
    """The server's own counts as titles and values; unknown ones are left out. Its gauges are read once a second, so the true peak
    may be higher."""
    found = stage.server
    if found is None or found.absent is not None:
        return []
    spec = found.spec_decode
    rows: list[tuple[str, str | None]] = []
    if spec is not None:
        counted = (
            ""
            if spec.drafts is None
            else f"   {spec.drafts:,} drafts, {spec.accepted_tokens:,} of {spec.draft_tokens:,} tokens"
        )
        rows += [
            ("draft tokens accepted", None if spec.acceptance_rate is None else f"{100 * spec.acceptance_rate:.1f} %{counted}"),
            ("acceptance length", None if spec.acceptance_length is None else f"{spec.acceptance_length:.2f} tokens per step"),
            ("accepted by position", ", ".join(percent(share) for share in spec.per_position) or None),
        ]  # fmt: skip
    if found.prefix_hit_rate is not None:
        tokens = f"{found.prefix_hits:,} of {found.prefix_queries:,} tokens"
        rows.append(("prefix cache hits", f"{100 * found.prefix_hit_rate:.1f} %   {tokens}"))
    for title, value, share in (
        ("KV cache in use, sampled peak", found.kv_cache_peak, True),
        ("running in the server, sampled peak", found.running_peak, False),
        ("waiting in the server, sampled peak", found.waiting_peak, False),
        ("preemptions", found.preemptions, False),
    ):
        if value is not None:
            rows.append((title, percent(value, 1) if share else f"{value:,}"))
    return [(title, text) for title, text in rows if text is not None]
