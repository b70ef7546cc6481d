"""`hf://` URIs: every form, every key, and nothing ignored."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from benchwright.core import DatasetError
from benchwright.datasets import Filter, parse_hf_uri
from benchwright.datasets._hf_uri import HfUri


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("hf://squad", HfUri("squad")),
        ("hf://org/data", HfUri("org/data")),
        ("huggingface://org/data", HfUri("org/data")),
        ("HF://org/data", HfUri("org/data")),
        ("hf:///org//data/", HfUri("org/data")),
        ("hf://org/data/cfg", HfUri("org/data", config="cfg")),
        ("hf://org/data/cfg/test", HfUri("org/data", config="cfg", split="test")),
        ("hf://org/data/my%20cfg", HfUri("org/data", config="my cfg")),
        ("hf://org/data/cfg/test?split=dev&config=x", HfUri("org/data", config="x", split="dev")),
        ("hf://org/data?split=test%5B%3A100%5D", HfUri("org/data", split="test[:100]")),
        ("hf://org/data?split=a&split=b", HfUri("org/data", split="b")),
        ("hf://org/data?revision=v1.0", HfUri("org/data", revision="v1.0")),
        ("hf://o/d?data_files=a/b.json&field=ex", HfUri("o/d", data_files="a/b.json", field="ex")),
        ("hf://o/d?trust_remote_code=YES", HfUri("o/d", trust_remote_code=True)),
        ("hf://o/d?trust_remote_code=1", HfUri("o/d", trust_remote_code=True)),
        ("hf://o/d?trust_remote_code=on", HfUri("o/d")),
    ],
)
def test_forms_and_keys(uri: str, expected: HfUri) -> None:
    assert parse_hf_uri(uri) == expected


def test_filters_keep_their_order_and_blank_values() -> None:
    uri = "hf://o/d?filter_value_2=&filter_field_1=ok&filter_value_1=False&filter_field_2=x&filter_field=lang&filter_value=h%26i"
    assert parse_hf_uri(uri).filters == (Filter("lang", "h&i"), Filter("ok", "False"), Filter("x", ""))
    assert parse_hf_uri("hf://o/d?filter_field_1=a&filter_value_1=b").filters == (Filter("a", "b"),)


@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("hf://", "empty body"),
        ("hf://?split=test", "empty body"),
        ("hf:///", "empty body"),
        ("s3://o/d", "expected it to start with hf://"),
        ("hf://o/d/c/s/more", "5 parts; expected at most org/dataset/config/split"),
        ("hf://datasets/o/d", "leave out 'datasets/': hf://o/d"),
        ("hf://o/d@main", r"\?revision=main"),
        ("hf://o/d e", "not the name of an organisation or dataset"),
        ("hf://o/d?spilt=test", "unknown key 'spilt'.*Did you mean 'split'"),
        ("hf://o/d?Split=test", "unknown key 'Split'"),
        ("hf://o/d?zzz", "unknown key 'zzz'; known: split, config"),
        ("hf://o/d?split=", "split is empty"),
        ("hf://o/d?filter_field=a", "filter_field needs filter_value as well"),
        ("hf://o/d?filter_value_1=a", "filter_value_1 needs filter_field_1 as well"),
        ("hf://o/d?filter_field=&filter_value=a", "expected the name of a column"),
        ("hf://o/d?filter_field_0=a&filter_value_0=b", "unknown key 'filter_field_0'"),
        ("hf://o/d?filter_field_01=a&filter_value_01=b", "unknown key 'filter_field_01'"),
        (
            "hf://o/d?filter_field_1=a&filter_value_1=b&filter_field_3=c&filter_value_3=d",
            "filter_field_3 comes after a gap.*there is no filter_field_2",
        ),
    ],
)
def test_whatever_would_not_be_honoured_is_an_error(uri: str, told: str) -> None:
    with pytest.raises(DatasetError, match=told):
        parse_hf_uri(uri)


words = st.text(min_size=1, max_size=8)


@given(
    st.builds(
        HfUri,
        dataset=st.from_regex(r"[a-z][a-z0-9._-]{0,6}(/[a-z][a-z0-9._-]{0,6})?", fullmatch=True).filter(
            lambda name: not name.startswith("datasets/")
        ),
        config=st.none() | words,
        split=st.none() | words,
        revision=st.none() | words,
        trust_remote_code=st.booleans(),
        filters=st.lists(st.builds(Filter, words, st.text(max_size=8)), max_size=4).map(tuple),
        data_files=st.none() | words,
        field=st.none() | words,
    )
)
def test_a_uri_written_out_means_the_same(uri: HfUri) -> None:
    assert parse_hf_uri(str(uri)) == uri
