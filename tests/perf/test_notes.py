"""What users of load tests are misled by is said next to the figures."""

from __future__ import annotations

from made_records import closed_loop, streamed

from benchwright.perf import LoadSettings, LoadSummary, RequestRecord, Requests, summarise
from benchwright.perf._values import ClientHealth, StageRecord


def kinds(*records: RequestRecord, settings: LoadSettings | None = None) -> dict[str, str]:
    found = summarise(Requests.of(records), settings or LoadSettings())
    return {note.kind: note.text for note in found.notes}


def plain(count: int, **fields: object) -> list[RequestRecord]:
    return [streamed(number, sent, **fields) for number, sent, _ in closed_loop(count, 4, lambda _: 0.67)]


def test_a_clean_test_has_no_notes() -> None:
    assert kinds(*plain(200)) == {}


def test_repeated_prompts_are_counted_from_the_warm_up_on() -> None:
    records = [
        streamed(
            number,
            number * 0.7,
            prompt_hash=f"{number % 50:016x}",
            phase="warmup" if number < 50 else "measured",
        )
        for number in range(100)
    ]
    found = summarise(Requests.of(records), LoadSettings()).stages[0]
    assert found.figures["repeated_prompt_share"] == 1.0
    assert "--cache-bust" in kinds(*records)["repeated_prompts"]
    cached = [streamed(n, n * 0.7, prompt_hash="0" * 16, cached_tokens=80) for n in range(100)]
    assert "80 %" in kinds(*cached)["repeated_prompts"]


def test_prompts_of_an_earlier_level_are_repeated_too() -> None:
    records = [streamed(n, n * 0.7, prompt_hash=f"{n % 50:016x}", stage=n // 50) for n in range(100)]
    first, second = summarise(Requests.of(records), LoadSettings(levels=(1.0, 2.0))).stages
    assert (first.figures["repeated_prompt_share"], second.figures["repeated_prompt_share"]) == (0.0, 1.0)


def test_replies_that_stop_early_or_never_are_noted() -> None:
    assert "--exact-output" in kinds(*plain(200, requested_tokens=64))["short_replies"]
    assert "ignores max_tokens" in kinds(*plain(200, requested_tokens=16))["long_replies"]


def test_a_limit_that_nobody_asked_for_is_no_length_to_fall_short_of() -> None:
    usual = LoadSettings(usual_tokens=4096)
    assert "short_replies" not in kinds(*plain(200, requested_tokens=4096), settings=usual)
    assert "short_replies" in kinds(*plain(200, requested_tokens=4096))
    own = [*plain(200, requested_tokens=4096), streamed(200, 200.0, requested_tokens=64)]
    assert "Replies had 32 of 64 requested" in kinds(*own, settings=usual)["short_replies"]


def test_tokens_that_we_counted_say_so() -> None:
    assert "one per content event" in kinds(*plain(200, token_source="counted"))["token_source"]


def test_a_rate_that_was_not_sent_is_noted() -> None:
    late = [streamed(n, n * 0.012, planned=n * 0.01, ttft=0.001, gaps=[]) for n in range(500)]
    found = kinds(*late, settings=LoadSettings(profile="constant", levels=(100.0,)))
    assert "100" in found["offered_rate"]
    assert "83.3" in found["offered_rate"]


def test_a_client_that_was_the_limit_comes_first_and_is_not_comparable() -> None:
    health = ClientHealth(verdict="limit", reasons=("CPU at 100 %; use --workers 2",))
    found = summarise(Requests.of(plain(50)), LoadSettings(), [StageRecord(0, 4.0, health=health)])
    assert found.notes[0].kind == "client_limit"
    assert "--workers 2" in found.notes[0].text
    assert not found.comparable


def test_too_many_failures_are_not_comparable() -> None:
    from made_records import failed

    from benchwright.perf import RequestOutcome

    records = [*plain(90), *(failed(90 + n, 1.0, RequestOutcome.RESET) for n in range(10))]
    assert not summarise(Requests.of(records), LoadSettings()).comparable
    assert summarise(Requests.of(records), LoadSettings(max_error_share=0.2)).comparable


def test_a_summary_comes_back_from_its_json() -> None:
    import orjson

    settings = LoadSettings(levels=(4.0,), slo=(("ttft", 0.1),))
    health = ClientHealth(reasons=("fine",), cpu_shares=(0.25,))
    found = summarise(
        Requests.of(plain(500, scores={"exact": 1.0})), settings, [StageRecord(0, 4.0, health=health)]
    )
    assert LoadSummary.from_json(orjson.loads(orjson.dumps(found.to_json()))) == found


def test_of_several_levels_a_note_says_which() -> None:
    records = [
        streamed(n, n * 0.67, stage=n // 100, requested_tokens=64 if n >= 100 else 32) for n in range(200)
    ]
    found = summarise(Requests.of(records), LoadSettings(levels=(1.0, 2.0)))
    assert found.notes[0].text.startswith("2 in flight: Replies had 32 of 64 requested output tokens")
