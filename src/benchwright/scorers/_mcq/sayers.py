"""Who says it: what a reply only reports of others is no answer of its own, nor is anything that it will not commit to."""

from __future__ import annotations

from bisect import bisect_right

from benchwright.scorers._mcq.extraction import caseless
from benchwright.scorers._mcq.texts import OptionTexts
from benchwright.scorers._mcq.view import ReplyText

_SENTENCE = 240
ENDS = (". ", "\n", "! ", "? ", "。")
"""What ends a sentence."""
_FOLLOWS = 80
_FAR = 2_000

# Others, and their verbs. "The key says" and "the passage says" are sources, which a reply relies on.
_SAYS = (
    r"(?:said|says?|saying|claim(?:s|ed|ing)?|insist(?:s|ed|ing)?|think(?:s|ing)?|thought|believ(?:es?|ed|ing)|answer(?:s|ed)|wrote|writes?|told|tells"
    r"|suggest(?:s|ed|ing)?|argu(?:es?|ed|ing)|stat(?:es?|ed)|swears?|swore|assum(?:es?|ed)|guess(?:es|ed)|picks?|picked|chooses?|chose|chosen|selects?|selected"
    r"|(?:went|goes|go)\s(?:with|for)|gave\s(?:me|us)|put\sdown|maintain(?:s|ed)?|report(?:s|ed)?|concluded|concludes|voted?|votes|proposed?|ticked|replied)"
)
_WHO = (
    r"(?:class-?mates?|colleagues?|friends?|teachers?|tutors?|professors?|students?|pupils?|brothers?|sisters?|neighbou?rs?|partners?|co-?workers?|bosses|boss"
    r"|mother|father|mom|mum|dad|roommates?|users?|people|person|somebody|someone|others|another|everyone|everybody|peers?|forums?|threads?|models?|chatgpt|gpt-?\d?|bots?|commenters?"
    r"|one\sof\sthem|candidates?|learners?|readers|critics)"
)
_ANYBODY = rf"(?:{_WHO}|he|she|they|you|guy|woman|man|girl|boy|kid|child|team|group)"
_BEYOND = rf"(?:(?:my|your|our|some|many|most|a|one|other|another|several)\s(?:[\w-]+\s){{0,2}}{_WHO}|(?:some|many|most)|you|people|someone|somebody|others|everyone|everybody|chatgpt)"
"""Somebody outside the text that a question is about: `She chose the gloves` may tell a story."""
_VERBS = rf"(?:'s)?(?:\s(?!(?:but|so|i|we|should|must|ought|need)\b)[\w'-]+){{0,4}}?,?\s{_SAYS}(?![^\W_])"
_ELSE = (
    rf"(?<![^\W_])according\sto\s(?:(?:my|your|our|his|her|their|a|one|some|many|most|another)\s(?:[\w-]+\s){{0,2}}{_WHO}|him|her|them|you)(?![^\W_])|"
    r"(?<![^\W_])(?:i|we)\s(?:was|were|have\sbeen|had\sbeen|got)\stold(?![^\W_])|(?<![^\W_])i(?:'ve|\shave)?\s(?:heard|read)(?![^\W_])"
    r"|(?<![^\W_])(?:it|this)\s(?:is|was|has\sbeen)\s(?:often\s|sometimes\s|widely\s|commonly\s)?(?:said|claimed|believed|thought|assumed)\s(?:that\s)?"
    r"|(?<![^\W_])(?:lehrer(?:in)?|freund(?:in)?|kolleg(?:e|in)|mitschüler(?:in)?|nachbar(?:in)?|jemand|manche|viele|er|sie)\s(?:\w+\s)?(?:sagte?|sagt|meinte?|meint|behauptete?|behauptet|glaubt|glaubte|denkt|dachte|schrieb)(?![^\W_])"
    r"|(?<![^\W_])(?:professeur|prof|ami|amie|voisin|voisine|collègue|camarade|quelqu'un|certains|il|elle|ils)\s(?:\w+\s)?(?:dit|disent|disait|pense|pensent|prétend|affirme|affirment|croit)(?![^\W_])"
    r"|(?<![^\W_])(?:profesora?|amig[oa]|vecin[oa]|compañer[oa]|alguien|algunos|él|ella)\s(?:\w+\s)?(?:dice|dicen|dijo|cree|creen|piensa|piensan|afirma|afirmó)(?![^\W_])"
)
_NAME_SAYS = r"(?:said|says|claims|claimed|thinks|thought|believes|believed|insists|insisted|answered|told|wrote|argues|argued|reckons|reckoned)(?![^\W_])"
OTHERS_SAY_NAMED = rf"(?<![^\W_]){_NAME_SAYS}"
_NAME = (
    r"(?<![^\W_])(?!(?:this|that|it|everything|nothing|which|what|logic|wikipedia|key|theory|science|physics|intuition|instinct|reason|experience|evidence|i|we)\s)"
    rf"(?-i:[A-Z][a-z]+)\s{_NAME_SAYS}"
)
_OTHER = rf"(?<![^\W_])(?<!if\s)(?<!when\s){_ANYBODY}{_VERBS}|{_NAME}|{_ELSE}"
OTHERS_SAY = _OTHER.replace(f"|{_NAME}", "")
_OTHER_BEYOND = rf"(?<![^\W_])(?<!if\s)(?<!when\s){_BEYOND}{_VERBS}|{_ELSE}"
# Between their words and a statement: what follows is the reply's own.
_OWN = (
    r"(?<![^\W_])(?:but|however|yet|though|although|actually|in\s(?:fact|reality|truth)|so|therefore|thus|hence|i|we|which|while|whereas|key|aber|sondern|doch|jedoch|tatsächlich|mais|en\s(?:fait|réalité)|donc|pero|sino"
    r"|en\srealidad|así\sque)(?![^\W_])|(?:said|thinks?|says?|thought),?\s(?:and|or)\s|(?<![^\W_])[a-z][)\]]?,\s(?:(?:option|choice|answer)\s)?$"
)
# After it: the reply agrees, so that the words become its own.
_AGREES = (
    r"[)\]]?[.,;:!–—-]{0,2}\s?(?:[^.!?\n]{0,40}?[.,;:!–—-]\s?)?(?:and\s|which\s|und\s|et\s|y\s)?(?:(?:i|we)\s(?:fully\s|completely\s|also\s|would\s)?(?:agree|concur|think\sso)(?!\sto\sdis)"
    r"|(?:(?:he|she|they|you|it|that|this|both)(?:'s|'re|\sis|\sare|\swas|\swere)|(?:(?<=[,;–—-]\s)|(?<=which\s)|(?<=and\s))(?:is|was|are))\s(?:absolutely\s|quite\s|indeed\s|completely\s|entirely\s|also\s|both\s|exactly\s)?(?:right|correct|spot\son)(?![^\W_])"
    r"|(?:rightly|correctly)(?![^\W_])|(?:er|sie|das)\s(?:hat\srecht|stimmt|ist\srichtig)|(?:il|elle)\sa\sraison|tiene\srazón)"
)
_AS_THEY = r"(?<![^\W_])(?:as|like|given\swhat|based\son\swhat)\s(?:(?:my|your|our|the|a)\s)?$"
"""Before their words: the reply relies on them."""
_RIGHTLY = r"(?<![^\W_])(?:rightly|correctly|zu\srecht|à\sjuste\stitre)(?![^\W_])"

