"""The demo model: turn a request body into choices. It is deterministic and uses no clock and no network.

It is a substitute for trying things out, not a language model: it calculates, picks options, follows a few instructions
and otherwise guesses, and it answers wrongly on purpose with probability 1 - skill.
"""

from __future__ import annotations

from benchwright.core import JsonObject, Route, encode_json
from benchwright.demo._answers import Answerer, DemoAnswer, on_one_line
from benchwright.demo._completions import DemoChoice, DemoCompletion, cut, shortened
from benchwright.demo._requests import (
    ChatTexts,
    DemoRefusalError,
    read_count,
    read_limit,
    read_messages,
    read_prompts,
    read_stops,
    read_top,
    read_variation,
)
from benchwright.demo._settings import DemoSettings
from benchwright.demo._words import END, Reader, ScoredToken, chatter, count_tokens, split_tokens

_MESSAGE_TOKENS = 3
"""Tokens counted for a chat message in addition to its text."""
_MAX_TOOL_TEXT_CHARS = 20_000
"""Characters of a question that are searched for arguments, counted from its end."""
_NO_LIMIT_TOKENS = 4096
"""Length of an answer with `ignore_eos` if no limit is sent."""


class DemoModel:
    """The embedded demo model. The same settings, body and repeat always give the same completion.

    >>> DemoModel(DemoSettings(skill=1)).complete("completions", {"model": "demo", "prompt": "2 + 2 ="}).choices[0].text
    ' 4'
    """

    def __init__(self, settings: DemoSettings | None = None) -> None:
        self.settings = settings or DemoSettings()
        self._answerer = Answerer(self.settings.skill, self.settings.seed, self.settings.by_chance)

    def complete(self, route: Route, body: JsonObject, repeat: int = 0) -> DemoCompletion:
        """Answer a request body. Raises `DemoRefusalError` if a field is missing or of the wrong kind."""
        if not isinstance(body.get("model"), str):
            raise DemoRefusalError("'model' must name a model", "model")
        variation = read_variation(body, repeat)
        if self.settings.by_chance:  # each repeat draws again, at any temperature
            variation = f"{repeat}/{body.get('seed')}"
        stops = read_stops(body) if "stop" in body else []
        count = read_count(body, "n", 1) if "n" in body else 1
        if route == "chat":
            return self._chat(body, variation, stops, count)
        return self._completions(body, variation, stops, count)

    def _chat(self, body: JsonObject, variation: str, stops: list[str], count: int) -> DemoCompletion:
        talk = read_messages(body)
        limit = read_limit(body, chat=True)
        top = read_top(body, chat=True) if "logprobs" in body else None
        choices = [self._chat_choice(body, talk, variation, limit, stops, top)]
        for at in range(1, count):
            varied = f"{variation}#{at}" if body.get("temperature") != 0 else variation
            choices.append(self._chat_choice(body, talk, varied, limit, stops, top))
        used = 0
        for text in talk.texts:
            used += count_tokens(text) + _MESSAGE_TOKENS
        return DemoCompletion(choices, used)

    def _chat_choice(
        self,
        body: JsonObject,
        talk: ChatTexts,
        variation: str,
        limit: int | None,
        stops: list[str],
        top: int | None,
    ) -> DemoChoice:
        if talk.tool_result is not None:
            text = f"The result is {talk.tool_result}."
        else:
            if "tools" in body or "(JSON): [" in talk.system:
                called = self._tool_choice(body, talk, variation)
                if called is not None:
                    return called
            answer = self._answerer.answer(talk.user, talk.system, variation)
            text = answer.text if "response_format" not in body else self._formatted(body, talk, answer)
        if "ignore_eos" in body or "min_tokens" in body:
            text = self._lengthened(body, text, limit)
        choice = cut(text, limit, stops)
        if top is not None:
            choice.logprobs = self._chat_logprobs(talk, choice.text, text, top)
        return choice

    def _tool_choice(self, body: JsonObject, talk: ChatTexts, variation: str) -> DemoChoice | None:
        from benchwright.demo._tools import (
            call_tools,
            described_functions,
            offered_tools,
            spoil_call,
            wire_calls,
            written_calls,
        )

        native = "tools" in body
        functions = offered_tools(body) if native else described_functions(talk.texts)
        if not functions:
            return None
        parallel = body.get("parallel_tool_calls") is not False
        calls = call_tools(functions, talk.user[-_MAX_TOOL_TEXT_CHARS:], body.get("tool_choice"), parallel)
        bits = self._answerer.bits(f"{variation}\ntools\n{talk.user}")
        if calls and not self._answerer.is_right(bits):
            calls = spoil_call(calls, bits >> 32)
        if not calls:
            return None
        if not native:
            text = written_calls(calls)
            return DemoChoice(text, "stop", count_tokens(text))
        wired = wire_calls(calls, bits)
        return DemoChoice("", "tool_calls", count_tokens(encode_json(wired).decode()), wired)

    def _formatted(self, body: JsonObject, talk: ChatTexts, answer: DemoAnswer) -> str:
        """Return the answer, as JSON if `response_format` requires it."""
        wanted = body["response_format"]
        kind = wanted.get("type") if isinstance(wanted, dict) else None
        if kind == "json_object":
            return encode_json({"grade" if "GRADE" in talk.user else "answer": answer.said}).decode()
        named = wanted.get("json_schema") if isinstance(wanted, dict) and kind == "json_schema" else None
        schema = named.get("schema") if isinstance(named, dict) else None
        if not isinstance(schema, dict):
            return answer.text
        from benchwright.demo._tools import Filler

        filled = Filler(talk.user).fill(schema)
        for name in ("answer", "grade", "result", "final_answer", "verdict"):
            if name in filled and isinstance(filled[name], str):
                filled[name] = answer.said
        return encode_json(filled).decode()

    def _lengthened(self, body: JsonObject, text: str, limit: int | None) -> str:
        """Append filler text if a load test requests a length by `ignore_eos` or `min_tokens`."""
        most = _NO_LIMIT_TOKENS if limit is None else limit
        wanted = most if body.get("ignore_eos") else min(read_count(body, "min_tokens", 0, 10**6, 0), most)
        missing = wanted - count_tokens(text)
        if missing <= 0:
            return text
        longer = split_tokens(f"{text} {chatter(self._answerer.bits(text), missing)}")
        # With `ignore_eos`, one token more than the limit, so that the finish reason is the length.
        return "".join(longer[: wanted + 1 if body.get("ignore_eos") else wanted])

    def _chat_logprobs(self, talk: ChatTexts, said: str, planned: str, top: int) -> list[ScoredToken]:
        reader = Reader(self.settings.seed, self._answerer.continuations, cues=False)
        reader.read("\n".join(talk.texts) + "\n")
        reader.expect([planned])
        return reader.follow(split_tokens(said), top)

    def _completions(self, body: JsonObject, variation: str, stops: list[str], count: int) -> DemoCompletion:
        prompts = read_prompts(body)
        limit = read_limit(body, chat=False)
        top = read_top(body, chat=False) if "logprobs" in body else None
        choices = []
        for prompt in prompts:
            for at in range(count):
                varied = f"{variation}#{at}" if at and body.get("temperature") != 0 else variation
                choices.append(self._completion_choice(body, prompt, varied, limit or 0, stops, top))
        return DemoCompletion(choices, sum(map(count_tokens, prompts)))

    def _completion_choice(
        self, body: JsonObject, prompt: str, variation: str, limit: int, stops: list[str], top: int | None
    ) -> DemoChoice:
        echo = body.get("echo") is True
        if top is None:
            choice = self._plain_completion(body, prompt, variation, limit, stops)
        else:
            choice = self._scored_completion(body, prompt, variation, limit, stops, top)
            if echo:
                reader = Reader(self.settings.seed, self._answerer.continuations)
                read = reader.follow(split_tokens(prompt), top)
                first = [ScoredToken(token.text) for token in read[:1]]
                choice.logprobs = [*first, *read[1:], *(choice.logprobs or [])]
        if echo:
            choice.text = prompt + choice.text
        return choice

    def _plain_completion(
        self, body: JsonObject, prompt: str, variation: str, limit: int, stops: list[str]
    ) -> DemoChoice:
        if limit == 0:
            return DemoChoice("", "length", 0)
        text = on_one_line(self._answerer.answer(prompt, "", variation).text)
        if not prompt[-1:].isspace():
            text = " " + text
        return cut(self._lengthened(body, text, limit), limit, stops)

    def _scored_completion(
        self, body: JsonObject, prompt: str, variation: str, limit: int, stops: list[str], top: int
    ) -> DemoChoice:
        """Complete a prompt with log-probabilities. Tokens come from the `Reader`, so that echoing them agrees."""
        if limit == 0:
            return DemoChoice("", "length", 0, None, [])
        reader = Reader(self.settings.seed, self._answerer.continuations)
        reader.read(prompt)
        if variation:
            sampled = self._plain_completion(body, prompt, variation, limit, stops)
            sampled.logprobs = reader.follow(split_tokens(sampled.text), top)
            return sampled
        scored: list[ScoredToken] = []
        while len(scored) < limit and (reader.greedy() != END or body.get("ignore_eos")):
            scored += reader.follow([reader.greedy()], top)
        text = "".join(token.text for token in scored)
        choice = cut(text, None, stops)
        if (
            choice.text == text and reader.greedy() != END
        ):  # the limit may fall exactly on the end of the answer
            choice.finish_reason = "length"
        choice.logprobs = shortened(scored, len(choice.text))
        return choice
