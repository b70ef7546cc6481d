"""Reading `.meta.json`: what is accepted, and what is said of what is not."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from benchwright.core import DatasetError
from benchwright.datasets import Sampling
from benchwright.datasets._lengths import (
    ColumnLengths,
    FixedLength,
    LengthShares,
    LogNormalLengths,
    NormalLengths,
    UniformLengths,
    ZipfLengths,
)
from benchwright.datasets._meta import read_meta

UNIFORM = {"method": "uniform", "params": {"min_value": 100, "max_value": 200}}


@pytest.fixture
def meta(tmp_path: Path) -> Path:
    return tmp_path / "qa.csv.meta.json"


def read(meta: Path, value: Any, **options: Any) -> Sampling:
    meta.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return read_meta(meta, name="qa.csv.meta.json", **options)


def refused(meta: Path, value: Any, **options: Any) -> str:
    with pytest.raises(DatasetError) as caught:
        read(meta, value, **options)
    return str(caught.value)


def lengths_of(meta: Path, method: str, **params: Any) -> Any:
    return read(meta, {"output_config": {"method": method, "params": params}}).lengths


def test_the_first_documented_example_is_read(meta: Path) -> None:
    sampling = read(
        meta,
        """{
            "output_config": {
                "method": "percentage",
                "params": { "percentage_distribute": [ [100, 0.5], [200, 0.3], [400, 0.2] ] }
            },
            "request_count": "10",
            "sampling_mode": "shuffle"
        }""",
    )
    assert (sampling.request_count, sampling.sampling_mode, sampling.seed) == (10, "shuffle", 42)
    assert sampling.lengths == LengthShares(
        ((100, Fraction(1, 2)), (200, Fraction(3, 10)), (400, Fraction(1, 5)))
    )


def test_the_second_documented_example_is_read(meta: Path) -> None:
    sampling = read(meta, {"output_config": UNIFORM})
    assert sampling.lengths == UniformLengths(100, 200)
    assert (sampling.request_count, sampling.sampling_mode) == (None, "default")


def test_an_empty_object_changes_nothing(meta: Path) -> None:
    assert read(meta, {}) == Sampling(source="qa.csv.meta.json")


def test_a_byte_order_mark_is_no_error(meta: Path) -> None:
    assert read(meta, '\ufeff{"seed": 7}').seed == 7


def test_numbers_may_be_texts(meta: Path) -> None:
    sampling = read(
        meta,
        {
            "request_count": " 12 ",
            "seed": "3",
            "output_config": {"method": "uniform", "params": {"min_value": "5", "max_value": "6"}},
        },
    )
    assert (sampling.request_count, sampling.seed, sampling.lengths) == (12, 3, UniformLengths(5, 6))


def test_every_law_is_read(meta: Path) -> None:
    assert lengths_of(meta, "fixed", value=64) == FixedLength(64)
    assert lengths_of(meta, "normal", mean=100, stddev="12.5") == NormalLengths(100.0, 12.5, 1, None)
    assert lengths_of(meta, "lognormal", mean=100.5, stddev=90, min_value=8, max_value=512) == (
        LogNormalLengths(100.5, 90.0, 8, 512)
    )
    assert lengths_of(meta, "zipf", alpha=1.2, min_value=1, max_value=512) == ZipfLengths(1.2, 1, 512)
    assert lengths_of(meta, "column", column="out") == ColumnLengths("out")


def test_switches_may_stand_alone(meta: Path) -> None:
    sampling = read(meta, {"output_config": {"ignore_eos": True, "min_tokens": 8}})
    assert sampling.lengths is None
    assert sampling.extra_body == {"min_tokens": 8, "ignore_eos": True}
    assert read(meta, {}).extra_body == {}


def test_percentages_come_in_blocks_where_that_is_asked_for_or_compatible(meta: Path) -> None:
    def order(compat: bool, outside: dict[str, str] | None = None, **params: Any) -> str:
        config = {
            "method": "percentage",
            "params": {"percentage_distribute": [[1, 1]], **params},
            **(outside or {}),
        }
        lengths = read(meta, {"output_config": config}, compat=compat).lengths
        assert isinstance(lengths, LengthShares)
        return lengths.order

    assert [order(False), order(True)] == ["shuffled", "blocked"]
    assert [order(False, order=each) for each in ("blocked", "shuffled")] == ["blocked", "shuffled"]
    assert [order(False, {"order": each}) for each in ("blocked", "shuffled")] == ["blocked", "shuffled"]


@pytest.mark.parametrize(
    "shares", [["0.1", "0.2", "0.7"], ["1e-1", "2E-1", "0.70"], ["0.3333", "0.3333", "0.3334"]]
)
def test_shares_add_up_by_their_written_digits(meta: Path, shares: list[str]) -> None:
    pairs = ", ".join(f"[{number + 1}, {share}]" for number, share in enumerate(shares))
    text = (
        f'{{"output_config": {{"method": "percentage", "params": {{"percentage_distribute": [{pairs}]}}}}}}'
    )
    lengths = read(meta, text).lengths
    assert isinstance(lengths, LengthShares)
    assert sum(share for _, share in lengths.shares) == 1


def output(**config: Any) -> dict[str, Any]:
    return {"output_config": config}


def shares(*pairs: Any) -> dict[str, Any]:
    return output(method="percentage", params={"percentage_distribute": list(pairs)})


WRONG: list[tuple[Any, str]] = [
    ({"request_count": 0}, 'request_count is 0; expected a whole number above 0, such as 10 or "10"'),
    ({"request_count": -3}, "request_count is -3"),
    ({"request_count": 2.5}, "request_count is 2.5, a number with a fraction"),
    ({"request_count": 10.0}, "request_count is 10.0, a number with a fraction"),
    ({"request_count": True}, "request_count is true"),
    ({"request_count": "ten"}, "request_count is 'ten'"),
    ({"request_count": "1.0"}, "request_count is '1.0'"),
    ({"request_count": None}, "request_count is null"),
    ({"request_count": 10**12}, "beyond all use"),
    ({"sampling_mode": "shufle"}, "sampling_mode 'shufle' is not one of default, shuffle, random, random_with_"),
    ({"sampling_mode": 1}, "sampling_mode is 1; expected one of"),
    ({"seed": -1}, "seed is -1; expected a whole number of 0 or more"),
    ({"seed": 0.5}, "seed is 0.5"),
    ({"output_config": []}, "output_config is a list; expected an object"),
    ({"output_config": {}}, "output_config.method is missing; expected one of uniform, percentage"),
    (output(method="gamma", params={}), "output_config.method 'gamma' is not one of"),
    (output(method=5, params={}), "output_config.method is 5"),
    (output(method="uniform"), "output_config.params is missing; the method 'uniform' takes min_value, max_value"),
    (output(method="uniform", params="x"), "output_config.params is 'x'; expected an object"),
    (output(method="uniform", params={"min_value": 1}), "params.max_value is missing; uniform needs"),
    (output(method="uniform", params={"min_value": 0, "max_value": 3}), "params.min_value is 0"),
    (output(method="uniform", params={"min_value": 9, "max_value": 3}), "min_value is 9, above max_value, which is 3"),
    (output(method="uniform", params={"min_value": True, "max_value": 3}), "params.min_value is true"),
    (output(method="percentage", params={}), "percentage_distribute is missing; expected a list of [length, share]"),
    (shares(), "percentage_distribute is an empty list"),
    (shares(100), "percentage_distribute[0] is 100; expected [length, share]"),
    (shares([100, 0.5, 1]), "percentage_distribute[0] is a list of 3"),
    (shares([0, 1]), "percentage_distribute[0] has the length 0"),
    (shares([1.5, 1]), "percentage_distribute[0] has the length 1.5"),
    (shares([True, 1]), "percentage_distribute[0] has the length true"),
    (shares([1, 0]), "percentage_distribute[0] has the share 0"),
    (shares([1, 50], [2, 50]), "percentage_distribute[1] has the share 50; expected a number above 0 and up to 1 (50 %"),
    (shares([1, True]), "percentage_distribute[0] has the share true"),
    (shares([1, 0.5], [2, 0.49]), "percentage_distribute has shares that add up to 0.99"),
    (shares([1, 0.5], [2, 0.5000000000000001]), "they must add up to exactly 1"),
    (
        output(method="percentage", params={"percentage_distribute": [[1, 1]], "order": "mixed"}),
        "output_config.params.order is 'mixed'; expected shuffled or blocked",
    ),
    (output(method="fixed", params={}), "params.value is missing"),
    (output(method="normal", params={"mean": 5}), "params.stddev is missing"),
    (output(method="normal", params={"mean": 5, "stddev": 0}), "params.stddev is 0; expected a number above 0"),
    (output(method="normal", params={"mean": 5, "stddev": 1, "min_value": 9}), "params.mean is 5, outside"),
    (output(method="zipf", params={"alpha": 1, "min_value": 1, "max_value": 2**30}), "at most 1,048,576 lengths"),
    (output(method="column", params={"column": ""}), "params.column is ''; expected the name of a column"),
    (output(ignore_eos="yes"), "output_config.ignore_eos is 'yes'; expected true or false"),
    (output(min_tokens=-1), "output_config.min_tokens is -1"),
    (output(method="fixed", params={"value": 5}, min_tokens=6), "output_config.min_tokens is 6, more than"),
    ({"requestcount": 1}, "requestcount is not a key; known: request_count, sampling_mode, output_config, seed. Did"),
    (output(metod="fixed"), "output_config.metod is not a key"),
    (output(method="uniform", params={"min": 1, "max_value": 2}), "params.min is not a key of the method 'uniform'"),
    ({"order": "blocked"}, "It belongs in output_config: output_config.order"),
    (output(method="fixed", params={"value": 5}, order="blocked"), "output_config.order is for the method 'percentage'"),
    (
        output(method="percentage", params={"percentage_distribute": [[1, 1]], "order": "blocked"}, order="shuffled"),
        "output_config.order and output_config.params.order differ",
    ),
    (output(method="percentage", params={"percentage_distribute": [[1, 1]]}, order=3), "order is 3; expected shuffled"),
    ([], "contains a list; expected an object"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "said"), WRONG, ids=[said[:50] for _, said in WRONG])
def test_each_error_names_the_file_and_the_key(meta: Path, value: Any, said: str) -> None:
    text = refused(meta, value)
    assert "qa.csv.meta.json: " in text
    assert said in text


def test_no_two_rules_share_a_message(meta: Path) -> None:
    assert len({refused(meta, value) for value, _ in WRONG}) == len(WRONG)


def test_all_errors_are_listed_at_once(meta: Path) -> None:
    text = refused(
        meta,
        {
            "request_count": True,
            "sampling_mode": "radnom",
            "sed": 1,
            "output_config": {"method": "percentage", "params": {"percentage_distribute": [[0, 2], [1]]}},
        },
    )
    assert text.startswith("6 errors in the meta file; nothing was sent\n")
    assert text.count("qa.csv.meta.json: ") == 6
    assert "Did you mean 'seed'?" in text
    assert "Did you mean 'random'" in text
    assert all(said in text for said in ("has the length 0", "has the share 2", "[1] is a list of 1"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"request_count": 1,}', "qa.csv.meta.json:1: not valid JSON"),
        ("", "not valid JSON"),
        ('{\n"seed": 1\n"x": 2}', "qa.csv.meta.json:3: not valid JSON"),
        ('{"seed": 1, "seed": 2}', "seed appears more than once"),
        ('{"output_config": {"method": "normal", "params": {"mean": NaN, "stddev": 1}}}', "params.mean is nan"),
        ("[" * 100_000, "nested too deeply"),
    ],
)  # fmt: skip
def test_files_that_are_no_json_objects_are_refused(meta: Path, text: str, said: str) -> None:
    assert said in refused(meta, text)


def test_files_that_cannot_be_read_are_refused(meta: Path) -> None:
    with pytest.raises(DatasetError, match="there is no such meta file"):
        read_meta(meta)
    meta.write_bytes(b'{"seed": "\xff"}')
    with pytest.raises(DatasetError, match="not valid UTF-8 at byte 10"):
        read_meta(meta)
    with pytest.raises(DatasetError, match="cannot be read"):
        read_meta(meta.parent)


def lengths(method: str, **params: Any) -> dict[str, Any]:
    return {"output_config": {"method": method, "params": params}}


@pytest.mark.parametrize(
    ("value", "key", "reason"),
    [
        ({"request_count": 2.5}, "request_count", "a number with a fraction"),
        ({"sampling_mode": 3}, "sampling_mode", "is 3"),
        (lengths("uniform", min_value=[1], max_value=2), "min_value", "is a list"),
        ({"request_count": 0}, "request_count", "is 0"),
        ({"request_count": "-4"}, "request_count", "is -4"),
        (lengths("uniform", min_value=9, max_value=2), "min_value", "above max_value"),
        (lengths("uniform", min_value=9), "max_value", "is missing"),
        (lengths("percentage"), "percentage_distribute", "is missing"),
        ({"output_config": {"method": "uniform"}}, "output_config.params", "is missing"),
        (lengths("percentage", percentage_distribute=[[10, 0.5], [20, 0.4]]), "percentage_distribute", "exactly 1"),
        (lengths("percentage", percentage_distribute=[[0, 1]]), "percentage_distribute[0]", "the length 0"),
        (lengths("percentage", percentage_distribute=[[10, 1.5]]), "percentage_distribute[0]", "the share 1.5"),
        (lengths("gamma", min_value=1, max_value=2), "output_config.method", "'gamma' is not one of"),
        ({"colour": 1}, "colour", "is not a key"),
        (lengths("uniform", min_value=1, max_value=2, colour=3), "output_config.params.colour", "is not a key"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("compat", [False, True])
def test_each_refusal_of_aisbench_is_one_here(
    meta: Path, value: Any, key: str, reason: str, compat: bool
) -> None:
    """Wrong types, counts, bounds, distributions, methods and keys, and what is missing."""
    said = refused(meta, value, compat=compat)
    assert key in said
    assert reason in said
    assert "AISBench" not in said


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ({"seed": 7}, "seed"),
        ({"sampling_mode": "random_with_replacement"}, "sampling_mode 'random_with_replacement'"),
        (lengths("fixed", value=10), "output_config.method 'fixed'"),
        (lengths("normal", mean=10, stddev=2), "output_config.method 'normal'"),
        (lengths("lognormal", mean=10, stddev=2), "output_config.method 'lognormal'"),
        (lengths("zipf", alpha=1, min_value=1, max_value=9), "output_config.method 'zipf'"),
        (lengths("column", column="n"), "output_config.method 'column'"),
        ({"output_config": {"ignore_eos": True}}, "output_config.ignore_eos"),
        ({"output_config": {"min_tokens": 3}}, "output_config.min_tokens"),
        (lengths("percentage", percentage_distribute=[[10, 1]], order="blocked"), "output_config.params.order"),
        (
            {"output_config": {"method": "percentage", "order": "shuffled", "params": {"percentage_distribute": [[10, 1]]}}},
            "output_config.order",
        ),
    ],
)  # fmt: skip
def test_what_only_benchwright_knows_is_refused_as_aisbench_refuses_it(
    meta: Path, value: Any, key: str
) -> None:
    read(meta, value)
    said = refused(meta, value, compat=True)
    assert f"{key} is not known to AISBench; leave it out, or leave out --compat aisbench" in said


def test_every_key_and_value_is_either_known_to_aisbench_or_refused_in_its_name() -> None:
    """A new key or value counts as benchwright's own until the table of AISBench's has it."""
    from benchwright.datasets import _meta

    assert set(_meta._AISBENCH[""]) < set(_meta._TOP)
    assert set(_meta._AISBENCH["output_config."]) < set(_meta._OUTPUT)
    for key, values in _meta._VALUES.items():
        assert set(_meta._AISBENCH[key]) < set(values)