_NOT_CHOSEN = r"(?!\s(?:with\s|for\s|on\s)?(?:(?:options?|choices?|answers?)\s)?(?-i:[A-Z])(?![^\W_])(?!\s(?:or|and)\s))"
"""`I can't choose A` speaks of one option and leaves the answer open to nobody."""
_BUT_ONE = r"(?![^.!?\n]{0,60},?\s(?:but|yet|still)\s(?:[^.!?\n]{0,30}?\s)?(?-i:[A-Z])(?![^\W_]))"
"""`It is hard to decide, but D fits` decides."""
_MORE = r"(?:more|further|additional)\s(?:information|context|details?|data)(?!\w)"
_TWO = r"(?:two|three|several|multiple|more\sthan\sone)"
_UNDECIDED = (
    r"(?<![^\W_])no\s(?:unique|one|unambiguous|clear)\s(?:\w+\s)?(?:answer|choice|option|winner)(?!\w)"
    r"|(?<![^\W_])(?:couldn't|could\snot)\s(?:\w+\s)?(?:choose|decide|pick|settle)(?!\w)(?=\s?(?:[.,;!\n]|$)|\s(?:between|which|on\sone))"
    r"|(?<![^\W_])(?:both|all)\s(?:\w+\s){0,3}?equally\s(?:\w+\s)?(?:plausible|likely|valid|good|possible|supported|correct|right|convincing|defensible)(?!\w)"
    r"|(?<![^\W_])(?:neither|none\sof\sthem)\scan\sbe\s(?:excluded|ruled\sout)(?!\w)"
    rf"|(?<![^\W_]){_TWO}\s(?:of\sthe\s)?(?:options?|choices|answers|alternatives)\s(?:is|are|fit|fits|apply|work|match)(?!\w)(?!\s(?:wrong|incorrect|false|not|out)(?!\w))"
    rf"|(?<![^\W_])there\s(?:are|is)\s{_TWO}\s(?:correct|right|valid|possible)\s(?:answers?|options?|choices?)(?!\w)"
    r"|(?<![^\W_])(?:question|wording|it)\s(?:is|seems|looks|appears)\s(?:to\sbe\s)?(?:faulty|flawed|ambiguous|not\sunambiguous)(?!\w)"
    r"|(?<![^\W_])it(?:'s|\sis)\sa\s(?:tie|toss-?up|draw)(?!\w)|(?<![^\W_])(?:it\s)?could\sbe\seither(?=\s?(?:[.,;!\n]|$))|(?<![^\W_])(?:torn\sbetween|undecided)(?!\w)"
    r"|(?<![^\W_])(?:(?<=[;,]\s)|(?<=[;,]\sbut\s)|(?<=[;,]\sand\s))on\sthe\sother(?:\shand|\sside)?,?\s|(?<![^\W_])(?<=[;,]\s)(?:andererseits|de\sl'autre|d'autre\spart|por\s(?:el\sotro|otro\slado|otra\sparte|outro\slado)|dall'altr[ao]|anderzijds)(?!\w)"
    r"|(?<![^\W_])(?<!thing\s)(?:remains|is)\s(?:unclear|undecided|open)(?=\s?(?:[.,;!\n]|$))"
    r"|(?<![^\W_])zwei\s(?:richtige|korrekte|mögliche)\s(?:antworten|lösungen)|(?<![^\W_])beide\s(?:\w+\s)?(?:gleich|gleichermaßen)\s\w+|(?<![^\W_])frage\sist\s(?:\w+\s)?(?:nicht\seindeutig|mehrdeutig|unklar)(?!\w)"
    r"|(?<![^\W_])deux\s(?:bonnes\s|réponses\s)(?:réponses|correctes|possibles)|(?<![^\W_])les\sdeux\s(?:sont|réponses\ssont)\s(?:\w+\s)?(?:possibles|correctes|justes|plausibles)|(?<![^\W_])question\sest\sambigu"
    r"|(?<![^\W_])(?:dos|due|duas)\s(?:respuestas|risposte|respostas)\s(?:correctas|corrette|corretas|posibles|possibili|possíveis)|(?<![^\W_])(?:ambas|entrambe|ambos)\s(?:son|sono|são)\s(?:\w+\s)?(?:posibles|possibili|possíveis|correctas|corrette|corretas)"
    r"|(?<![^\W_])(?:pregunta|domanda|pergunta)\s(?:es|è|é)\sambigua(?!\w)|(?<![^\W_])twee\s(?:juiste|goede|correcte)\santwoorden|(?<![^\W_])vraag\sis\s(?:niet\seenduidig|dubbelzinnig)"
)
"""Several options are left, and the reply says so."""
ABSTAINS = (
    r"(?<![^\W_])(?:can(?:no|')t|cannot|can\snot|unable\sto|not\sable\sto|impossible\sto|hard\sto|difficult\sto|won't|will\snot|refuse\sto|decline\sto"
    r"|(?:'d|would)\srather\snot|prefer\snot\sto|(?:don't|do\snot)\s(?:want\sto|wish\sto)|not\s(?:going|willing|ready)\sto|no\s(?:way|basis)\sto)\s(?:\w+\s){0,2}?"
    rf"(?:choose|decide|determine|tell(?=\s?(?:[.,;!]|\n|$)|\s(?:which|whether|between|for\ssure))|pick|commit|say\swhich|settle|narrow|select|give\s(?:you\s)?(?:an?|one|any)\s(?:\w+\s)?answer)(?!\w){_NOT_CHOSEN}{_BUT_ONE}"
    r"|(?<![^\W_])(?:can(?:no|')t|cannot)\sbe\s(?:decided|determined|answered|settled|told)(?!\w)"
    r"|(?<![^\W_])no\s(?:\w+\s)?(?:answer\sfrom\sme|idea\swhich|clue\swhich|single\s(?:\w+\s)?(?:answer|choice|option))(?!\w)"
    rf"|(?<![^\W_])(?:don't|do\snot)\s(?:really\s)?know\swhich(?!\w){_BUT_ONE}|(?<![^\W_])not\ssure\swhich(?!\w){_BUT_ONE}"
    r"|(?<![^\W_])(?:leave|leaving|keep)\s(?:this|it|that|the\squestion|the\sanswer)(?:\sone)?\s(?:open|blank|unanswered|undecided)(?!\w)"
    r"|(?<![^\W_])too\s(?:vague|unclear|ambiguous|imprecise)\s(?:for\s\w+\s)?to\s"
    rf"|(?<![^\W_])without\s(?:any\s)?{_MORE}{_BUT_ONE}"
    r"|(?<![^\W_])(?:rather\snot|won't|can't|cannot)\s(?:say|answer)(?=\s?(?:[.,;!]|\n|$)|\s(?:this|the\squestion))"
    rf"|(?<![^\W_])(?:not|n't|in)\s?(?:\w+\s){{0,2}}(?:enough|sufficient)\s(?:information|context|details?|data)\sto\s(?:\w+\s)?(?:choose|decide|determine|answer|say|tell|pick)(?!\w){_BUT_ONE}"
    rf"|{_UNDECIDED}"
    r"|(?<![^\W_])nicht\s(?:\w+\s){0,2}(?:festlegen|entscheiden|sagen|beantworten)(?!\w)"
    r"|(?<![^\W_])(?:ne\s(?:peux|saurais|veux)\s(?:pas\s)?(?:me\s)?(?:choisir|trancher|décider|dire|prononcer)|impossible\sde\s(?:choisir|trancher|décider|dire))(?!\w)"
    r"|(?<![^\W_])no\s(?:puedo|sabría|quiero|es\sposible)\s(?:elegir|decidir|decidirme|escoger|decir|saber)(?!\w)"
)
# Doubts that take nothing back from a statement, but are enough where nothing is stated.
_DOUBTS = (
    rf"{ABSTAINS}|(?<![^\W_])it\s(?:all\s|really\s|entirely\s)?depends(?!\w)|(?<!n't\s)(?<!not\s)(?<![^\W_])need\s{_MORE}|(?<![^\W_])too\s(?:vague|unclear|ambiguous|imprecise)(?!\w)"
    r"|(?<![^\W_])(?:not|n't)\s(?:\w+\s){0,2}(?:enough|sufficient)\s(?:information|context|details?|data)(?!\w)|(?<![^\W_])insufficient\s(?:information|context|details?|data)(?!\w)"
    r"|(?<![^\W_])(?:can(?:no|')t|cannot|unable\sto|impossible\sto|hard\sto|difficult\sto|rather\snot)\s(?:\w+\s)?(?:answer|judge)(?!\w)"
)


