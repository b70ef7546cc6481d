"""Words of numbers: scales such as `million`, numbers in words, and the language that decides what a comma means."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache

from benchwright.scorers._quantity.numerals import Mark

_SCALES: tuple[tuple[str, int], ...] = (
    (r"thousands?|tausend|mille|mil|mila|тыс(?:\.|яч[аи]?)?|千", 3),
    (r"lakhs?", 5),
    (
        r"millions?|mio\.?|mn|millionen|millone?s?|millón|milion[ei]|milh(?:ão|ões)|млн\.?|миллион(?:а|ов)?|百万",
        6,
    ),
    (r"crores?", 7),
    (r"milliarden?|milliards?|miliard[ioy]?|mrd\.?|md|bn|миллиард(?:а|ов)?|млрд\.?|mil\smillones", 9),
    (r"billionen|billones|billón|биллион(?:а|ов)?", 12),
    (r"万|萬", 4),
    (r"亿|億", 8),
    (r"hundreds?|hundert|cents?(?=\smille)", 2),
)
_ENGLISH_SCALES = {"billion": 9, "billions": 9, "trillion": 12, "trillions": 12}
"""In other languages these words mean a thousand or a million times as much."""
_LETTER_SCALES = {"k": 3, "K": 3, "M": 6, "B": 9, "T": 12, "bn": 9, "mn": 6, "m": 6}


@cache
def scale_pattern() -> re.Pattern[str]:
    """Matches a word of scale after a number, in small letters."""
    names = "|".join(f"(?P<s{at}>{words})" for at, (words, _) in enumerate(_SCALES))
    return re.compile(rf"[ -]?(?:{names}|(?P<english>billions?|trillions?))(?![^\W\d_\u2e80-\u9fff])")


def scale_of(found: re.Match[str], *, english: bool) -> int | None:
    """The power of ten that a match of `scale_pattern` means; None if it depends on the language."""
    if found["english"]:
        return _ENGLISH_SCALES[found["english"].lower()] if english else None
    return next(power for at, (_, power) in enumerate(_SCALES) if found[f"s{at}"])


@cache
def letter_scale_pattern() -> re.Pattern[str]:
    """Matches a letter of scale directly after a number: `5k`, `2.5M`."""
    return re.compile(r"(bn|mn|[kKmMBT])(?![\w/²³^])")


def letter_scale(letters: str) -> int:
    """Its power of ten."""
    return _LETTER_SCALES[letters]


_TO_NINETEEN = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen
"""
_UNITS = {word: value for value, word in enumerate(_TO_NINETEEN.split())}
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_BIG = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4, "fifth": 5,
    "fifths": 5, "sixth": 6, "sixths": 6, "seventh": 7, "sevenths": 7, "eighth": 8, "eighths": 8, "ninth": 9, "ninths": 9,
    "tenth": 10, "tenths": 10,
}  # fmt: skip
_ELSEWHERE = {
    word: value
    for words in (
        "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
        " achtzehn neunzehn zwanzig",
        "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit"
        " dix-neuf vingt",
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete"
        " dieciocho diecinueve veinte",
        "ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать"
        " пятнадцать шестнадцать семнадцать восемнадцать девятнадцать двадцать",
        "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette"
        " diciotto diciannove venti",
        "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove"
        " vinte",
        "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien"
        " negentien twintig",
    )
    for value, word in enumerate(words.split())
    # These are also words of other languages, or articles.
    if word
    not in (
        "zero",
        "six",
        "once",
        "onze",
        "null",
        "nul",
        "elf",
        "un",
        "uno",
        "um",
        "een",
        "due",
        "sei",
        "nove",
    )
}
_TENS_ELSEWHERE = {
    word: value
    for value, words in {
        30: "dreißig trente treinta тридцать trenta trinta dertig",
        40: "vierzig quarante cuarenta сорок quaranta quarenta veertig",
        50: "fünfzig cinquante cincuenta пятьдесят cinquanta cinquenta vijftig",
        60: "sechzig soixante sesenta шестьдесят sessanta sessenta zestig",
        70: "siebzig setenta семьдесят settanta zeventig",
        80: "achtzig quatre-vingt quatre-vingts ochenta восемьдесят ottanta oitenta tachtig",
        90: "neunzig quatre-vingt-dix noventa девяносто novanta negentig",
        100: "hundert einhundert cent cien сто cento honderd",
        12: "douzaine docena dúzia dozzina dutzend dozijn дюжина",
        1000: "tausend eintausend mille mil тысяча duizend",
    }.items()
    for word in words.split()
}
_FOREIGN = {**_ELSEWHERE, **_TENS_ELSEWHERE}
_ONES = {"un": 1, "uno": 1, "um": 1, "due": 2, "sei": 6}
"""Words that are numbers only after tens."""
_HUNDREDS = (
    "cents", "ientos", "ientas", "centos", "centas", "cento", "hundert", "tausend", "mila", "mille", "mil", "тысяч", "тысячи", "тысяча", "сот",
    "ста", "honderd", "duizend", "millions", "million", "millionen", "millones", "milioni", "milhões", "миллион", "миллиона", "миллионов",
)  # fmt: skip
"""How words end that multiply or follow a number."""
_ENGLISH = "|".join(sorted((*_UNITS, *_TENS, *_BIG, "half", "dozen"), key=len, reverse=True))


