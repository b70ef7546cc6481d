"""Turns the options of a load into the settings that are recorded with the test."""

from __future__ import annotations

from math import inf
from secrets import token_hex
from typing import cast

from msgspec.structs import replace

from benchwright.config import LoadOptions
from benchwright.core import LoadProfile, UsageError
from benchwright.engine import ChosenModel, RunSettings
from benchwright.perf import (
    LoadSearch,
    LoadSettings,
    TurnMode,
    most_connections,
    next_probe,
    parse_slo,
    parse_think_time,
)


def load_settings(
    options: LoadOptions,
    run: RunSettings,
    *,
    rows: int,
    concurrency: int,
    length_given: bool = True,
    urls: tuple[str, ...] = (),
    converses: bool = False,
) -> LoadSettings:
    """The settings of one test on data with `rows` requests. Raises UsageError for options that contradict each other."""
    usual = None if length_given else run.generation.settings.get("max_tokens")
    profile = profile_of(options)
    levels = _levels(options, profile, concurrency)
    search = None
    if options.find_max_load:
        search = _search(options, profile, levels)
        levels = (search.lowest,)
    else:
        _refuse_of_search(options)
    start, end = (None, None)
    if profile == "ramp":
        start, end = _ramp_ends(levels)
        levels = (end,)
    _refuse_other_units(options, converses)
    requests = options.conversations if converses else options.requests
    seconds = options.seconds
    if requests is None and seconds is None:
        if search is None:
            requests = rows
        else:
            seconds = PROBE_S
    found = LoadSettings(
        profile=profile,
        levels=levels,
        burstiness=options.burstiness or 1.0,
        ramp="exponential" if options.ramp == "exponential" else "linear",
        ramp_start=start,
        ramp_end=end,
        trace_field=options.trace_field or "timestamp" if profile == "trace" else None,
        trace_unit=options.trace_unit or "ms" if profile == "trace" else None,
        trace_start=options.trace_start or 0.0,
        trace_end=options.trace_end,
        tokenizer=options.tokenizer,
        exact_output=bool(options.synthetic) if options.exact_output is None else options.exact_output,
        turn_mode=cast("TurnMode", options.turn_mode or "every") if converses else None,
        think_time=options.think_time,
        burst_size=options.burst_size,
        requests=requests,
        seconds=seconds,
        max_error_share=0.05 if options.max_error_share is None else options.max_error_share,
        stop_error_share=options.stop_error_share,
        warmup=options.warmup or 0,
        cooldown=options.cooldown or 0,
        max_concurrency=options.max_concurrency,
        seed=options.schedule_seed or 0,
        stream=bool(run.generation.settings.get("stream")),
        workers=options.workers or 1,
        cache_bust=token_hex(4) if options.cache_bust else None,
        urls=urls,
        slo=() if options.slo is None else parse_slo(options.slo),
        slo_share=0.99 if options.slo_share is None else options.slo_share,
        search=search,
        score=bool(options.score),
        min_score=options.min_score,
        request_timeout_s=getattr(run.endpoint, "request_timeout_s", 120.0),
        usual_tokens=usual if isinstance(usual, int) else None,
        drain_s=30.0 if options.drain is None else options.drain,
    )
    _refuse_without_a_probe(found)
    return found


def _refuse_without_a_probe(settings: LoadSettings) -> None:
    """Raise UsageError if the time of a search is shorter than its first probe."""
    search = settings.search
    if search is None or settings.requests is not None:
        return
    first = next_probe((), settings)
    if first is not None and first.seconds is not None and first.seconds > search.seconds:
        raise UsageError(
            f"--search-seconds {search.seconds:g} is shorter than the first probe, which sends for {first.seconds:g} s at "
            f"{settings.label_of(first.level)}. Allow more, or shorten the probes with --seconds or --requests"
        )


def for_model(options: LoadOptions, run: RunSettings, model: ChosenModel) -> tuple[LoadOptions, RunSettings]:
    """The options and settings of a test of this model. What its table says holds unless the options say otherwise; what a
    load test cannot do is refused or noted. Replies are streamed unless a setting decides otherwise."""
    options = options.over_model(model.load)
    if model.streams is None:
        run = replace(run, generation=run.generation.but(stream=True))
    notes = [
        f"{name} of the model has no effect: a load test sends each request once" for name in model.of_runs
    ]
    profile, most = profile_of(options), model.max_concurrency
    if most is not None and profile.open_loop and options.max_concurrency is None:
        options = replace(options, max_concurrency=most)
    levels = () if profile.open_loop else _levels(options, profile, most or 1)
    if most is not None and max(levels, default=0) > most:
        notes.append(f"--concurrency {max(levels):g} is above the model's max_concurrency of {most}")
    _keep_rate(options, profile, getattr(run.endpoint, "requests_per_minute", None))
    return options, replace(run, model_notes=(*run.model_notes, *notes))


def _keep_rate(options: LoadOptions, profile: LoadProfile, most: float | None) -> None:
    """Refuse a load that may exceed the limits in the model's table."""
    rates = _levels(options, profile, 1) if profile.open_loop and profile != "trace" else ()
    if most is None or (rates and max(rates) * 60 <= most and not (options.find_max_load and len(rates) < 2)):
        return
    raise UsageError(
        f"the model's requests_per_minute is {most:g}, and this load may send more. Keep to it with --rate {most / 60:g} or "
        "less, or remove it from the model's table"
    )


