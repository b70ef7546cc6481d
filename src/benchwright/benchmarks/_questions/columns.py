"""Recognises columns by name: which names mean a question, options, an answer or a picture, in any case, width and padding."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from string import ascii_uppercase
from typing import Any

from msgspec import Struct, field

from benchwright.benchmarks._fields import is_blank
from benchwright.benchmarks._media_rows import looks_like_media, names_media
from benchwright.benchmarks._questions.options import QuestionOptions
from benchwright.core import Row, UsageError, nearest

LETTERS = ascii_uppercase
"""The labels of options, in order."""

BEYOND = "AA"
"""The column of a 27th option, named as spreadsheets name it. It exists to be refused."""


class Columns(Struct, frozen=True):
    """The columns of a row's question, options and answer, under their names after `mapping`."""

    question: tuple[str, ...] = ("question",)
    """Columns of the question; several are shown one below the other."""
    answer: str = "answer"
    """Column of the expected answer."""
    letters: str = ""
    """The only letters that are options; empty: all consecutive letters from A."""
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Columns of other names that contain options, and the letters they become."""
    from_list: str | None = None
    """The one column that contains all options, if the user names it."""

    @classmethod
    def of(cls, options: QuestionOptions) -> Columns:
        """The columns that the options name. Raises UsageError for options that cannot be lettered."""
        named_letters = set(takewhile(options.input_columns.__contains__, LETTERS))
        given = [
            name for name in options.input_columns if name not in named_letters
        ]  # Q is the question next to A, B
        if len(options.input_columns) == 1:
            given = list(options.input_columns)
        if options.input_columns and not given:
            raise UsageError(
                f"input_columns names only options ({', '.join(options.input_columns)}); name the column of the "
                "question too"
            )
        named = options.options or tuple(name for name in options.input_columns if name not in given)
        answer = options.output_column or cls().answer
        if len(named) == 1 and not _is_letter(named[0]):
            return cls(tuple(given) or cls().question, answer, from_list=named[0])
        if named and not 2 <= len(named) <= len(LETTERS):
            raise UsageError(
                f"options names {len(named)} columns ({', '.join(named)}); expected 2 to {len(LETTERS)}"
            )
        letters = LETTERS[: len(named)]
        mapping = {name: letter for name, letter in zip(named, letters, strict=True) if name != letter}
        if all(_is_letter(name) for name in named) and not mapping.keys().isdisjoint(letters):
            raise UsageError(  # an answer B would mean the column B, or the second option
                f"options is {', '.join(named)}; options follow one another from A, as in {', '.join(letters)}"
            )
        return cls(tuple(given) or cls().question, answer, letters, mapping)

    @property
    def only(self) -> frozenset[str] | None:
        """The letters that count, if not all do."""
        return frozenset(self.letters) if self.letters else None

    def has_answer(self, row: Row) -> bool:
        """Whether a row has an answer."""
        return not is_blank(row.get(self.answer))


def _is_letter(name: str) -> bool:
    return len(name) == 1 and name in LETTERS


_QUESTIONS = ("stem", "ctx", "goal", "query", "problem", "sentence", "prompt", "input")
_PERHAPS_QUESTIONS = (
    "q",
    "questiontext",
    "task",
    "exercise",
    "instruction",
    "instructions",
    "userprompt",
    "user",
    "text",
)
"""Names that are only suggested as the question, never read as it."""
_ANSWERS = (
    "answerkey",
    "answeridx",
    "answerindex",
    "answerletter",
    "answerlabel",
    "correctanswer",
    "correctoption",
    "correctchoice",
    "correctindex",
    "correctidx",
    "correct",
    "rightanswer",
    "goldanswer",
    "goldindex",
    "goldlabel",
    "gold",
    "label",
    "cop",
    "key",
    "target",
    "solution",
)
_TRANSLATED = {
    "question": (
        "frage", "fragestellung", "fragetext", "pregunta", "domanda", "pergunta", "questao", "enonce", "vraag", "pytanie",
        "fraga", "sporsmal", "sporgsmal", "otazka", "вопрос", "问题", "题目", "問題", "質問", "질문", "aufgabe", "aufgabenstellung",
    ),
    "answer": (
        "richtigeantwort", "korrekteantwort", "richtig", "musterlosung", "losung", "bonnereponse", "reponsecorrecte",
        "respuestacorrecta", "rispostacorretta", "respostacorreta", "respostacerta", "juisteantwoord", "poprawnaodpowiedz",
        "antwort", "reponse", "respuesta", "risposta", "resposta", "antwoord", "odpowiedz", "svar", "odpoved",
        "правильныйответ", "ответ", "正确答案", "答案", "正解", "回答", "정답", "답", "loesung", "solucion", "soluzione",
        "korrekt", "correcte", "correcta", "corretta", "correta",
    ),
}  # fmt: skip
"""The usual columns in other languages, the most certain first, without accents."""
_ANSWER_PARTS = re.compile(
    r"answer|solution|groundtruth|completion|expected|antwort|losung|loesung|ergebnis|reponse|respuesta|risposta|resposta|antwoord|"
    r"odpowied"
)
"""What the names of columns with answers contain, also within longer words such as `Musterlösung`."""
_ANSWER_WORDS = (
    "a", "ans", "correct", "right", "gold", "golden", "target", "truth", "reference", "ideal", "output", "response", "reply",
    "result", "results", "resultat", "label", "key", "korrekt", "richtig", "correcte", "correcta", "correcto", "corretta",
)  # fmt: skip
"""Words that make a name an answer's if they stand alone, or with one another."""
_ABOUT = re.compile(
    r"(?:types?|typ|formats?|times?|zeit|dauer|length|lange|id|ids|nr|count|counts|lang|language|sprache|source|quelle|explanation|"
    r"erklarung|rationale|begrundung|status|by|date|datum|model|resolution|auflosung)$"
)
"""What names end with that only describe an answer."""
_LISTS = (
    "antwortmoglichkeiten", "antwortmoeglichkeiten", "antwortoptionen", "antwortauswahl", "optionen", "moglichkeiten", "moeglichkeiten",
    "auswahl", "auswahlmoglichkeiten", "alternativen", "antwortalternativen", "choix", "choixpossibles", "choixdereponse",
    "choixdereponses", "propositions", "reponsespossibles", "opciones", "opcionesderespuesta", "elecciones", "alternativas",
    "respuestasposibles", "opzioni", "scelte", "rispostepossibili", "opcoes", "opties", "keuzes", "opcje", "вариантыответа",
    "вариантыответов", "варианты", "选项", "選択肢", "보기", "choices", "options", "endings", "candidates", "alternatives",
    "answerchoices", "answeroptions", "multiplechoiceoptions",
)  # fmt: skip
"""Names of columns that contain all options, without accents."""
_MEDIA = {
    **dict.fromkeys(("image", "images", "picture", "pictures", "img", "figure"), "image"),
    "video": "video",
    "audio": "audio",
}
"""Names of columns that contain files, with the kind of these files."""
_FAMILY = re.compile(
    r"(?P<stem>op|opt|option|choice|sol|ending|alternative|candidate|answer|ans|resp|response|antwort|antwortmoglichkeit|"
    r"choix|reponse|opcion|respuesta|opzione|risposta|opcao|resposta|optie|antwoord|alternativa)(?P<mark>[a-z]|\d{1,2})"
)
_LETTERED_ONLY = (
    "answer",
    "ans",
    "resp",
    "response",
    "antwort",
    "reponse",
    "respuesta",
    "risposta",
    "resposta",
    "antwoord",
)  # answer1, answer2 are more likely several right answers
_RIGHT = ("correctanswer", "rightanswer", "bestanswer")
_WRONG = re.compile(r"(?:distractor|incorrectanswer|wronganswer)(?P<mark>\d{1,2})")