@cache
def spelled_pattern() -> re.Pattern[str]:
    """Matches a number in words, in small letters: English ones, and single words of other languages."""
    part = "|".join(sorted(_PARTS, key=len, reverse=True))
    foreign = "|".join(sorted(_FOREIGN, key=len, reverse=True))
    ones = "|".join(word for word, value in _ELSEWHERE.items() if 0 < value < 20)
    ones = "|".join((ones, *_ONES))
    und = "|".join(
        word
        for word, value in _ELSEWHERE.items()
        if (value in range(2, 10) and word.isascii()) or word == "fünf"
    )
    return re.compile(
        rf"(?<![\w-])(?:(?P<english>(?:(?:minus|negative)\s)?(?:an?\s(?={_ENGLISH}|{part}))?(?:half\sa(?=\s(?:dozen|hundred|thousand|million))|(?<!several\s)(?<!few\s)(?<!some\s)(?<!many\s)(?<!couple\sof\s)(?:{_ENGLISH})|(?<=a\s)(?:{part}))(?:(?:[\s-]|\sand\s(?:an?\s)?)"
        rf"(?:{_ENGLISH}|{part})){{0,12}})|(?:(?P<minus>minus|moins|menos|meno|минус)\s)?(?:(?P<german>(?:ein|{und})und(?:zwan|drei|vier|fünf|sech|sieb|acht|neun)(?:zig|ßig))"
        rf"|(?P<foreign>{foreign})(?:(?:-|-et-|\s(?:et|y|e)\s|\s(?=[а-я]))(?P<ones>{ones}))?(?P<thousand>\s(?:mille|mil|mila|tausend|тысяч[аи]?))?))(?![\w-])"
    )


def spelled_value(found: re.Match[str]) -> Fraction | None:
    """The value of a match of `spelled_pattern`; None if the words make no number.

    >>> [spelled_value(spelled_pattern().fullmatch(text)) for text in ("one hundred and five", "two thirds", "half")]
    [Fraction(105, 1), Fraction(2, 3), Fraction(1, 2)]
    """
    if found["english"]:
        words = [word for word in re.split(r"[\s-]+", found["english"].lower()) if word != "and"]
        negative = words[0] in ("minus", "negative")
        value = _english(words[negative:])
    else:
        negative = found["minus"] is not None
        value = _elsewhere(found) if found["foreign"] else _german(found["german"].lower())
    return None if value is None else -value if negative else value


def _german(word: str) -> Fraction:
    """The value of a word such as `einundzwanzig`."""
    ones, _, tens = word.partition("und")
    number = {"ein": 1}.get(ones) or _ELSEWHERE[ones]
    stems = ("zwan", "drei", "vier", "fünf", "sech", "sieb", "acht", "neun")
    return Fraction(number + 10 * (2 + next(at for at, stem in enumerate(stems) if tens.startswith(stem))))


def _elsewhere(found: re.Match[str]) -> Fraction | None:
    """The value of a number up to 119, or of so many thousand, in another language; None if it goes on: `cent vingt`."""
    following = re.match(
        r"[\s-](?:(?:et|y|e)\s)?([^\W\d_]{2,20})", found.string[found.end() : found.end() + 30]
    )
    if following and (following[1].lower() in _FOREIGN or following[1].lower().endswith(_HUNDREDS)):
        return None
    value, ones = _FOREIGN[found["foreign"].lower()], (found["ones"] or "").lower()
    if ones:
        below = _ONES.get(ones) or _FOREIGN[ones]
        if value not in range(20, 101) or below not in range(1, 20):
            return None
        value += below
    return Fraction(value * 1000 if found["thousand"] else value)


def _english(words: list[str]) -> Fraction | None:
    if words and words[-1] in _PARTS:
        above = words[:-1]
        count = 1 if above in ([], ["a"], ["an"]) else _whole(above)
        if len(above) > 1 and above[-1] in ("a", "an", "one"):  # two and a half
            whole = _whole(above[:-1])
            return None if whole is None else whole + Fraction(1, _PARTS[words[-1]])
        return None if count is None else Fraction(count, _PARTS[words[-1]])
    if words[:2] == ["half", "a"] or (len(words) > 1 and words[0] == "half"):
        rest = _whole(words[1:])
        return None if rest is None else Fraction(rest, 2)
    whole = _whole(words)
    return None if whole is None else Fraction(whole)


def _whole(words: list[str]) -> int | None:
    total = part = 0
    seen = ""
    for word in words:
        if word in ("a", "an"):
            if seen:
                return None
            seen = "a"
        elif word in _UNITS:
            if seen == "unit" or (seen == "ten" and _UNITS[word] not in range(1, 10)):
                return None
            part += _UNITS[word]
            seen = "unit"
        elif word in _TENS:
            if seen in ("unit", "ten"):
                return None
            part += _TENS[word]
            seen = "ten"
        elif word == "dozen":
            part, seen = (part or 1) * 12, "big"
        elif word == "hundred":
            part, seen = (part or 1) * 100, "hundred"
        elif word in _BIG:
            total, part, seen = total + (part or 1) * _BIG[word], 0, "big"
        else:
            return None
    return total + part if words else None


def is_scale(text: str, at: int) -> bool:
    """Whether the word at `at` belongs to the digits before it: `25 million`."""
    return text[max(0, at - 3) : at].rstrip()[-1:].isdigit()


_COMMA_WORDS = """
der das und sind eine einen nicht beträgt beläuft ergebnis antwort lautet ergibt insgesamt damit ungefähr etwa rund
endergebnis lösung wert summe gleich kostet kosten haben wir also somit daher zusammen ist von mit auf im beim
le les est et donc réponse résultat une des soit égale environ fait vaut coûte sont nous il elle pour dans au du
el los las es y respuesta resultado son por hay aproximadamente entonces tiene cuesta vale una del en menos
è risposta risultato sono della gli quindi costa os um uma é resposta são custa
het een antwoord jest wynosi odpowiedź wynik svaret är svar er cevap odpověď je vastaus
"""
_POINT_WORDS = """
the is are of and answer result so therefore thus we she he they it has have that this to there was were which
final value equals approximately about
"""


def decimal_mark(text: str) -> Mark | None:
    """The decimal mark of the language that a text seems to be written in; None if that is not clear.

    >>> decimal_mark("Das Ergebnis ist"), decimal_mark("The result is"), decimal_mark("= ")
    (',', '.', None)
    """
    words = re.findall(r"[^\W\d_]+", text.lower())
    if any("а" <= word[0] <= "я" for word in words):
        return ","
    commas, points = (sum(word in known for word in words) for known in _known_words())
    if commas == points:
        return None
    return "," if commas > points else "."


@cache
def _known_words() -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(_COMMA_WORDS.split()), frozenset(_POINT_WORDS.split())