PROBE_S = 10.0
"""How long a probe sends by default."""
_MOST_IN_FLIGHT = 4096
_MOST_PER_S = 1e6
_SEARCHED = (LoadProfile.CONCURRENT, LoadProfile.CONSTANT, LoadProfile.POISSON, LoadProfile.GAMMA)


def _search(options: LoadOptions, profile: LoadProfile, levels: tuple[float, ...]) -> LoadSearch:
    """The search that its options and `--rate LOWEST,HIGHEST` or `--concurrency LOWEST,HIGHEST` describe."""
    if options.slo is None:
        raise UsageError(
            "--find-max-load needs the limits that requests must meet, as in --slo ttft=200ms,e2e=2s"
        )
    if profile not in _SEARCHED:
        raise UsageError(f"--find-max-load searches with --profile {', '.join(_SEARCHED)}, not {profile}")
    usual = LoadSearch()
    if profile.open_loop:
        flag, lowest, highest = "--rate", levels[0], _MOST_PER_S
    else:
        flag, lowest = "--concurrency", levels[0] if options.concurrency else 1.0
        highest = float(min(_MOST_IN_FLIGHT, most_connections(options.workers or 1) or _MOST_IN_FLIGHT))
    if len(levels) > 2 or (len(levels) == 2 and levels[0] > levels[1]):
        raise UsageError(f"--find-max-load takes {flag} LOWEST or {flag} LOWEST,HIGHEST")
    return LoadSearch(
        lowest=lowest,
        highest=levels[1] if len(levels) == 2 else max(lowest, highest),
        repeats=options.probe_repeats or usual.repeats,
        most_probes=options.max_probes or usual.most_probes,
        seconds=options.search_seconds or usual.seconds,
        sized=options.requests is None,
        share=options.slo_share or LoadSettings().slo_share,
    )


def _refuse_of_search(options: LoadOptions) -> None:
    for name in ("probe_repeats", "max_probes", "search_seconds"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} is for --find-max-load")


def _refuse_other_units(options: LoadOptions, converses: bool) -> None:
    """Raise UsageError for flags without effect, and for counts of the wrong unit."""
    if options.think_time is not None:
        parse_think_time(options.think_time)
    if converses and options.requests is not None:
        raise UsageError(
            "--requests: the rows are conversations of several requests; give --conversations instead"
        )
    given = [
        name for name in ("conversations", "turn_mode", "think_time") if getattr(options, name) is not None
    ]
    if given and not converses:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(
            f"{flags}: for rows that are conversations (a list in turns or messages), and these are not"
        )


def profile_of(options: LoadOptions) -> LoadProfile:
    """The given profile, or the one that the other options require."""
    traced = [f"--{name.replace('_', '-')}" for name in options.given() if name.startswith("trace_")]
    if options.profile is not None:
        profile = LoadProfile(options.profile)
    elif traced:
        profile = LoadProfile.TRACE
    elif options.burstiness is not None:
        profile = LoadProfile.GAMMA
    else:
        profile = LoadProfile.POISSON if options.rate is not None else LoadProfile.CONCURRENT
    name = f"--profile {profile}"
    if profile == "trace" and options.rate is not None:
        raise UsageError(f"{name} sends at the times of its rows; leave --rate out, or give --trace-speed")
    if traced and profile != "trace":
        raise UsageError(f"{', '.join(traced)}: for --profile trace, not {profile}")
    if profile.open_loop:
        if options.rate is None and profile != "trace":
            raise UsageError(f"{name} needs --rate, in requests per second")
        if options.concurrency is not None:
            raise UsageError(
                f"{name} sends by a schedule; limit the requests in flight with --max-concurrency, not --concurrency"
            )
    elif options.rate is not None:
        raise UsageError(
            f"{name} sends when a request has ended; leave --rate out, or choose --profile constant"
        )
    if options.burstiness is not None and profile != "gamma":
        raise UsageError(f"--burstiness is for --profile gamma, not {profile}")
    if options.burst_size is not None and profile != "burst":
        raise UsageError(f"--burst-size is for --profile burst, not {profile}")
    if options.ramp is not None and profile != "ramp":
        raise UsageError(f"--ramp is for --profile ramp, not {profile}")
    return profile


def _levels(options: LoadOptions, profile: LoadProfile, concurrency: int) -> tuple[float, ...]:
    if profile == "trace":
        return _numbers("--trace-speed", options.trace_speed or ("1",))
    if profile.open_loop:
        return _numbers("--rate", options.rate or ())
    if profile in ("synchronous", "throughput"):
        if options.concurrency is not None:
            raise UsageError(f"--profile {profile} takes no --concurrency; choose --profile concurrent")
        return (1.0,)
    return _numbers("--concurrency", options.concurrency or (str(concurrency),), whole=True)


def _ramp_ends(levels: tuple[float, ...]) -> tuple[float, float]:
    if len(levels) != 2:
        raise UsageError("--profile ramp takes two rates, at its start and at its end: --rate 1,20")
    return levels[0], levels[1]


def _numbers(flag: str, written: tuple[str, ...], *, whole: bool = False) -> tuple[float, ...]:
    what = "whole numbers" if whole else "numbers"
    refusal = UsageError(f"{flag} {','.join(written)}: expected {what} above 0, separated by commas")
    try:
        found = tuple(float(text) for text in written)
    except ValueError:
        raise refusal from None
    if any(not 0 < each < inf or (whole and each != int(each)) for each in found):
        raise refusal
    return found