def same_column(name: str, names: Iterable[str]) -> str | None:
    """The only column that equals `name` apart from case, width and padding.

    >>> same_column("question", [" Question", "id"]), same_column("answer", ["Answer", "ANSWER"])
    (' Question', None)
    """
    return _only(other for other in names if _folded(other) == _folded(name))


def translated_column(name: str, names: Sequence[str]) -> str | None:
    """The column that means a usual one, `question` or `answer`, in another language; None if there is none or several.

    >>> translated_column("question", ["Nr.", "Frage"]), translated_column("answer", ["Réponse", "Bonne réponse"])
    ('Frage', 'Bonne réponse')
    """
    for known in _TRANSLATED.get(name, ()):
        found = [other for other in names if _squashed(other) == known]
        if found:
            return _only(found)
    return None


def lettered_columns(names: Sequence[str]) -> dict[str, str]:
    """Columns called A, B, C, …, and the letters they mean, starting with A; empty if there are fewer than two.

    Full-width and padded capitals count as capitals. Small letters count if no column is a capital A.

    >>> lettered_columns(["question", "Ａ", "Ｂ", "C "]), lettered_columns(["a", "b", "x"]), lettered_columns(["a"])
    ({'Ａ': 'A', 'Ｂ': 'B', 'C ': 'C'}, {'a': 'A', 'b': 'B'}, {})
    """
    for fold in (_wide, str.upper):
        found: dict[str, str] = {}
        for letter in LETTERS:
            name = letter if letter in names else _only(one for one in names if fold(_wide(one)) == letter)
            if name is None:
                break
            found[name] = letter
        if len(found) > 1:
            return found
        if found:  # with a lone A, small letters mean something else
            return {}
    return {}