def reported(view: ReplyText, at: int, end: int, *, by_text: bool = False) -> bool:
    """Whether the statement from `at` to `end` is what somebody else says: `Your classmate said the answer is C`.

    Args:
        view: the reply.
        at: where the letter or text begins.
        end: where it ends.
        by_text: whether an option's text is named, which may tell what somebody in the question says.
    """
    text = view.lower
    said = view.spans(_OTHER_BEYOND if by_text else _OTHER if view.may(OTHERS_SAY_NAMED) else OTHERS_SAY)
    last = bisect_right(said, (at, 0)) - 1
    while last >= 0 and said[last][1] > at:  # it goes on behind `at`
        last -= 1
    if last < 0 or said[last][0] < sentence_of(view, at) or caseless(_OWN).search(text, said[last][1], at):
        return False
    if caseless(_AS_THEY).search(text, max(0, said[last][0] - 20), said[last][0]):
        return False
    if caseless(_RIGHTLY).search(text, said[last][0], at):
        return False
    return caseless(_AGREES).match(text, end, end + _FOLLOWS) is None


def sentence_of(view: ReplyText, at: int) -> int:
    """Where the sentence of `at` begins, or the part of it after a semicolon."""
    first = max(0, at - _SENTENCE)
    return max(first, max(view.text.rfind(mark, first, at) for mark in (*ENDS, "; ")) + 1)


def abstains(view: ReplyText, begin: int, texts: OptionTexts, *, stated: bool) -> bool:
    """Whether the reply says after `begin` that it chooses nothing; an option may have such words: `cannot be determined`."""
    pattern = ABSTAINS if stated else _DOUBTS
    found = (one for one in view.matches(pattern, overlapping=True) if begin <= one.start() < begin + _FAR)
    return any(not texts.overlap(view, one.start(), one.end()) for one in found)
