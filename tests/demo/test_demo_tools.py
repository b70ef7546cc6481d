"""Tool calls of the demo model: the right tool, arguments out of the text, mistakes when unskilled."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from benchwright.demo import DemoSettings
from benchwright.demo._model import DemoModel

WEATHER = {
    "name": "get_weather",
    "description": "Get the weather forecast of a city",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            "days": {"type": "integer"},
        },
        "required": ["city"],
    },
}
AREA = {
    "name": "triangle.area",
    "description": "Calculate the area of a triangle from its base and height",
    "parameters": {
        "type": "dict",
        "properties": {"base": {"type": "integer"}, "height": {"type": "float"}},
        "required": ["base", "height"],
    },
}


def ask(text: str, *functions: dict[str, Any], skill: float = 1.0, **body: Any) -> Any:
    model = DemoModel(DemoSettings(skill=skill))
    tools = [{"type": "function", "function": function} for function in functions]
    messages = [{"role": "user", "content": text}]
    return model.complete("chat", {"model": "demo", "messages": messages, "tools": tools, **body}).choices[0]


def calls(choice: Any) -> list[tuple[str, dict[str, Any]]]:
    return [
        (call["function"]["name"], orjson.loads(call["function"]["arguments"]))
        for call in choice.tool_calls or []
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the weather in Paris?", ("get_weather", {"city": "Paris"})),
        (
            "Weather in New York in fahrenheit, please",
            ("get_weather", {"city": "New York", "unit": "fahrenheit"}),
        ),
        ("Forecast the weather for Boston for 3 days", ("get_weather", {"city": "Boston", "days": 3})),
        (
            "Find the area of a triangle with a base of 10 units and height of 5 units.",
            ("triangle.area", {"base": 10, "height": 5}),
        ),
        (
            "Find the area of a triangle with a height of 5 and a base of 10.",
            ("triangle.area", {"base": 10, "height": 5}),
        ),
    ],
)
def test_the_fitting_tool_is_called_with_values_from_the_text(text: str, expected: tuple[str, Any]) -> None:
    choice = ask(text, WEATHER, AREA)
    assert calls(choice) == [expected]
    assert choice.finish_reason == "tool_calls"
    assert choice.text == ""


def test_several_names_make_several_calls() -> None:
    choice = ask("Weather in Paris and New York please", WEATHER)
    assert [arguments["city"] for _, arguments in calls(choice)] == ["Paris", "New York"]
    assert len({call["id"] for call in choice.tool_calls}) == 2
    assert len(calls(ask("Weather in Paris and Rome", WEATHER, parallel_tool_calls=False))) == 1


def test_no_call_when_no_tool_fits_or_calls_are_forbidden() -> None:
    assert ask("Tell me a joke", AREA).tool_calls is None
    assert ask("What is 2 + 3?", WEATHER).text == "5"
    assert ask("Weather in Paris?", WEATHER, tool_choice="none").tool_calls is None


def test_a_demanded_call_is_made() -> None:
    assert calls(ask("Tell me a joke", AREA, tool_choice="required"))[0][0] == "triangle.area"
    named = {"type": "function", "function": {"name": "get_weather"}}
    assert calls(ask("triangle area", AREA, WEATHER, tool_choice=named))[0][0] == "get_weather"


def test_an_unskilled_model_gets_the_call_wrong() -> None:
    text = "What is the weather in Paris?"
    assert calls(ask(text, WEATHER, skill=0.0)) != calls(ask(text, WEATHER))


def test_lists_booleans_quotes_dates_and_nested_objects() -> None:
    schema = {
        "name": "book",
        "description": "Book a table",
        "parameters": {
            "type": "object",
            "properties": {
                "restaurant": {"type": "string"},
                "date": {"type": "string"},
                "seats": {"type": "integer"},
                "outside": {"type": "boolean"},
                "marks": {"type": "array", "items": {"type": "number"}},
                "guest": {
                    "type": "object",
                    "properties": {"email": {"type": "string"}},
                    "required": ["email"],
                },
            },
            "required": ["restaurant", "date", "seats", "outside", "marks", "guest"],
        },
    }
    text = 'Book a table at "Chez Nous" on 2026-05-04 with 4 seats outside for a@b.org, marks [1, 2.5]'
    assert calls(ask(text, schema)) == [
        (
            "book",
            {
                "restaurant": "Chez Nous",
                "date": "2026-05-04",
                "seats": 4,
                "outside": True,
                "marks": [1, 2.5],
                "guest": {"email": "a@b.org"},
            },
        )
    ]


@pytest.mark.parametrize(
    "function",
    [
        {"name": "f"},
        {"name": "f", "parameters": None},
        {
            "name": "f",
            "parameters": {"properties": {"a": None, "b": {"type": ["null", "integer"]}, "c": {"enum": []}}},
        },
        {
            "name": "f",
            "parameters": {"properties": {"a": {"type": "array"}, "b": {"const": 3}}, "required": ["a", "b"]},
        },
    ],
)
def test_odd_schemas_do_no_harm(function: dict[str, Any]) -> None:
    for text in ("", "do f", "1 2 3 'x'"):
        ask(text, function, tool_choice="required")


def test_after_a_tool_has_answered_the_model_reports() -> None:
    model = DemoModel()
    messages = [
        {"role": "user", "content": "Weather in Paris?"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "tool_call_id": "1", "content": "18 degrees"},
    ]
    body: Any = {"model": "demo", "messages": messages, "tools": [{"type": "function", "function": WEATHER}]}
    choice = model.complete("chat", body).choices[0]
    assert choice.text == "The result is 18 degrees."
    assert choice.tool_calls is None