def numbered_columns(names: Sequence[str]) -> dict[str, str]:
    """Columns such as `opa, opb`, `option_1, option_2` or `ending0, ending1`, and the letters they mean.

    >>> numbered_columns(["goal", "sol1", "sol2", "label"]), numbered_columns(["Option A", "Option B"])
    ({'sol1': 'A', 'sol2': 'B'}, {'Option A': 'A', 'Option B': 'B'})
    """
    families: dict[str, dict[str, str]] = {}
    for name in names:
        found = _FAMILY.fullmatch(_squashed(name))
        if found and not (found["mark"].isdigit() and found["stem"] in _LETTERED_ONLY):
            families.setdefault(found["stem"], {}).setdefault(found["mark"].lstrip("0") or "0", name)
    for marks in families.values():
        for first in ("a", "0", "1"):
            ordered = [marks[mark] for mark in _following(first, marks)]
            if 2 <= len(ordered) <= len(LETTERS):
                return dict(zip(ordered, LETTERS, strict=False))
    return {}


def distractors(names: Sequence[str]) -> tuple[str, ...]:
    """A column with the right answer, then numbered ones with wrong answers, as in `correct_answer, distractor1`; empty if there
    are none."""
    right = _only(name for name in names if _squashed(name) in _RIGHT)
    wrong = {int(found["mark"]): name for name in names if (found := _WRONG.fullmatch(_squashed(name)))}
    if right is None or not wrong:
        return ()
    return right, *(wrong[number] for number in sorted(wrong))


def list_columns(names: Iterable[str]) -> list[str]:
    """Columns that, by their name, contain all options."""
    return [name for name in names if _squashed(name) in _LISTS]


def answer_columns(names: Sequence[str]) -> list[str]:
    """Columns that, by their name, contain the right answer, the most likely first, except `answer` itself."""
    found = {_squashed(name): name for name in reversed(names)}
    return [found[known] for known in _ANSWERS if known in found]


def looks_like_answer(name: str) -> bool:
    """Whether a column contains right answers by its name. It is then never suggested as the question, and rows are not sent
    without scores because it is not used.

    >>> [looks_like_answer(name) for name in ("Solution", "Right answer", "Musterlösung", "completion", "correct")]
    [True, True, True, True, True]
    >>> [looks_like_answer(name) for name in ("Q", "option_a", "Antwort B", "answer_type", "Antwortmöglichkeiten")]
    [False, False, False, False, False]
    """
    plain = _squashed(name)
    if plain in _ANSWERS or plain in _TRANSLATED["answer"]:
        return True
    if plain in _LISTS or _FAMILY.fullmatch(plain) or _WRONG.fullmatch(plain) or _ABOUT.search(plain):
        return False
    words = [_squashed(word) for word in re.split(r"[\W_]+", name) if word]
    return bool(_ANSWER_PARTS.search(plain)) or (bool(words) and all(word in _ANSWER_WORDS for word in words))


def looks_like_content(name: str) -> bool:
    """Whether the name of a column looks like a cell of a row: a question, or a number. It is then never suggested.

    >>> [looks_like_content(name) for name in ("What is 2 + 2?", "4", "-1.5", "question", "Q1")]
    [True, True, True, False, False]
    """
    return bool(re.search(r"[?？؟]\s*$|^\s*[-+]?\d+(?:[.,]\d+)*\s*%?\s*$", name))


def likely_answers(names: Sequence[str]) -> list[str]:
    """The columns that may contain the right answer, to be suggested: by their names, the most likely first.

    >>> likely_answers(["Q", "A"]), likely_answers(["A", "C"]), likely_answers(["anwser", "Solution"]), likely_answers(["a?", "1"])
    (['A'], [], ['Solution', 'anwser'], [])
    """
    letters = [name for name in names if len(name.strip()) == 1 and name.strip() not in "Qq"]
    options = letters if len(letters) > 1 else []  # a lone A next to Q is an answer, A and C are not
    possible = [
        name
        for name in names
        if name not in options and not looks_like_content(name) and not _ABOUT.search(_squashed(name))
    ]
    likely = [name for name in possible if looks_like_answer(name)]
    near = nearest("answer", possible)
    return list(dict.fromkeys([*answer_columns(likely), *likely, *([] if near is None else [near])]))


