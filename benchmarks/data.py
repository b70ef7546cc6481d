"""The data every tool is given: question files, choice files, and a tokenizer that needs no hub.

Seven of ten rows carry the answer the stub gives, so an accuracy other than 0.7 means lost or altered requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks import answers

ACCURACY = 0.7
"""What every tool must report on any multiple of ten rows."""
QA_PROMPT = "Answer with a colour, a thing and a number.\nQuestion: {question}\nAnswer:"
CHOICE_PROMPT = "Complete the sentence as the house style asks.\nSentence: {question} It was a"


def qa_rows(count: int) -> Iterator[dict[str, object]]:
    """Question and answer rows."""
    for index in range(count):
        thing = answers.THINGS[index % 8]
        question = f"In entry {index} of the catalogue, what stands beside the {thing} on page {index * 7919 % 10007}?"
        right = answers.answer_to(QA_PROMPT.format(question=question))
        yield {"id": index, "question": question, "answer": right if index % 10 < 7 else "nothing at all"}


def choice_rows(count: int) -> Iterator[dict[str, object]]:
    """Rows with four continuations; `label` is the index of the right one, `answer` its text."""
    for index in range(count):
        question = (
            f"On day {index} of the journey they found something by the road, number {index * 7919 % 10007}."
        )
        context = CHOICE_PROMPT.format(question=question)
        colours = [answers.COLOURS[(index + 3 * step) % 8] for step in range(4)]
        choices = [f" {colour} {answers.THINGS[(index + step) % 8]}" for step, colour in enumerate(colours)]
        likely = max(range(4), key=lambda at: answers.text_logprob(context, choices[at]))
        label = likely if index % 10 < 7 else (likely + 1) % 4
        row = {"id": index, "question": question, "choices": choices}
        yield row | {"label": label, "answer": choices[label]}


def write_rows(path: Path, rows: Iterator[dict[str, object]]) -> Path:
    """Write JSON Lines and return the path."""
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def write_tokenizer(folder: Path, rows: Iterator[dict[str, object]]) -> Path:
    """A tokenizer folder for `AutoTokenizer` that splits choice rows exactly as the stub does."""
    folder.mkdir(parents=True, exist_ok=True)
    words = {"<unk>": 0, "<eos>": 1}
    for row in rows:
        choices = row["choices"]
        assert isinstance(choices, list)
        context = CHOICE_PROMPT.format(question=row["question"])
        for token in answers.TOKEN.findall(context + "".join(choices)):
            words.setdefault(token, len(words))
    special = [
        {"id": at, "content": text, "single_word": False, "lstrip": False, "rstrip": False}
        | {"normalized": False, "special": True}
        for at, text in enumerate(("<unk>", "<eos>"))
    ]
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": answers.TOKEN.pattern},
            "behavior": "Isolated",
            "invert": False,
        },
        "post_processor": None,
        "decoder": {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "<unk>"},
    }
    settings: dict[str, object] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": "<unk>",
        "eos_token": "<eos>",
    }
    settings |= {"clean_up_tokenization_spaces": False, "model_max_length": 2048}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder
