"""What a question for yes or no asks: its words, what negates it, and the claim that it puts up for judgement.

Words are compared without endings, and words of opposite meaning as one word with a sign: `fell` is `rise`, negated. A question
may ask for a defect or a falsehood (`Is it wrong …?`, `Is there a bug …?`): then `correct` means no.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from msgspec import Struct

from benchwright.scorers._replies import listed

_AUXILIARY = r"(?:is|are|was|were|am|do|does|did|can|could|will|would|has|have|had|should|shall|may|might|must|ought|need)"
_GROUPS = listed(
    "is_are_was_were_am_be do_does_did can_could will_would_shall has_have_had should_ought_must_need"
    " may_might"
)
_ASKS = rf"(?:(?:so|and|but|then|also|now|yes\sor\sno|question|q)[,:]?\s){{0,2}}(?:please\s)?(?P<aux>{_AUXILIARY})(?P<not>n't|\snot)?(?!\w)"
_ASKS_INSIDE = rf"[,:]\s(?P<aux>{_AUXILIARY})(?P<not>n't)?\s(?!not\s)"
"""After what is given: `Given that squares are rectangles, is every rectangle a square?`"""
_OPEN_QUESTION = (
    r"(?:who|what|when|where|why|how|which|whose|whom|wer|was|wann|wo|warum|wie|welche[rsn]?|wieviel|qui|que|quand|où|pourquoi|comment|quel(?:le)?s?|combien"
    r"|qué|quién|cuándo|dónde|cómo|cuál|cuánto|che|chi|quando|dove|perché|come|quale|quanto|o\sque|quem|onde|como|qual|что|кто|когда|где|почему|как)(?!\w)"
)
_THAT = (
    r"(?:is|was|isn't|wasn't)\s(?:it|this)\s(?:indeed\s|actually\s|really\s)?(?P<word>true|false|correct|incorrect|wrong|right|untrue|accurate|inaccurate"
    r"|a\smyth|a\s(?:common\s|popular\s)?misconception|a\slie|a\shoax|a\sfact|the\scase|fair\sto\ssay|safe\sto\ssay|possible|impossible|likely|unlikely|legal|illegal)\s(?:that|for|to)\s"
)
_TRUE_OR_FALSE = r"(?:true\sor\sfalse|false\sor\strue|t/f|right\sor\swrong|correct\sor\sincorrect|yes\sor\sno|agree\sor\sdisagree|fact\sor\s(?:myth|fiction))"
_STATEMENT = (
    r"(?:statement|claim|sentence|assertion|hypothesis|conclusion|proposition|fact|argument|equation|answer)"
)
_ABOUT_STATEMENT = rf"(?:(?:the\s|this\s|that\s|following\s|above\s|given\s|below\s)+{_STATEMENT}|^(?:is|was)\s(?:this|that|the\sfollowing)\s(?:true|correct|right|false|wrong|accurate))(?!\w)"
_CLAIM = r"(?<!\w)(?:claim|hypothesis|statement|assertion|conclusion)\s?:\s?"
_THE_CLAIM_THAT = rf"(?:the|this)\s{_STATEMENT}\s(?:that|,)\s"
_SUPPORT = r"(?<!\w)(?:support(?:s|ed)?|entail(?:s|ed)?|follows?|impl(?:y|ies|ied)|back(?:s|ed)\sup|confirm(?:s|ed)?|justif(?:y|ies|ied)|mention(?:s|ed)?|state[sd]?|say|says)(?!\w)"
_TRUTH = r"true|correct|right|accurate|valid|acceptable|grammatical|false|wrong|incorrect|inaccurate|mistaken|justified|sound"
_DEFECT = (
    r"(?<!\w)(?:error|errors|mistake|mistakes|bug|bugs|flaw|flaws|typo|typos|false|wrong|incorrect|untrue|inaccurate|invalid|myth|misconception|fallacy"
    r"|mistaken|hoax|lie|contradiction|contradict|contradicts|contradicted|refuted?|refutes|falsch|unwahr|fehler|faux|fausse|erreur|falso|falsa|error|mentira|errore|erro|ложь|неверно)(?!\w)"
)
NEGATIVE = (
    r"(?:n't|(?<!\w)(?:not|never|cannot|can't|no\slonger|nor|neither|hardly|scarcely|barely|nobody|nothing|none|nowhere|no(?!\.)|lacks?|lacking|lacked|fails?(?=\sto)|failed(?=\sto)|unable|ceased(?=\sto)|stopped"
    r"|nicht|kein|keine|keinen|keiner|keinem|keines|niemals|nie|ne|n'\w+|pas|jamais|aucune?|nunca|tampoco|ninguna?|ningún|nadie|nada|não|nenhuma?|non|nessuna?|mai|не|нет|никогда|niet|geen|nooit))(?!\w)"
)
_INNER_NEGATIVE = r"(?<!\w)(?:never|no|nothing|none|nobody|no\slonger|not|kein|keine|keinen|nicht|nie|jamais|nunca|ninguna?|nenhuma?|nessuna?|не)(?!\w)"
_WORD = r"[^\W_]+(?:'s)?"
_STOP_WORDS = """
a an the of in on at to for from by with as and or that this these those it its he she they them his her their there one ones you your we
our i my me mine yours is are was were am be been being do does did done can could will would has have had having should shall may might must not no never
any anyone anything nobody nothing none ever still also indeed really actually very so therefore thus hence conclusion than then which who whose
what when where cannot isn aren wasn weren don doesn didn couldn wouldn hasn haven hadn shouldn mustn needn t s n ll ve re d up out if into about
quite just such both each other own same_as all_right according overall clearly definitely certainly probably likely generally usually typically
currently officially technically strictly speaking actually fact case too either neither nor again here now today yet already only after_all
please look looks looking like seem seems seemed appear appears appeared sounds way such following statement sentence text passage claim answer question given based yes true false correct incorrect
der die das den dem des ein eine einen einem einer und oder ist sind war waren wird werden hat haben hatte kann können in im am an auf aus bei mit von vom zu zum zur
für nicht kein keine es er sie sich auch als dass man wenn also daher somit damit tatsächlich wirklich demnach
le la les un une des du de d l et ou est sont était a ont été peut en dans sur par pour avec ce cette ces il elle ils elles on que qui ne n pas se s y donc
el los las una unos unas y o es son fue era ha han puede en por para con del al se lo su sus que no ni muy más
il lo gli i uno una e è sono era ha hanno può di da in con su per tra fra del della dello dei degli delle nel nella al alla non si che quindi
o os as um uma e é são foi era tem têm pode em no na nos nas do da dos das por para com se não que portanto
и в на с по из к у о не это он она они был была было есть ли что как
"""
OPPOSITES = """
increase rise grow climb gain rose risen grew grown expand / decrease fall drop shrink decline fell fallen shrank shrunk dwindle
larger bigger greater / smaller
higher / lower
more / less fewer
positive favourable favorable praise* enthusiastic* upbeat* / negative unfavourable unfavorable critical* pessimistic* hostile*
spam junk phishing* phish* scam* fraudulent* fraud* fake forged counterfeit bogus unsolicited* | legitimate legit genuine ham authentic real
toxic offensive* abusive* hateful* insulting* harassing* / civil respectful polite courteous nontoxic inoffensive
safe harmless benign* | unsafe dangerous hazardous harmful risky* poisonous*
legal lawful permitted allowed permissible allow permit | illegal unlawful forbidden prohibited banned outlawed verboten interdit prohibido proibito proibido vietato
same identical equivalent equal paraphrase paraphrases synonymous interchangeable duplicate* duplicates* match* | different distinct differ differs unequal unrelated*
possible feasible doable | impossible infeasible
error mistake bug flaw typo problem issue fault defect | flawless
prime | composite
rational | irrational
eligible entitled qualified | ineligible disqualified
valid sound | invalid unsound
open geöffnet offen ouvert abierto aperto aberto открыт / closed shut geschlossen fermé cerrado chiuso fechado закрыт
alive living | dead extinct* deceased
win won / lose lost
pass passed / fail failed
guilty / innocent acquitted
older / younger
longer taller / shorter
heavier / lighter
faster quicker / slower
hotter warmer / colder cooler
cheaper / dearer pricier costlier
wet / dry
hot warm / cold
include contain / exclude omit
accept accepted approve approved / reject rejected deny denied refuse refused
sarcastic ironic / sincere literal
formal / informal casual
subjective opinion / objective factual
domestic / wild
edible | inedible
healthy / unhealthy
supported support entailed entail entailment / unsupported contradicted contradict contradiction refuted refute
renewable | nonrenewable
visible | invisible
mortal | immortal
moral ethical / immoral unethical
biased / unbiased neutral impartial
punctual / late delayed overdue
public / private
mandatory required compulsory obligatory necessary | optional voluntary* unnecessary
vegan | nonvegan
friend ally / enemy foe
buy purchase / sell
agree / disagree
present attend / absent miss
permanent / temporary
natural / artificial synthetic
married | unmarried single* divorced*
full / empty
awake / asleep
strong / weak
northern north / southern south
eastern east / western west
acidic acid / alkaline
convex / concave
singular / plural
nocturnal / diurnal
carnivore carnivorous / herbivore herbivorous
optimistic / pessimistic gloomy
enjoy love loved adore / hate hated detest dislike
succeed success successful / fail failure unsuccessful
satisfied happy pleased / dissatisfied unhappy displeased disappointed
start begin begun / end finish
even | odd
"""
"""Words of opposite meaning. With `|` one of both holds: what is not illegal is legal. With `/` there is a third: what is not negative
may be neutral. A word with a star says more than its row: what is not extinct may be dead."""
_IRREGULAR = """
use used using die died dying go went gone see saw seen write wrote written sing sang sung build built make made take took taken get got gotten give gave given
eat ate eaten drink drank drunk begin began begun become became buy bought sell sold know knew known speak spoke spoken break broke broken freeze froze frozen
think thought find found lead led leave left meet met fly flew flown swim swam swum run ran hold held keep kept stand stood catch caught teach taught bring brought
fight fought sleep slept feel felt choose chose chosen come came drive drove driven ride rode ridden wear wore worn steal stole stolen throw threw thrown draw drew drawn
show showed shown pay paid lie lay lain lying sit sat send sent spend spent lend lent bend bent understand understood hear heard tell told bite bit bitten hide hid hidden
child children man men woman women person people foot feet tooth teeth mouse mice goose geese wolf wolves leaf leaves life lives
"""
"""Words whose other forms, which follow each of `_BASES`, do not differ by an ending."""
_BASES = frozenset(
    listed(
        "use die go see write sing build make take get give eat drink begin become buy sell know speak break"
        " freeze think find lead leave meet fly swim run hold keep stand catch teach bring fight sleep feel"
        " choose come drive ride wear steal throw draw show pay lie sit send spend lend bend understand hear"
        " tell bite hide child man woman person foot tooth mouse goose wolf leaf life"
    )
)
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis")


class YesNoQuestion(Struct, frozen=True):
    """What is asked."""

    text: str
    """The sentence that asks, in lower case, without its question mark."""
    auxiliary: frozenset[str]
    """The verb that it begins with, and its forms; empty in other languages than English."""
    words: tuple[str, ...]
    """The words that carry meaning, without endings, in order."""
    negative: bool
    """Whether what is asked contains a negation: `Did they receive no placebo?`"""
    sign: int
    """-1 if it asks for a defect or a falsehood."""
    judges: bool
    """Whether it asks if a statement is true, supported or correct, or for a class."""
    supports: bool
    """Whether it asks if a text supports a claim."""
    claim: tuple[str, ...]
    """The words of the statement that is to be judged, if there is one."""
    claim_negative: bool
    english: bool
    options: tuple[tuple[str, bool], ...] = ()
    """The options that stand for yes and no: `1 = yes`."""


@lru_cache(maxsize=256)
def read_question(question: str) -> YesNoQuestion | None:
    """What a question asks; None if it does not ask for yes or no."""
    whole = _plain(question[-6_000:].strip().lower())
    if not whole:
        return None
    bare = _compiled(r"\"[^\"\n]{0,600}\"|“[^”\n]{0,600}”|«[^»\n]{0,600}»|„[^“”\n]{0,600}[“”]").sub(
        " ", whole
    )
    quoted = " ".join(
        _compiled(r"\"([^\"\n]{3,600})\"|“([^”\n]{3,600})”").sub(r" \1\2 ", found[0])
        for found in _compiled(r"\"[^\"\n]{3,600}\"|“[^”\n]{3,600}”").finditer(whole)
    )
    sentences = [
        one.strip()
        for one in _compiled(r"[^.!?\n]+(?:\.(?=\w)[^.!?\n]*)*[.!?\n]?").findall(bare)
        if one.strip(" .!?\n")
    ]
    asked: re.Match[str] | None = None
    text = ""
    for one in reversed(sentences):
        begin = _compiled(_ASKS).match(one)
        if begin and (one.endswith("?") or len(sentences) == 1 or "?" not in bare):
            asked, text = begin, one[begin.start("aux") :]
            break
        inside = _compiled(_ASKS_INSIDE).search(one) if one.endswith("?") else None
        if inside:
            asked, text = inside, one[inside.start("aux") :]
            break
    if asked is None:
        return _without_auxiliary(whole, bare, quoted, sentences)
    text = text.rstrip("? ").strip()
    auxiliary = next(
        (frozenset(group.split()) for group in _GROUPS if asked["aux"] in group.split()), frozenset[str]()
    )
    body = text[len(asked["aux"]) + len(asked["not"] or "") :].strip()
    options = tuple(
        (found["name"], found["value"] in ("yes", "true"))
        for found in _compiled(
            r"\(?(?<!\w)(?P<name>[a-d0-9])(?:\s?[=:.)]\s?|\s(?:for|if|means|meaning)\s)(?P<value>yes|no|true|false)(?!\w)"
        ).finditer(question[-6_000:].lower())
    )
    that = _compiled(_THAT).match(text)
    claim = ""
    judges = False
    if (
        that
        and that["word"] not in ("possible", "impossible", "likely", "unlikely", "legal", "illegal")
        and not that[0].endswith(" to ")
    ):
        claim, judges = text[that.end() :], True
    elif found := _compiled(_THE_CLAIM_THAT).search(text):
        claim, judges = text[found.end() :], True
    elif _compiled(rf"(?<!\w)(?:{_TRUTH})$").search(text) and asked["aux"] in ("is", "are", "was", "were"):
        judges = True
        claim = quoted
    elif _compiled(_ABOUT_STATEMENT).search(text) or (found := _compiled(_CLAIM).search(bare)):
        labelled = [*_compiled(_CLAIM).finditer(whole)]
        after = whole.rpartition("?")[2].strip()
        claim = whole[labelled[-1].end() :].partition("\n")[0] if labelled else quoted or after
        judges = True
    supports = judges and _compiled(_SUPPORT).search(text) is not None
    judged = text[: text.find(claim)] if claim and claim in text else text
    defect = _compiled(_DEFECT).search(judged) is not None
    return YesNoQuestion(
        text=text,
        auxiliary=auxiliary,
        words=content(text if not claim or claim not in text else claim)
        if not judges
        else content(claim or text),
        negative=_compiled(_INNER_NEGATIVE).search(claim if claim in body and claim else body) is not None,
        sign=-1 if defect else 1,
        judges=judges,
        supports=supports,
        claim=content(claim),
        claim_negative=_compiled(NEGATIVE).search(claim) is not None,
        english=True,
        options=options,
    )


def _without_auxiliary(whole: str, bare: str, quoted: str, sentences: list[str]) -> YesNoQuestion | None:
    """`True or false: …`, a claim to judge, or a question in another language."""
    either = _compiled(_TRUE_OR_FALSE).search(bare)
    labelled = [*_compiled(_CLAIM).finditer(whole)]
    if either or labelled:
        rest = whole[either.end() :].strip(" :?.,\n") if either else ""
        claim = (
            whole[labelled[-1].end() :]
            if labelled
            else rest or quoted or whole[: either.start() if either else 0]
        )
        claim = claim.strip(" :?.\n")
        return YesNoQuestion(
            claim,
            frozenset(),
            content(claim),
            _compiled(_INNER_NEGATIVE).search(claim) is not None,
            1,
            True,
            False,
            content(claim),
            _compiled(NEGATIVE).search(claim) is not None,
            True,
        )
    asking = [one for one in sentences if one.endswith("?")]
    if not asking:
        return None
    text = asking[-1].strip("¿? \u00a0")
    if _compiled(_OPEN_QUESTION).match(text) or not content(text):
        return None
    return YesNoQuestion(
        text,
        frozenset(),
        content(text),
        _compiled(_INNER_NEGATIVE).search(text) is not None,
        -1 if _compiled(_DEFECT).search(text) else 1,
        False,
        False,
        (),
        False,
        False,
    )


def _plain(text: str) -> str:
    """Without what is in brackets, and numbers such as `No. 9` without the word."""
    if "." in text:
        text = _compiled(r"(?<!\w)([a-z])\.\s?([a-z])\.").sub(r"\1\2", text)
        text = _compiled(r"(?<!\w)(mr|mrs|ms|dr|st|vs|approx|prof)\.").sub(r"\1", text)
    return _compiled(r"\s?\([^()\n]{0,80}\)|(?<!\w)no\.\s?(?=\d)|\*").sub("", text.replace("’", "'"))


@lru_cache(maxsize=256)  # one clause is asked about many times
def content(text: str) -> tuple[str, ...]:
    """The words that carry meaning, without endings, in order."""
    words = _compiled(_WORD).findall(text.replace("won't", ""))
    return tuple([meant for word in words if (meant := _MEANT[word])])


class _Meant(dict[str, str]):
    """Word → its stem; nothing for a word that carries no meaning."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _KEPT:
            self.clear()
        meant = self[word] = "" if word.removesuffix("'s") in _stop_words() else stem(word)
        return meant


_KEPT = 20_000
"""Words that are remembered; most texts are made of a few thousand."""
_MEANT = _Meant()


def signed(text: str, known: frozenset[str]) -> list[tuple[str, int]]:
    """The words of a reply with their sign: below 0 for the opposite of a word of the question, and 2 or -2 where the word without
    a negation decides, but with one leaves open what was asked: `not cold` is not `hot`."""
    signs = _signs(known)
    return [signs[word] for word in content(text)]


class _Signs(dict[str, tuple[str, int]]):
    """Word of a reply → the word of the question that it means, and its sign."""

    def __init__(self, known: frozenset[str]) -> None:
        super().__init__((word, (word, 1)) for word in known)
        ordered = sorted(known, reverse=True)  # of several that fit, the first in the alphabet
        self._known = known
        self._rows = {_opposites()[one].row: one for one in ordered if one in _opposites()}
        self._alike = [one for one in ordered[::-1] if len(one) > 6]

    def __missing__(self, word: str) -> tuple[str, int]:
        if len(self) >= _KEPT:
            self.clear()
        found = self[word] = self._signed(word)
        return found

    def _signed(self, word: str) -> tuple[str, int]:
        if word in self._known:
            return word, 1
        meant = _opposites().get(word)
        other = self._rows.get(meant.row) if meant else None
        if meant and other:
            theirs = _opposites()[other]
            if meant.side == theirs.side:
                return other, 2 if meant.narrow else 1
            return other, -2 if meant.contrary or meant.narrow or theirs.narrow else -1
        for one in self._alike:
            if _alike(word, one):
                return one, 1
        for prefix in _PREFIXES:
            for one in (word.removeprefix(prefix), prefix + word):
                if (
                    one in self._known
                    and one != word
                    and min(len(one), len(word)) > (2 if len(one) < len(word) else 3)
                ):
                    return one, -1 if prefix == "non" else -2
        return word, 1


@lru_cache(maxsize=256)
def _signs(known: frozenset[str]) -> _Signs:
    return _Signs(known)


def leaves_open(words: list[tuple[str, int]]) -> bool:
    """Whether the negation of signed words says neither yes nor no: `not cold`."""
    return any(abs(sign) == 2 for _, sign in words)


def _alike(one: str, other: str) -> bool:
    """Whether two words differ only by how they are derived: `vulnerable`, `vulnerability`."""
    return len(one) > 6 and len(other) > 6 and one[:7] == other[:7] and abs(len(one) - len(other)) <= 4


@lru_cache(maxsize=4_096)
def stem(word: str) -> str:
    word = word.removesuffix("'s")
    word = _irregular().get(word, word)
    for ending in ("ies", "ied", "ing", "ed", "es", "s", "e", "ly", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word
    return word


@cache
def _irregular() -> dict[str, str]:
    """Each form's first form; words that begin alike belong together, as do the pairs of the last line."""
    found: dict[str, str] = {}
    base = ""
    for word in _IRREGULAR.split():
        if not base or word in _BASES:
            base = word
        found[word] = base
    return found


class _Opposed(NamedTuple):
    """Where a word is in the table of opposites."""

    row: int
    side: int
    contrary: bool
    """Whether there is a third between both sides."""
    narrow: bool
    """Whether it says more than the other words of its side."""


@cache
def _opposites() -> dict[str, _Opposed]:
    found: dict[str, _Opposed] = {}
    for number, row in enumerate(OPPOSITES.strip().splitlines()):
        contrary = "/" in row
        for side, words in enumerate(row.split("/" if contrary else "|")):
            for word in words.split():
                found.setdefault(stem(word.rstrip("*")), _Opposed(number, side, contrary, word.endswith("*")))
    return found


def can_qualify(word: str) -> bool:
    """Whether a word may stand before a noun that is then meant: `legal advice`."""
    return word in _opposites()


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(_STOP_WORDS.split())


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
