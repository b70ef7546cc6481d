"""The declared cascade: the rules that read a choice, their order, and what each one searches for.

A rule is data. `extract_choice` names the rule that fired, and the manual lists this table. Most statements are recognised by
a pattern for the text before the letter or option text. `verdict` and `preferred` begin with the letter and are code, as are
`marked`, `last_words` and `last_line`.
"""

from __future__ import annotations

from benchwright.scorers._mcq.extraction import CLOSED, HARD_STOP, NOT_INSIDE, NOT_PART, STOP, ChoiceRule
from benchwright.scorers._replies import (
    ANSWER_ELSEWHERE,
    IS_ELSEWHERE,
    SO_ELSEWHERE,
)

_START = r"(?<![^\W_])"
"""The beginning of a word; an underscore ends one: `final_answer`."""
_BE = r"(?:is|was|are|(?:would|should|must|will|has\sto|can\sonly|seems\sto|appears\sto|ought\sto)\s(?:\w{2,12}\s)?be)\b"
_SIGN = r"(?:[:=>]|-{1,2}>|={1,2}>|→|-(?=\s))"
_FILLER = (
    r"(?:\s?(?:[:=>,]|-{1,2}>|→|\.\.\.|…)|\s?\b(?:most|very|likely|probably|definitely|clearly|certainly|simply|indeed"
    r"|actually|surely|obviously|therefore|thus|hence|then|just|only|also|now|given\sby|as\sfollows|the|my|our|option|choice"
    r"|letter|answer|correct|right|best|final|one|labell?ed|marked)\b){0,6}"
)
_ZH_FILLER = r"(?:应该|应当|应|可能|显然|就|便|只能|必须|即|则|也|才|是|为|為|選擇|選|选择|选项|选|[:=>,]|-|\s|\(|\)|\[|\]|的){0,8}"

_A_LETTER = rf"(?=\s(?:(?:answer|option|choice|letter)\s)?[(\[]?(?-i:[A-Z]){NOT_PART})"
"""After words that say little by themselves: only a letter makes them a verdict, `it looks like gold` is none."""