def likely_question(names: Iterable[str]) -> str | None:
    """The column that may contain the question, to be suggested: by its name, else the only one that can.

    >>> likely_question(["Q", "Solution"]), likely_question(["Solution"]), likely_question(["id", "hint", "Frge", "Ergebnis"])
    ('Q', None, 'Frge')
    >>> likely_question(["topic", "hint", "answer"])
    """
    listed = [name for name in names if not looks_like_content(name)]
    options = {*list_columns(listed), *numbered_columns(listed), *lettered_columns(listed)}
    possible = [name for name in listed if name not in options and not looks_like_answer(name)]
    known = (*_QUESTIONS, *_TRANSLATED["question"], *_PERHAPS_QUESTIONS)
    for usual in ("question", *known):
        if found := [name for name in possible if _squashed(name) == usual]:
            return found[0]
    near = next((near for usual in ("question", "frage") if (near := nearest(usual, possible))), None)
    return near or (possible[0] if len(possible) == 1 else None)


def is_working(name: str) -> bool:
    """Whether a column may contain the working or something else, if another column has the answer."""
    return _squashed(name) in ("solution", "key", "correct")


def question_column(names: Sequence[str]) -> str | None:
    """The only column that, by its name, contains the question, if none is called `question`."""
    return _only(name for name in names if _squashed(name) in _QUESTIONS)


def media_columns(names: Iterable[str]) -> dict[str, str]:
    """Columns that, by their name, contain images, videos or sounds, and which of these."""
    return {name: _MEDIA[known] for name in names if (known := _squashed(name)) in _MEDIA}


def _following(first: str, marks: Mapping[str, str]) -> Iterator[str]:
    mark = first
    while mark in marks:
        yield mark
        mark = str(int(mark) + 1) if mark.isdigit() else chr(ord(mark) + 1)


def _only(found: Iterable[str]) -> str | None:
    names = list(found)
    return names[0] if len(names) == 1 else None


def _wide(name: str) -> str:
    return name if name.isascii() and name == name.strip() else unicodedata.normalize("NFKC", name).strip()


def _folded(name: str) -> str:
    return _wide(name).casefold()


def _squashed(name: str) -> str:
    squashed = re.sub(r"[\s_.:?-]+", "", _folded(name))
    if squashed.isascii():
        return squashed
    apart = unicodedata.normalize("NFD", squashed)
    return unicodedata.normalize("NFC", "".join(one for one in apart if unicodedata.category(one) != "Mn"))


def columns_of_media(rows: Sequence[Row], names: Sequence[str]) -> dict[str, str]:
    """Columns such as `image` whose cells name files that can be sent, with the kind of these files.

    None if the rows name their files in `media`, or in `type` and `path`. Raises UsageError for a column that
    should contain files by its name but whose cells cannot be sent, because the model would not see the picture.
    """
    if names_media(set(names)):
        return {}
    found = {}
    for name, kind in media_columns(names).items():
        cells = [cell for row in rows if (cell := row.get(name)) not in (None, "", [])]
        if any(map(_can_be_sent, cells)):
            found[name] = kind
        elif cells and name.strip().casefold() != "figure":  # a figure may be a number
            raise UsageError(
                f'column "{name}" contains nothing that can be sent as {kind}: {_short(cells[0])}. Write the path of a file '
                f"(relative to the data file), a data: URL or an http:// address in each row; if the column is not part "
                "of the question, rename or remove it"
            )
    return found


def shown_by(columns: Mapping[str, str], shape: Callable[[Row], Row] | None) -> Callable[[Row], Row]:
    """The function that gives a row its `media` from those columns, after `shape`."""

    def with_media(row: Row) -> Row:
        media = [
            {"type": kind, "path": cell}
            for name, kind in columns.items()
            if (cell := row.get(name)) not in (None, "", [])
        ]
        shaped = row if shape is None else shape(row)
        return {**shaped, "media": media} if media else shaped

    return with_media


def _can_be_sent(cell: Any) -> bool:
    first = cell[0] if isinstance(cell, list) and cell else cell
    return looks_like_media(cell) or (
        isinstance(first, str) and first.strip().lower().startswith(("http://", "https://"))
    )


def _short(cell: Any) -> str:
    text = repr(cell)
    return text if len(text) <= 60 else f"{text[:60]}…"
