"""Read requests for the demo model: the fields of the body that it uses, and the question of a prompt, which is the last
question of a few-shot prompt, without the solved examples.
"""

from __future__ import annotations

from typing import NamedTuple

from benchwright.core import JsonObject, JsonValue

_DEFAULT_COMPLETION_TOKENS = 16
"""Tokens that the completions route generates if no limit is sent, as OpenAI's route does."""
_MAX_CHOICES = 128
_MAX_TOP = 20
_MAX_TOKENS = 1 << 30

_TOOL_RESULTS = '[{"role":"tool"'
_MORE_FUNCTIONS = "More functions are available now"


class DemoRefusalError(Exception):
    """The demo model cannot serve the request; becomes an error body in OpenAI's form, or a rejected reply."""

    def __init__(self, message: str, param: str | None = None, *, status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.status = status


class ChatTexts(NamedTuple):
    """The messages of a chat request, as far as the demo model reads them."""

    system: str
    """Text of the system and developer messages."""
    user: str
    """Text of the last user message."""
    tool_result: str | None
    """Text of the last message if it is a tool's result."""
    texts: list[str]
    """Texts of all messages, for counting."""


def read_messages(body: JsonObject) -> ChatTexts:
    """Read the messages of a chat body."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise DemoRefusalError("'messages' must be a non-empty list of {role, content} objects", "messages")
    system = user = ""
    texts = []
    role: JsonValue = None
    text = ""
    for message in messages:
        if not isinstance(message, dict):
            raise DemoRefusalError(
                "each of 'messages' must be an object with 'role' and 'content'", "messages"
            )
        role = message.get("role")
        content = message.get("content")
        text = content if isinstance(content, str) else _text_of(content)
        texts.append(text)
        if role == "user" and text.startswith(_TOOL_RESULTS):  # without native calls, the user sends results
            role = "tool"
        elif role == "user" and text.startswith(_MORE_FUNCTIONS) and user:
            pass  # the question is still the previous one
        elif role == "user":
            user = text
        elif role in ("system", "developer"):
            system += text
        elif not isinstance(role, str):
            raise DemoRefusalError("each of 'messages' needs a 'role'", "messages")
    return ChatTexts(system, user, text if role == "tool" else None, texts)


def read_prompts(body: JsonObject) -> list[str]:
    """Read the prompts of a completions body: one text or a list of texts."""
    prompt = body.get("prompt")
    if isinstance(prompt, str):
        return [prompt]
    if isinstance(prompt, list) and prompt and all(isinstance(item, str) for item in prompt):
        return [str(item) for item in prompt]
    raise DemoRefusalError(
        "'prompt' must be a text or a non-empty list of texts; token numbers are not served", "prompt"
    )


def read_limit(body: JsonObject, *, chat: bool) -> int | None:
    """Read the largest number of tokens to generate; None for no limit."""
    name = "max_completion_tokens" if body.get("max_completion_tokens") is not None else "max_tokens"
    if body.get(name) is None:
        return None if chat else _DEFAULT_COMPLETION_TOKENS
    return read_count(body, name, 0, _MAX_TOKENS, 0)


def read_stops(body: JsonObject) -> list[str]:
    """Read the texts that end an answer."""
    stop = body.get("stop")
    if stop is None:
        return []
    stops = [stop] if isinstance(stop, str) else stop
    if not isinstance(stops, list) or not all(isinstance(item, str) for item in stops):
        raise DemoRefusalError("'stop' must be a text or a list of texts", "stop")
    return [str(item) for item in stops if item]


def read_count(body: JsonObject, name: str, default: int, most: int = _MAX_CHOICES, least: int = 1) -> int:
    """Read a whole number within bounds, such as `n`."""
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise DemoRefusalError(f"'{name}' must be a whole number from {least} to {most}", name)
    return value


def read_top(body: JsonObject, *, chat: bool) -> int | None:
    """Read the number of alternatives per token; None if no log-probabilities are requested."""
    if chat:
        return read_count(body, "top_logprobs", 0, _MAX_TOP, 0) if body.get("logprobs") is True else None
    if body.get("logprobs") in (None, False):
        return None
    return 1 if body["logprobs"] is True else read_count(body, "logprobs", 0, _MAX_TOP, 0)


def read_variation(body: JsonObject, repeat: int) -> str:
    """Return the text that distinguishes repeats: the request's seed and repeat number, if sampling is on."""
    temperature = body.get("temperature")
    if temperature is not None:
        if not isinstance(temperature, int | float) or not 0 <= temperature <= 2:
            raise DemoRefusalError("'temperature' must be a number from 0 to 2", "temperature")
        if temperature == 0:
            return ""
    seed = body.get("seed")
    return f"{repeat}/{seed}" if repeat or seed is not None else ""


def _text_of(content: JsonValue) -> str:
    """Return the text of a content that is null or a list of parts."""
    if content is None:
        return ""
    if not isinstance(content, list):
        raise DemoRefusalError("'content' must be a text, null, or a list of parts", "messages")
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


_CUES = frozenset(("answer", "final answer", "the answer", "output", "verdict"))
"""Words that open an answer line: `Answer:`, `Answer (true/false):`, `### Output:`, `Answer 3:`."""
_LABELS = frozenset(("question", "q", "passage", "context", "text", "input"))
"""Words that open a question or what belongs to it."""
_BLANKS = " \t\r\n"
_MARKS = " \t\r>*#"
_MAX_HEAD_CHARS = 60
"""Longest text before the colon of a label; longer lines are sentences."""


class Question(NamedTuple):
    """The last question of a prompt."""

    block: str
    """The question with its passage and options, without examples, answer line and surrounding spaces."""
    full: str
    """The whole prompt, for instructions above the question."""
    lowered: str
    """The whole prompt in lower case."""
    cued: bool
    """Whether the prompt ends in an open answer line such as `Answer:`."""


def is_judge_prompt(text: str) -> bool:
    """Whether a prompt requests a `GRADE:` line."""
    return "GRADE:" in text


def ends_in_cue(text: str) -> bool:
    """Whether a text ends in an open answer line, possibly followed by spaces."""
    text = text.rstrip(_BLANKS)
    if not text.endswith((":", "*")):
        return False
    head, colon, rest = text[text.rfind("\n") + 1 :].partition(":")
    return colon != "" and not rest.strip("*") and _is_cue(head)


def last_question(text: str) -> Question:
    """Remove solved examples and the open answer line from a prompt.

    >>> last_question("Q: 1+1?\\nA: 2\\n\\nQ: 2+2?\\nA:").block
    '2+2?'
    """
    lowered = text.lower()
    body = text.strip(_BLANKS)
    if "\n" not in body:
        return Question(_without_label(body), text, lowered, False)
    cued = ends_in_cue(body)
    if cued:
        body = body[: body.rfind("\n")].rstrip(_BLANKS)
    start = _start_of_last(body)
    return Question(_without_label(body[start:].strip(_BLANKS)), text, lowered, cued)


def _start_of_last(body: str) -> int:
    """Return the start of the last question, which is the first label after the last answered line.

    Lines are read from the end, since the last answered line of a few-shot prompt is near it.
    """
    start = 0
    end = len(body)
    seen_text = False
    below = ""
    while end >= 0:
        newline = body.rfind("\n", 0, end)
        colon = body.find(":", newline + 1, min(end, newline + 2 + _MAX_HEAD_CHARS))
        if colon >= 0:
            head = body[newline + 1 : colon]
            answered = body[colon + 1 : end].strip(_MARKS)
            if seen_text and answered and not answered.startswith("<") and _is_cue(head):
                # "A: x" above "B: y" is an option, not an answer.
                if not (head.strip(_MARKS) == "A" and below.startswith("B")):
                    return start or end
            elif _word_of(head) in _LABELS:
                start = newline + 1
        seen_text = seen_text or bool(body[newline + 1 : end].strip(_BLANKS))
        below = body[newline + 1 : newline + 3]
        end = newline
    return start


def _word_of(head: str) -> str:
    """Return the word of a label line: `answer` for both `### Answer (true/false)` and `**Answer 3`."""
    word = head.strip(_MARKS).lower()
    if word.endswith(")"):
        word = word[: word.rfind("(")].rstrip() if "(" in word else word
    return word.rstrip(" 0123456789") if word else word


def _is_cue(head: str) -> bool:
    if len(head) > _MAX_HEAD_CHARS:
        return False
    return _word_of(head) in _CUES or head.strip(_MARKS) == "A"


def _without_label(block: str) -> str:
    colon = block.find(":", 0, _MAX_HEAD_CHARS)
    if colon < 0 or _word_of(block[:colon]) not in _LABELS:
        return block
    return block[colon + 1 :].lstrip(_BLANKS + "*") or block