CHOICE_RULES: tuple[ChoiceRule, ...] = (
    ChoiceRule(
        "letter",
        "exact",
        "whole reply",
        "the reply is one letter, in any case, with or without decoration",
        ("B", "b", "(B)", "B.", "**B**", "1. B"),
    ),
    ChoiceRule(
        "whole_text",
        "option_text",
        "whole reply",
        "the reply is the text of one option",
        ("2263",),
    ),
    ChoiceRule(
        "letter_and_text",
        "exact",
        "whole reply",
        "the reply is a letter and that option's text",
        ("B) 2263", "B. 2263"),
    ),
    ChoiceRule(
        "boxed",
        "boxed",
        "statement",
        "a letter or an option's text in a box",
        (r"So $\boxed{B}$", r"\boxed{\text{B}}", r"Sum: \boxed{2263}"),
        r"\\(?:boxed|fbox)\s?\{",
        ending=CLOSED,
    ),
    ChoiceRule(
        "answer",
        "pattern",
        "statement",
        '"answer" with a verb or a colon; JSON and tags as well',
        (
            "answer: b",
            "The correct answer is **B**",
            "The answer to this would be (B)",
            '{"answer": "B"}',
            "<answer>B</answer>",
            "The answer is 2263",
        ),
        rf"{_START}(?<!/)answers?(?:\s(?:to|for)\s[^.\n:?;]{{1,60}}?|\s\([^()\n]{{1,60}}\))?(?:\s(?:here|then|therefore|thus|choice|option"
        rf"|letter|key))?(?:,\s(?:however|though|then|therefore|of\scourse|in\sfact|i\s(?:think|believe)),(?=\s))?(?:'s|\s{_BE}|\s(?:remains|stays)\b|\s?{_SIGN}){_FILLER}",
        overlaps=True,
    ),
    ChoiceRule(
        "answer_named",
        "pattern",
        "statement",
        '"answer" directly before the letter, also as a heading above it, or "A:" after a question',
        ("Final answer (D)", "Answer B.", "## Answer\nB, the second", "Réponse C."),
        rf"{_START}(?<!/)answer(?:\s(?:option|choice|letter))?(?=\s|\()|{_START}(?:{ANSWER_ELSEWHERE}|opci[óo]n|opção|opzione|alternativa|вариант|letra|lettera|lettre|buchstabe|буква)(?=\s[(\[]?(?-i:[A-Z]){NOT_PART})|(?m:^)(?-i:A):(?=\s?[(\[]?(?-i:[A-Z]){NOT_PART}[)\]]?[.]?\s?(?:\n|$))",
        ending=STOP,
    ),
    ChoiceRule(
        "field",
        "pattern",
        "statement",
        "other words for it with a colon",
        ("choice: B", '{"correct_option": "B"}', "Ans. B", "Correct: B"),
        rf"(?<!each\s)(?<!every\s)(?<!first\s)(?<!second\s)(?<!third\s)(?<!other\s)(?<!next\s)(?<!2nd\s)(?<!3rd\s)(?<!4th\s){_START}(?:choice|option|letter|selection|selected|correct|ans|result|verdict|prediction|pick|guess)\s?"
        rf"(?:[:=]|(?<=ans)\.){_FILLER}",
        overlaps=True,
    ),
    ChoiceRule(
        "correct_one",
        "pattern",
        "statement",
        "the correct, right or best one",
        ("The correct option is B", "The best choice would be B", "My guess is B"),
        rf"{_START}(?:(?:correct|right|best|true|proper|appropriate|final|accurate)\s(?:option|choice|letter|response"
        r"|solution|alternative|one|selection|statement|result)|the\s(?:most\s\w{4,12}|best|better)(?:\s(?:one|option|choice|answer|fit|match)|(?:\s(?:next|initial|first|single|overall|possible|available))?\s(?:step|treatment|diagnosis|explanation|description|approach|management|intervention|action|course\sof\saction|test|therapy|interpretation|example|candidate|method|summary|definition))?|the\sletter|my\s(?:guess|pick|choice|vote|bet|selection|response))"
        rf"(?:\s(?:here|then|therefore|thus))?(?:\s{_BE}|\s?{_SIGN}){_FILLER}"
        rf"|{_START}the\s(?:true|real|actual|correct|right)\s[\w-]+,?\s(?:though|however|in\sfact|instead),?\s{_BE}{_FILLER}",
        overlaps=True,
    ),
    ChoiceRule(
        "chosen",
        "pattern",
        "statement",
        "what is chosen",
        (
            "I choose B",
            "I would go with option B",
            "select (B)",
            "My vote goes to B",
            "which makes it B",
            "Changing my answer to B",
        ),
        rf"{_START}(?:cho(?:o|)se|choosing|select(?:ed|ing)?|pick(?:ed|ing)?|go(?:ing)?\s(?:with|for)|opt(?:ed|ing)?\sfor"
        r"|vote\sfor|settle\s(?:on|for)|lean(?:ing)?\stowards?|stick(?:ing)?\swith|prefer|left\swith|bet(?:ting)?\son|money(?:'s|\sis)\son|(?:got\sto|gotta|have\sto)\sbe|(?:answer\s)?key\s(?:says|gives)|(?:answer|reply|respond)\swith|i\sme(?:an|ant)|plump(?:ing)?\sfor|land(?:ed|ing)?\son|side\swith|(?:vote|money|pick|choice)\s(?:goes|went)\s(?:to|for|on)"
        r"|(?:chang|revis|updat|correct|amend)(?:e|es|ed|ing|)\s(?:my|the)\s(?:\w+\s)?(?:answer|choice|selection|pick|vote|mind|response)\sto|switch(?:ed|ing)?\s(?:my\s\w+\s)?(?:over\s)?to"
        rf"|the\sonly(?:\s(?!other|not|wrong|incorrect|false|problem|issue|difference|doubt|alternative|rival|exception)(?!\w+n't)[\w'-]+){{1,9}}?\s{_BE}{_A_LETTER}"
        rf"|(?:lean(?:ing)?|(?<!it\s)(?<!this\s)(?<!that\s)(?<!which\s)(?:must|has\sto)\sbe|mak(?:es?|ing)\sit){_A_LETTER})\b{_FILLER}",
        overlaps=True,
    ),
    ChoiceRule(
        "contrast",
        "pattern",
        "statement",
        "not this one but that one",
        ("not B, rather C", "not A but B", "it isn't A, it's B"),
        rf"(?:{_START}(?:not|never|nor)|n't)\s(?:the\s)?(?:(?:option|choice|letter|answer)\s)?[(\[]?[A-Z]{NOT_PART}[)\]]?"
        rf"\s?[,;:.–—-]{{0,2}}\s?(?:but|rather|instead|it's|it\sis|that's)\b{_FILLER}",
    ),
    ChoiceRule(
        "opinion",
        "pattern",
        "statement",
        "what somebody thinks",
        ("I think B", "I believe it's B.", "I'd say (B)"),
        rf"{_START}(?:I|we)(?:'d|'m|'ll|\swould|\sam|\swill)?\s(?:(?:going|inclined|ready|have|go\sahead\sand|just)\s(?:to\s)?)*+(?:\w{{2,10}}\s)?(?:think|believe|guess|reckon|suspect|say"
        rf"|conclude|suppose|bet|feel|deduce|infer)\b(?:\sthat\b)?(?:\s(?:it|this)(?:'s|\s{_BE}))?{_FILLER}",
        ending=STOP,
    ),
    ChoiceRule(
        "it_is",
        "pattern",
        "statement",
        '"it is" with the letter at the end of the clause',
        ("It is B.", "That must be B because it adds up", "It is 2263."),
        rf"{_START}(?:it|this|that|which)(?:'s|\s{_BE}){_FILLER}|{_START}(?:its|thats)(?:(?<!\w\sits)(?<!\w\sthats)|(?<=think\sits)|(?<=guess\sits)){_A_LETTER}",
        ending=STOP,
    ),
    ChoiceRule(
        "conclusion",
        "pattern",
        "statement",
        "a word of conclusion and a letter that ends the sentence",
        ("So B.", "Therefore: B", "Definitely (B)!"),
        rf"{_START}(?:so|therefore|thus|hence|consequently|accordingly|ultimately|finally|overall|definitely|probably"
        r"|clearly|certainly|obviously|surely|likely|sure|yes|okay|ok|conclusion|final|rather|instead|correction|actually|on\s(?:further\s|closer\s)?(?:reflection|second\s(?:thoughts?|reading|look|glance)|inspection)|(?<!is\s)(?<!be\s)(?<!are\s)(?<!was\s)also|daher|somit|deshalb|folglich|donc|entonces|así\sque|quindi|portanto|итак|значит|поэтому|make\s(?:that|it)|or\srather|i\.e|namely)"
        rf"\b[,:.!-]{{0,2}}{_FILLER}|{_START}(?:no|wait|sorry|oops|hmm+)\s?[,.:;!…–—-]{{1,3}}\s{_FILLER}",
        ending=HARD_STOP,
        overlaps=True,
    ),
    ChoiceRule(
        "corresponds",
        "pattern",
        "statement",
        "what the result corresponds to",
        ("which corresponds to B", "this matches option B", "leaving only B", "Looks like B to me."),
        rf"{_START}(?:(?:correspond|point)(?:s|ing)?\s(?:to|with|at|towards?)|match(?:es|ing)|leav(?:es|ing)(?:\sus\swith)?|(?:looks?|sounds?|seems?|feels?)\slike{_A_LETTER})\b{_FILLER}",
        ending=STOP,
    ),
    ChoiceRule(
        "concluded_text",
        "option_text",
        "statement",
        "an option's text that a conclusion ends with",
        ("So the sum of both numbers is 2263.", "Therefore the result must be 2263"),
        rf"{_START}(?:so|therefore|thus|hence|consequently|overall|finally|daher|somit|also|deshalb|donc|ainsi|entonces|portanto|quindi|значит"
        r"|поэтому|следовательно)(?!\w)[^.\n:;!?]{1,80}?\s(?:is|are|was|be|equals|ist|sind|lautet|beträgt|est|es|è|é|равна?|равно)\s",
        ending=HARD_STOP,
        overlaps=True,
    ),
    ChoiceRule(
        "verdict",
        "pattern",
        "statement",
        "a letter that is called right",
        ("I think B is right", "B (2263) is the correct answer", "B选项正确"),
    ),
    ChoiceRule(
        "preferred",
        "pattern",
        "statement",
        "this one, not that one",
        ("C, not B", "C rather than B", "C而不是B"),
    ),
    ChoiceRule(
        "zh_answer",
        "pattern",
        "statement",
        "答案 with the letter",
        ("答案是B", "答案为 B", "正确答案：B", "答案应该选B"),
        rf"(?:答案|正确(?:的)?(?:选项|选择)){_ZH_FILLER}",
    ),
    ChoiceRule(
        "zh_chosen",
        "pattern",
        "statement",
        "选 with the letter",
        ("选B", "选择 B", "故选：B", "应选B"),
        r"(?<![不别勿非未没候备挑])(?:选择|选|選擇|選)(?:了|的是|为|是|[:=]|答案|选项|\s|\(|\[){0,4}",
    ),
    ChoiceRule(
        "zh_is",
        "pattern",
        "statement",
        "是 or 为 with the letter at the end of the clause",
        ("应该是B。", "而是 C", "应为B"),
        # After a letter, the word describes that option: 因为A是蛋白质.
        r"(?<![不并非可若果A-Za-z])(?<![A-Za-z]\s)(?<![A-Za-z]项)(?<![A-Za-z]选项)(?:是|应为|應為|即为|則為|则为)\s?(?:选项|答案)?",
        ending=STOP,
    ),
    ChoiceRule(
        "answer_elsewhere",
        "pattern",
        "statement",
        "the answer in German, French, Spanish, Italian, Portuguese, Russian, Polish, Japanese, Korean",
        ("Antwort: B", "La réponse est B", "La respuesta correcta es B", "Ответ — B", "正解はB", "정답은 B"),
        rf"(?:{_START}(?:{ANSWER_ELSEWHERE}|l[öo]sung|option|opci[óo]n|alternativa)(?:\s\w{{2,10}})?\s?"
        rf"(?:\b{IS_ELSEWHERE}\b|[:=—–]|-(?=\s))|(?:正解|答え|解答)\s?(?:は|:)|(?:정답|답)\s?(?:은|는|:))\s?"
        rf"(?:(?:{SO_ELSEWHERE}|la|die|(?-i:a)|(?-i:η)|option|opción|opzione|opção|вариант|réponse|lettre|letra|buchstabe)\s){{0,3}}",
        overlaps=True,
    ),
    ChoiceRule(
        "chosen_elsewhere",
        "pattern",
        "statement",
        "what is right or chosen, in German, French and Spanish",
        (
            "Richtig ist B.",
            "Ich wähle B.",
            "Je choisis B",
            "Elijo B",
            "Nicht A, sondern B.",
        ),
        rf"{_START}(?:(?:richtig|korrekt|zutreffend|correcte?|correcta)\s(?:ist|est|es)\b(?:\s(?:aber|jedoch|hingegen|dagegen|vielmehr|somit|also|daher|demnach|folglich|damit|deshalb|hier|donc|alors|ici|entonces|pues|por\s(?:lo\s)?tanto|en\sfait|en\sréalité|en\srealidad))?|(?:ich\s)?(?:wähle|nehme)\b|je\schoisis\b"
        r"|elijo\b|escojo\b|ich\swürde\b|(?:es\s)?bleibt\s(?:also\s|somit\s|daher\s)?nur\b|je\sdirais\b|il\sne\sreste\sque\b|diría(?!\sque)\b|direi\b|diria\b|(?:así\sque|entonces|luego|por\s(?:lo\s)?tanto,?)\ses\b|il\ss'agit\s(?:donc\s)?de\b|si\stratta\s(?:quindi\s)?(?:di|della)\b|es\sist\b|c'est\b|sondern\b|sino\b|(?:creo|pienso|diría)\sque\ses\b|acho\sque\sé\b|penso\sche\s(?:sia|è)\b"
        r"|думаю,?\s(?:что\s)?(?:это\s)?|выбираю\b|scelgo\b|escolho\b|wybieram\b)\s?:?\s?(?:(?:also|option|antwort|réponse|opción|вариант|la|die)\s){0,2}",
        ending=rf"{STOP}|(?=[)\]]\s(?!(?:o|ou|oder|or|y|et|und|and|e|u)\s)\w)",
        overlaps=True,
    ),
    ChoiceRule(
        "marked",
        "pattern",
        "statement",
        "the only option marked as right in a list of three or more, where nothing else is stated",
        ("A) 2258 ❌\nB) 2263 ✅\nC) 2281 ❌", "A: too small\nB: correct\nC: too large"),
    ),
    ChoiceRule(
        "last_words",
        "pattern",
        "statement",
        "a capital letter alone after the last stop, colon or comma",
        ("A and C are too far off. B.", "Based on this, B", "assistant: B"),
    ),
    ChoiceRule(
        "last_line",
        "pattern",
        "statement",
        "a last line that is one letter, alone or with its text",
        ("The sum is clear\nB", "Adding up\n**B) 2263**"),
    ),
    ChoiceRule(
        "opening",
        "pattern",
        "lone letter",
        "the reply begins with the letter",
        ("B: the sum", "B because it adds up", "B, 2263"),
    ),
    ChoiceRule(
        "with_text",
        "pattern",
        "lone letter",
        "one letter with its own text, anywhere",
        ("The sum is (B) 2263 here", "Hence the sum B. 2263 follows"),
    ),
    ChoiceRule(
        "named",
        "pattern",
        "lone letter",
        "only one option is named",
        ("Look at option B again", "选项B"),
        rf"(?:{_START}(?:options?|choices?|answers?|letter|alternative)\s|选项\s?)(?=[(\[]?[A-Z]{NOT_PART})",
    ),
    ChoiceRule(
        "bracketed",
        "pattern",
        "lone letter",
        "only one capital letter is in brackets",
        ("The second sum (B).",),
        rf"{NOT_INSIDE}(?=[(\[](?-i:[A-Z])[)\]])",
    ),
    ChoiceRule(
        "ordinal",
        "option_text",
        "lone letter",
        "the place of an option in the list, given as the answer; in German, French and Spanish too",
        (
            "It's the third one.",
            "The last option is correct",
            "Number 3 on the list.",
            "Die dritte Option ist richtig.",
        ),
    ),
    ChoiceRule(
        "one_text",
        "option_text",
        "option text",
        "the text of one option only, as whole words and numbers; denied ones do not count",
        ("A simple sum gives 2263", "2263 not 2258"),
    ),
)
"""All rules, in the order of the steps. Within `statement` the last one in the text counts, whichever rule found it;
within the other steps, the first rule that fits."""

STATEMENT_RULES = tuple(rule for rule in CHOICE_RULES if rule.step == "statement")
RULES = {rule.name: rule for rule in CHOICE_RULES}

NO_ANSWER_REASONS: dict[str, str] = {
    "empty": "the reply is empty or blank",
    "no_options": "the row has no options",
    "unfinished_reasoning": "the reply ends inside its reasoning",
    "unfinished": "the reply breaks off in the middle of a sentence, with nothing stated before: `A) Paris is the capital of France, so`",
    "ambiguous": "several options are named and none is chosen: `C or B`, or two options have the same text",
    "retracted": "the last statement is taken back afterwards: `Answer: B. No, B is wrong.`",
    "not_found": "no rule found an answer",
    "not_near": "of `nearest_choice`: no option's text is near enough",
}
"""Reasons why a reply has no readable answer: `rule` of extractions whose method is `none`."""
