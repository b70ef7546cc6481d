"""The words and phrases that say yes or no, as tables and regular expressions of lower-case text.

Each pattern is one class of phrases: words for yes and no, adverbs that may stand before them, what states an answer, judges a claim,
answers with a pronoun, reports what others say, or takes back what was said.
"""

from __future__ import annotations

from re import escape

from benchwright.scorers._replies import (
    ANSWER_ELSEWHERE,
    ANSWER_ELSEWHERE_STEMS,
    ANSWER_QUALIFIED,
    IS_ELSEWHERE,
    SO_ELSEWHERE,
    listed,
)
from benchwright.scorers._verdict_idioms import NO_IDIOMS, YES_IDIOMS, any_of

YES = (
    "yes yeah yep yup true correct right absolutely definitely certainly indeed sure affirmative exactly agreed obviously"
    " ja jawohl richtig stimmt korrekt wahr natürlich genau oui vrai exact bien_sûr sí si verdadero verdadera cierto correcto"
    " correcta claro vero vera sim verdade tak да верно правда конечно правильно 是 是的 对 對 对的 正确 正確 真 はい 正しい 예 네"
    " of_course yes_indeed i_agree i_think_so i_believe_so it_is it_does they_do they_are that's_right that's_correct not_false not_wrong not_incorrect i_guess_so i_suppose_so naturally por_supuesto claro_que_sí claro_que_si"
    " bien_sûr_que_oui it_can that_is_so no_problem no_doubt without_a_doubt without_doubt most_certainly sì certo certamente"
    " effectivement en_effet efectivamente effettivamente è_vero es_verdad c'est_vrai é_verdade действительно"
    " certo_che_sì ma_certo aber_natürlich aber_klar mais_bien_sûr por_supuesto_que_sí desde_luego com_certeza evet igen ano áno no_question_about_it no_doubt_about_it doch correto assolutamente_sì"
)
NO = (
    "no nope nah false incorrect wrong never negative untrue disagree nein falsch unwahr inkorrekt non faux fausse falso falsa"
    " incorrecto incorrecta não nie нет неверно неправда ложь неправильно 否 不是 不 不对 不對 错 錯 错误 假 不正确 いいえ 違います 아니요"
    " 아니오 not_at_all not_really not_quite definitely_not certainly_not of_course_not absolutely_not probably_not surely_not"
    " not_true not_correct not_right i_disagree i_don't_think_so i_do_not_think_so i_don't_believe_so it_isn't it_is_not it_is_the_other_way_round it_is_the_other_way_around it's_the_other_way_round it's_the_other_way_around"
    " it_does_not it_doesn't they_don't no_way nicht_wahr stimmt_nicht pas_du_tout claro_que_no natürlich_nicht bien_sûr_que_non i'm_afraid_not i_think_not i_guess_not in_no_way by_no_means"
    " it_cannot it_can't on_the_contrary yeah,_no assolutamente_no absolutamente_no most_likely_not likely_not almost_certainly_not generally_not usually_not typically_not clearly_not"
    " non_è_vero no_es_verdad c'est_faux não_é_verdade"
    " certo_che_no por_supuesto_que_no desde_luego_que_no leider_nein leider_nicht apparently_not obviously_not not_anymore hayır nem nej nee"
    " wahrscheinlich_nicht sicher_nicht auf_keinen_fall probablement_pas certainement_pas probablemente_no probabilmente_no"
)
CLAUSES = (
    "ja jawohl nein oui non sí sì sim não tak nie да нет evet hayır igen nem nej nee はい いいえ 是的 不是 不对 不 对 否 是 예 네 아니요 no_problem no_doubt"
    " no_question_about_it no_doubt_about_it yeah,_no doch without_a_doubt without_doubt of_course of_course_not"
    " probably_not most_likely_not likely_not almost_certainly_not definitely_not certainly_not absolutely_not surely_not generally_not"
    " usually_not typically_not clearly_not certo_che_no por_supuesto_que_no desde_luego_que_no leider_nein leider_nicht apparently_not obviously_not not_really not_quite not_at_all"
    " wahrscheinlich_nicht sicher_nicht natürlich_nicht auf_keinen_fall pas_du_tout probablement_pas certainement_pas probablemente_no"
    " claro_que_no claro_que_sí por_supuesto probabilmente_no bien_sûr"
)
"""Words and phrases, next to `Y` and `N`, that are a verdict at the beginning of a clause."""
Y = r"(?:yes|yeah|yep|yup|true|correct|right)"
N = r"(?:no|nope|nah|false|incorrect|wrong|untrue)"
EITHER = (
    rf"(?<!\w)(?:{Y}\s?(?:and|or|nor|/|\||vs\.?)\s?(?:also\s)?{N}|{N}\s?(?:and|or|nor|/|\||vs\.?)\s?(?:also\s)?{Y})(?!\w)"
    r"|ja\s(?:oder|und)\snein|oui\s(?:ou|et)\snon|sí\s(?:o|y)\sno|да\s(?:или|и)\sнет|是或否|是否|是不是"
)
BOTH = r"(?:(?:well|hmm+|so|honestly|kind\sof|both|a\s(?:bit|little))[,.…]?\s){0,2}(?:yes\s(?:and|&)\sno|no\s(?:and|&)\syes|yes/no|ja\sund\snein|jein|oui\set\snon|sí\sy\sno|sì\se\sno|sim\se\snão|да\sи\sнет|nì)(?!\w)"
_WHERE = r"\s(?:for|in|if|on|when|with|under|at|by|für|bei|im|am|pour|en|le|para|per|для|в)\s[^.!?\n]{1,80}?(?:[,;]|\sbut|\sand|\saber|\smais|\spero|\sno)\s(?:but\s|and\s)?"
PARTED = (
    rf"(?<!\w)(?:(?:yes|ja|oui|sí|sì|sim|да){_WHERE}(?:no|nein|non|não|нет)(?=\s?(?:[.,;!]|$)|\s(?:for|in|if|on|when|with|under|at|by|für|bei|pour|en|para|per|для|в)\s)"
    rf"|(?:no|nein|non|não|нет){_WHERE}(?:yes|ja|oui|sí|sì|sim|да)(?!\w))"
)
"""Yes for one case and no for another."""
STATED = (
    rf"(?:(?<!\w)(?:{ANSWER_ELSEWHERE}){ANSWER_QUALIFIED}\s?(?:{IS_ELSEWHERE}\b(?:\s{SO_ELSEWHERE}\b)?\s?:?|[:=—–]|-(?=\s))"
    r"|(?<!\w)(?:answer|verdict|conclusion|response|label|judg(?:e)?ment|decision|prediction)"
    rf"{ANSWER_QUALIFIED}\s?(?:(?:isn't|can't\sbe|cannot\sbe|is\sanything\sbut|is|was|would\sbe|(?:must|should|would\shave\sto|has\sto|seems\sto|appears\sto|can\sonly|may\swell)\sbe)\b\s?:?|[:=—–]|-(?=\s))|\\boxed\s?\{{|</?answer>|答案\s?(?:是|为|:)?\s?:?"
    r"|(?m:^)a:)\s?[\s(\[{]{0,3}(?:(?:definitely|clearly|simply|therefore|thus|a|an|most\slikely|probably)\s){0,2}"
)
STATED_STEMS = (
    *listed(
        "answer verdict conclusion response label judg decision prediction \\boxed <answer> </answer> 答案 a:"
    ),
    *ANSWER_ELSEWHERE_STEMS,
)
"""The words that `STATED` begins with."""
STATED_WORDS = "|".join(map(escape, (stem for stem in STATED_STEMS if stem != "a:")))
HEADED = rf"(?m:^)\W{{0,4}}(?:(?:the|final|short|my|direct)\s){{0,2}}(?:answer|verdict|conclusion|fazit|{ANSWER_ELSEWHERE})\s?:?\s?\n\s?(?!\W*\w+(?:,?\s(?:if|when|unless|provided|assuming|wenn|falls|si|se|если)|\s(?:for|in|für|bei|pour|para))\s)"
"""A heading above the answer."""
CORRECTS = r"\W*(?:correction|korrektur|rectification|corrección|correzione|correção|исправление)\s?:\s?"
"""What may lead in a verdict that corrects the ones before."""
INSTEAD = r"(?P<subject>[^.,;:!?\n]{2,60}?)(?:'(?:s|re)|\s(?:is|are|was|were))\s[^.,;:!?\n]{2,60},\s(?:and\s)?not\s(?P<denied>[^.,;:!?\n]{2,60}?)(?:\sat\sall)?\s*$"
"""`They are mammals, not fish`."""
NOT_STATED = r"(?:(?<!\w)(?:if|whether)|(?:n't|(?<!\w)not|doubt)\s(?:think|believe|say|claim|know|sure)?(?:\sthat)?)\s(?:the\s|my\s)?$"
SKIPPED_BEFORE = (
    r"(?<!\w)(?:some|many|others?|people|someone|most|critics|opponents|they|he|she|everyone|students?|first\sglance)(?!\w)(?:(?!\bbut\b|\bhowever\b|\byet\b|\bso\si\b)[^.;!?\n]){0,40}"
    r"(?:say|says|said|think|thinks|thought|believe|believes|claim|claims|argue|argues|answer)(?:\sthat)?\s(?:it\sis\s|it's\s)?$"
    r"|(?<!\w)(?:i|we)\s(?:\w+\s)?(?:thought|assumed|believed|expected)\s(?:that\s)?(?:it\s(?:was|is)\s)?$"
    r"|(?:n't|(?<!\w)not|never)\s(?:think|believe|say|claim|mean)(?:\s[^.,;!?\n]{0,30})?\s$|(?<!\w)used\sto\s(?:think|say|believe)\s$|(?<!\w)(?<!inclined\s)(?<!have\s)(?<!going\s)(?<!like\s)(?<!safe\s)(?<!fair\s)(?<!is\s)to\s(?:say|answer|reply|respond)(?:\swith)?(?:\sa)?\s$"
    r"|(?:n't|(?<!\w)(?:not|never|wrong|incorrect|mistaken?|error|misleading|unfair|tempt(?:ed|ing)))\s(?:[^.,;!?\n]{0,30}\s)?(?:to\s)?(?:say|answer|reply|respond)(?:\swith)?(?:\sa)?\s$|(?<!\w)(?:not|never)\s(?:a\s)?$|n't\s(?:say|mean|a)?\s?$"
)
UNCLEAR = (
    r"(?:n't|cannot|(?<!\w)not|unable\sto)\s(?:confirm|verify|establish|conclude|be\ssure)(?!\w)[^.,;!?\n]{0,40}$|(?<!\w)(?:if|whether|evidence|proof|way|unclear|unsure|depends|could|might|may|would|unless|when|hard|ask|say|says|said|saying|show|shows"
    r"|prove|know|tell|determine|guarantee|suggests?|reason|mean|means|implies|ob|wenn|si|если)(?!\w)(?:(?!\bbut\b)[^.,;!?\n]){0,40}$"
)
IF = r"(?<!\w)(?:if(?!\s(?:i|we)\s(?:had|have)\sto)|unless|when(?!\sit\scomes)|once|provided|providing|assuming|as\slong\sas|suppos(?:e|ing)|in\scase|solange|sobald|quand|cuando|quando|когда|wenn|falls|si|если)(?!\w)[^.!?\n]{0,60}$"
OTHER_CASES = r"(?<!\w)(?:on\s(?:the\s)?(?:one|other)(?:\shand)?|in\s(?:one|another)\ssense|einerseits|andererseits|otherwise|else|if\snot|in\s(?:all\s|any\s|most\s)?other\scases?|sonst|andernfalls|sinon|de\slo\scontrario|si\sno|altrimenti|caso\scontrário|иначе)[,:]?\s(?:the\sanswer\sis\s|then\s|it's\sa\s)?$"
"""What follows holds where the condition before does not."""
MEANT = r"(?<!\w)if\s(?:(?:by\s[^,;.!?\n]{1,40}\s)?you\s(?:mean|meant|are\sasking|ask|want\sto\sknow)|you're\sasking|the\squestion\sis|we\s(?:mean|speak|talk))(?!\w)"
"""A condition that only says how the question is understood."""
SOLE = r"[\W_]*(?:when|once|provided|providing|assuming|as\slong\sas)(?!\w)[^.,;:!?\n]{1,80},\s(?:then\s)?"
"""The one condition of a reply that says nothing else."""
THINKS = r"(?<!\w)(?:i|we)\s(?:\w+\s)?(?:(?P<not>do\snot|don't|would\snot|wouldn't|didn't|cannot|can't|doubt)\s)?(?:think|believe|would\ssay|say|feel|agree|find|conclude)(?:\sthat)?\s$"
SUBJECT = (
    r"(?:it|that|this|(?:this|that)\sone|which|everything|all\sof\s(?:it|this|that)|(?:the|this|that|your|its|his|her)\s(?:\w+(?:'s)?\s)?(?:statement|claim|assertion|sentence|proposition|hypothesis|premise|assumption"
    r"|conclusion|answer|question|fact|quote|equation|suggestion|idea|theory))"
)
ADVERBS = r"(?:(?:indeed|actually|really|entirely|completely|quite|clearly|definitely|certainly|therefore|thus|also|in\sfact|simply|just|always|necessarily|strictly|fully|exactly|absolutely|factually|itself|mostly|largely|generally|technically|obviously|most|almost|likely|probably)\s){0,3}"
PREDICATE = (
    rf"(?<!\w)(?:{SUBJECT}(?:\s(?:is|was|seems|appears|would\sbe|must\sbe|remains|can(?P<cannot>'t|not|\snot)\sbe)|'s)|(?P<bare>{SUBJECT})(?=\s(?:isn't|wasn't)))"
    rf"(?P<not>\snot|\snever|\shardly|\sisn't|\swasn't|n't)?\s{ADVERBS}(?P<word>true|correct|right|accurate|valid|false|incorrect|wrong|untrue|inaccurate|a\smyth|mistaken|the\scase)(?!\w)"
    r"(?!\s(?:to|now|next|away|answer|way|key|side|that|about|for|in\s(?:part|some)|only|if|when|until|in\sthe\ssense)\b)"
    r"|(?<!\w)(?:das|es|dies|die\s(?:aussage|behauptung))\s(?:ist|stimmt)(?P<nicht>\snicht)?(?:\s(?:also|wirklich|tatsächlich|völlig))?"
    r"(?:\s(?P<wort>wahr|richtig|korrekt|falsch|unwahr))?(?=[\s.,;!]|$)"
    r"|(?<!\w)(?:c'est|cela\sest|ce\sn'est(?P<pas>\spas)|(?:l'affirmation|la\sphrase)\sest)\s(?P<mot>vrai|faux|fausse|vraie|correct|exact|incorrect)(?!\w)"
    r"|(?<!\w)(?P<no>no\s)?es\s(?P<palabra>verdadero|verdadera|cierto|correcto|falso|falsa|incorrecto)(?!\w)"
    r"|(?<!\w)это\s(?P<ne>не\s)?(?P<slovo>верно|правда|так|неверно|неправда|ложь)(?!\w)"
)
PREDICATE_STEMS = listed(
    "true correct right accurate valid false wrong untrue myth mistaken case stimmt wahr richtig korrekt"
    " falsch vrai faux fausse exact verdader cierto fals правда верно так ложь"
)
"""The words that `PREDICATE` ends with."""
PREDICATE_WORDS = "|".join(PREDICATE_STEMS)
PREDICATE_CHARS = 160
"""Characters from the beginning of a predicate to such a word."""
TRUE_WORDS = (
    "true", "correct", "right", "accurate", "valid", "the case", "wahr", "richtig", "korrekt", "vrai", "vraie", "exact", "verdadero",
    "verdadera", "cierto", "correcto", "верно", "правда", "так",
)  # fmt: skip
BY_ITSELF = rf"(?<![\w'-])(?P<word>{'|'.join(sorted(CLAUSES.split(), key=len, reverse=True)).replace('_', ' ')}|{Y}|{N})(?!\w|'|-\w)"
LEADS_IN = (
    r"(?:^|[.,;:!?\n(\[{>–—…→⇒]|(?<!\w)(?:so|technically|strictly|basically|faktisch|praktisch|formal|offiziell|techniquement|officiellement|técnicamente|oficialmente|tecnicamente|ufficialmente|essentially|effectively|ultimately|also|daher|somit|donc|entonces|quindi|portanto|então|dus|итак|значит|thus|then|hence|say|means?|but|and|a|is|well|actually|therefore|probably|likely|certainly|surely|absolutely|definitely|rather|clear|be"
    r"|thought|think|believe|lean|leaning|meant|with|answer|respond|says|towards?|aber|mais|pero|но|sage|dirais|diría|direi|diria))\s?$"
)
NOT_A_NOUN = r"\s?(?:[.,;:!()\[\]}>–—…]|\n|$)|\s(?:it|that|this|they|he|she|there|the|i|we|you|because|since|as|but|from|(?:in|for)\s(?:some|certain|other|most|many)|(?:on|in|to)\sthis)(?!\w)|\s[–—-]"
CORRECTION = (
    r"(?<!\w)(?:wait|hold\son|actually|hmm+|sorry|correction|on\ssecond\sthought|scratch\sthat|let\sme\sre\w*|i\smean|oops|my\smistake|moment|nein,|pardon"
    r"|rather|on\sreflection|in\sfact|however)(?!\w)"
)
TAKES_BACK = (
    r"(?<!\w)(?:wait(?=\s?[,.:;!…–—-]|$)|hold\son(?=\s?[,.:;!…–—-]|$)|hmm+|sorry,|(?:correction|korrektur|rectification|corrección|correzione|correção|исправление)\s?:|on\s(?:second\sthought|reflection|closer\s\w+)|scratch\sthat|strike\sthat|let\sme\s(?:re\w*|correct|double)|i\smean[,:t]|oops|my\smistake|i\s(?:was\swrong|misspoke|misread)"
    r"|no,\sthat's\snot\sright|actually,|actually\s(?=no|yes)|halt|moment\smal|pardon|perdón|scusa)"
)
CONCLUSION = r"(?<!\w)(?:so|therefore|thus|hence|in\sshort|overall|in\sconclusion|conclusion|finally|but|also|daher|donc|mais|pero|итак|но|in\ssum|to\ssum\sup)(?!\w)[^.;!?\n]{0,60}$"
OTHER_CASE = (
    r"(?<!\w)(?:note|n\.?b\.?|if|in(?!\s(?:fact|short|conclusion|summary|general|all|this\scase)\b)|otherwise|elsewhere|were|over|under|among"
    r"|for(?!\s(?:this|that|these|those|which|all|me)\b))(?!\w)"
)
"""In a sentence that says what the answer would be: it is about another case."""
REACH = 60
READ = 200
"""Places of each word of predicates that are read, from the end."""
AT_ONCE = 6
# The characters come first: a pattern that begins with a set of characters is searched for much faster.
SENTENCE_END = (
    r"[.!?…;\n。？！；](?:(?<=[.!?…])(?=\s|$|[)\]}])|(?<=;)(?=\s)|(?<=[\n。？！；]))"
    r"(?<!\be\.g[\s\S])(?<!\bi\.e[\s\S])(?<!\bvs[\s\S])(?<!\bdr[\s\S])(?<!\bmr[\s\S])(?<!\bst[\s\S])(?<!\bmrs[\s\S])(?<!\bms[\s\S])"
    r"(?<!\bprof[\s\S])(?<!\b[a-z]\.[a-z][\s\S])(?<!\bapprox[\s\S])"
)
QUOTED = r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]"
HIDDEN = "‹›"
"""Stands for what a reply quotes."""
SENTENCES = 24
"""The sentences that are read for more than words, from the beginning and from the end."""

MARKED = (
    r"(?:(?:and|but|or)\s)?(?:so|therefore|thus|hence|in\s(?:short|conclusion|summary|sum|brief|other\swords|the\send)|overall|conclusion|to\s(?:sum\sup|conclude|summari[sz]e)|finally|consequently|accordingly|as\sa\sresult|ultimately|all\sin\sall"
    r"|which\s(?:means|implies|shows|makes)(?:\sthat)?|(?:this|that)\s(?:means|implies|shows)(?:\sthat)?|meaning(?:\sthat)?|i\s(?:therefore\s)?conclude(?:\sthat)?|it\sfollows(?:\sthat)?|result|verdict|answer|bottom\sline|in\sfact|after\sall"
    r"|also|daher|somit|folglich|demnach|deshalb|donc|ainsi|par\sconséquent|en\sconclusion|por\s(?:lo\s)?tanto|entonces|así\sque|en\sconclusión|quindi|dunque|pertanto|perciò|portanto|então|logo|итак|значит|следовательно|поэтому)(?!\w)"
)
CONTRAST = r"(?:but|however|yet|still|nevertheless|nonetheless|in\sreality|in\spractice|aber|doch|jedoch|mais|cependant|pero|sin\sembargo|ma|però|mas|porém|но|однако)(?!\w)"
LEAD = rf"[\s*#>•\-–—|→()\[\]]*(?:(?:{MARKED}|{CONTRAST}|and|well|ok|okay|step\s\d+|\d+[.)](?=\s)|unfortunately|sadly|fortunately|honestly|actually|indeed|(?:yes|no)(?=[,:;.!–—])|i'm\s(?:confident|sure|certain)\s(?:in\ssaying\s)?(?:that)?|i\s(?:can\s)?(?:confirm|think|believe|would\ssay|say)(?:\sthat)?|it\sis\s(?:clear|safe\sto\ssay|fair\sto\ssay)(?:\sthat)?|of\scourse|(?:these|our|the|its|their|my)\s(?:\w+\s){{0,2}}(?:results|findings|data|evidence|study|studies|analysis|experiments?|authors?|numbers|trials?|passage|text|article|paragraph|document|report|abstract|contract|policy|source|writer|narrator|excerpt|appendix|table|chart|log|logs|records?|figures?|calculation|tests?|timeline|image)\s(?:\w+ly\s|therefore\s|thus\s)?(?:suggests?|indicates?|shows?|demonstrates?|confirms?|implies|imply|supports?\sthe\s\w+|concluded?|found|finds?|proves?|says?|states?|notes?|reports?|mentions?|explains?|describes?|makes\s(?:it\s)?clear)(?:\sthat|(?=\s(?:it|he|she|they|there)\s))|making|which\smakes|(?:so\s)?i'd\ssay(?:\sthat)?|leider|malheureusement)[,:;]?\s*){{0,4}}"
CONCEDES = r"(?:although|though|even\sthough|even\sif|while|whilst|whereas|despite|zwar|obwohl|bien\sque|même\ssi|aunque|sebbene|anche\sse|embora|хотя)(?!\w)"
WITHIN = r"(?<!\w)(?:therefore|thus|hence|consequently|demnach|somit|folglich|donc|quindi|dunque|pertanto|portanto|следовательно|the\soverall)(?!\w)"
"""What marks the conclusion from inside a clause."""
BESIDE = r"(?<=\w)(?:[,;]\s(?:while|whilst)|[,;]?\s(?:whereas|wohingegen|tandis\sque|alors\sque|mientras\sque|mentre|enquanto|тогда\sкак))\s"
"""What sets two statements against each other."""
FOUND_THAT = r"(?<!\w)(?<!i\s)(?<!we\s)(?:found|finds?|says?|said|shows?|showed|reports?|reported|suggests?|states?|stated|claims?|concludes?|concluded)\s(?:that|so|it|the)(?!\w)"
"""Of two sources in a sentence, neither is the answer."""
BREAK_WORDS = r"\s(?=(?:but|because|since|due\sto|given\sthat|although|though|whereas|weil|denn|parce\sque|car|porque|perché|poiché|потому)\s)|\s(?=so\s(?!that|much|many|far|long|as)\w)"
CLAUSE_BREAK = rf",\s|:\s|\s[–—-]\s|\s\(|{BREAK_WORDS}|\s→\s|…\s"
REPORTED = (
    r"(?<!\w)(?:some|many|most|others?|people|someone|critics|opponents|skeptics?|sceptics?|everyone|one(?!,)|(?<!if\s)(?<!when\s)you|folks|it's\s(?:often|commonly|sometimes|widely)|it\sis\s(?:often|commonly|sometimes|widely|tempting|easy)|at\sfirst|at\sa\sglance|first\s(?:thought|glance|sight|impression)"
    r"|i\s(?:know\si|used\sto|first|initially|originally|once|earlier|previously|began|started|was\sgoing\sto|wanted\sto)|my\s(?:first|initial)\s\w+|naively|intuitively|superficially|commonly|supposedly|allegedly|filters?|rumou?r|legend|nobody|no\sone|only\s(?:a|an)|(?:my|your|his|her|a|the)\s(?:\w+\s)?(?:colleague|friend|teacher|neighbou?r|uncle|boss|student|brother|sister|father|mother|dad|mum|mom|wife|husband|doctor|manager)s?|on\sentend|häufig|oft|viele|man|certains|beaucoup|muchos|algunos|molti|alcuni|muitos|alguns|многие|некоторые)(?!\w)[^.;!?\n]{0,70}"
    r"(?<!\w)(?:say|says|said|think|thinks|thought|believe|believes|believed|claim|claims|claimed|argue|argues|assume|assumes|assumed|answer|guess|call|seems?|seemed|insists?|insisted|swears?|swore|maintains?|tell|tells|told|read|hear|heard|said|thinking|dire|looks?|looked|appears?|appeared|expect|sei|glauben|sagen|répondent|disent|dicen|dicono|dizem|говорят)(?!\w)"
    r"|(?<!\w)at\sfirst\s(?:glance|sight)|(?<!\w)i\s(?:used\sto|first|initially|originally|once)\s(?:think|thought|assumed)|(?<!\w)tempt(?:ing|ed)\sto(?!\w)"
)
OTHERWISE = r"(?<!\w)(?:otherwise|differently|a\sdifferent\sstory|the\s(?:opposite|contrary)|disagrees?|not\sso)(?!\w)"
CONDITIONAL = r"(?<!\w)(?:if|unless|whether|suppose|supposing|assuming|wenn|falls|ob|если)(?!\w)"
UNKNOWN = (
    r"(?<!\w)(?:can't|cannot|can\snot|unable\sto|couldn't|impossible\sto|hard\sto|difficult\sto|not\spossible\sto|too\searly\sto|not\sable\sto)\s(?:\w+\s){0,2}(?:say|tell|know|determine|decide|answer|predict|judge|verify|confirm|assess|provide|be\ssure)(?!\w)"
    r"|(?<!\w)(?:unclear|unknown|uncertain|undetermined|inconclusive|it\sdepends|depends\son|not\senough\sinformation|insufficient|i'm\snot\ssure|i\sam\snot\ssure|i\sdon't\sknow|i\sdo\snot\sknow|no\sidea|hard\sto\ssay|both\ssides|debated|disputed|no\s(?:single|clear|simple|definitive)\sanswer|kommt\sdarauf\san|hängt\s(?:davon|von)|depende|dépend|dipende|зависит)(?!\w)"
)
_OF_IT = r"(?=\s?(?:[.,;:!…–—)]|$)|\s(?:whether|if|either|for\s(?:sure|certain|you)|with\s(?:certainty|confidence|any)|without|from|until|before|yet|here|this|that(?!\s(?:i|it)\s)|it|one\sway|between|based|on\sthis|as\sto\swhether|in\s(?:advance|general)|the\s(?:two|matter|question|answer)|ob)(?!\w))"
"""After `I can't say`: it speaks of the answer, and not of when or why."""
_SETTLE = r"(?:say|tell|know|determine|decide|judge|answer|settle|resolve|reconcile|classify|pick|choose|commit|conclude|rule|predict|respond|make\s(?:that|this|the)\s(?:decision|choice|call)|(?:give|offer|provide|state|name)\s(?:you\s)?(?:an?|any|the|either|medical|legal|financial|a\sclear)\s?(?:\w+\s){0,2}(?:answer|verdict|yes|no|response|advice|recommendation|opinion|judg(?:e)?ment|ruling|either\sway)|(?:take|pick|choose)\s(?:a\s|any\s)?(?:sides?|stance|position)|be\s(?:sure|certain)|advise)"
ABSTAINS = (
    rf"(?<!\w)(?:(?:i|we|one|you)(?:'m|\sam|'re|\sare|'d|\swould|\shonestly|\ssimply|\sreally|\sjust)*\s(?:can't|cannot|can\snot|couldn't|could\snot|unable\sto|not\sable\sto|not\sin\sa\sposition\sto|not\sgoing\sto|won't|will\snot|rather\snot|prefer\snot\sto|don't|do\snot|refuse\sto|decline\sto)|(?:i|ai)\sand\s(?:can't|cannot)|nobody\s(?:can|could)|no\sone\s(?:can|could)|(?:impossible|hard|difficult|not\spossible|isn't\spossible|too\searly|too\ssoon|tricky|tough|no\sway)\s(?:for\s\w+\s)?to|not\s(?:my|our|for\s(?:me|us)|the)?\s?(?:place\s|role\s)?to)\s(?:(?:\w+ly|just|even|really)\s)?{_SETTLE}{_OF_IT}"
    rf"|(?<!\w)(?:(?:i|we|you)\s(?:(?:simply|just|really|honestly|still)\s)?(?:don't|do\snot)\s(?:(?:simply|just|really|yet|actually)\s)?know|nobody\s(?:really\s)?knows|no\sone\s(?:really\s)?knows|i\shave\sno\s(?:idea|opinion|view|stance|answer|position|way\sof\sknowing)|there(?:'s|\sis)\sno\s(?:way\s(?:to|of)\s(?:know|knowing|tell|telling|saying|say)|telling|knowing)){_OF_IT}"
    r"|(?<!\w)(?:it|that|this|the\s(?:question|answer|matter|issue)|which|whether\s[^.,;!?\n]{1,100})(?:'s|\sis|\sremains|\swill\sremain)\s(?:(?:still|really|ultimately|entirely|simply|just|very|quite|largely|honestly|currently|as\syet|in\sthe\send)\s){0,2}(?:open(?=\s?[.,;:!]|$)|an?\sopen\s\w+|unclear|unknown|undecided|unresolved|unsettled|undetermined|uncertain|inconclusive|not\s(?:clear|known|settled|decided)|up\sfor\sdebate|debatable|up\sto\s(?:you|the\sreader|your)|your\s(?:own\s)?(?:call|choice|decision)|for\syou\sto\s(?:decide|judge|say)|a\s(?:matter|question)\sof\s(?:opinion|taste|definition|convention|interpretation|perspective|judg(?:e)?ment|debate|belief|preference)|anyone's\sguess|anybody's\sguess|a\s(?:toss-up|coin\s(?:flip|toss)|judg(?:e)?ment\scall|personal\s(?:choice|decision)))(?!\w)"
    r"|(?<!\w)(?:it|that|this|the\s(?:question|answer|matter|issue|claim|truth)|whether\s[^.,;!?\n]{1,100}|there\sis\snothing\sthat)\s(?:can't|cannot|can\snot|could\snot|couldn't)\s(?:\w+ly\s)?be\s(?:\w+ly\s)?(?:determined|answered|decided|known|settled|resolved|told|judged|said)(?!\w)"
    r"|(?<!\w)(?:opinions?|views?|sources|experts|scholars|scientists|researchers|philosophers|historians|economists|studies|accounts|authorities|people|definitions|conventions|answers)\s(?:(?:still|widely|sharply|strongly|simply|really)\s)?(?:differ|vary|disagree|conflict|diverge|(?:are|remain)\s(?:(?:still|deeply|sharply|evenly|very|too)\s)?(?:divided|split|mixed|contradictory))(?=\s?(?:[.,;:!…–—)]|$)|\s(?:on|about|whether|over|here|as|by|too|and\s(?:i|we|there))(?!\w))"
    r"|(?<!\w)(?:the\sjury\sis\s(?:still\s)?out|there(?:'s|\sis)\s(?:still\s|currently\s|simply\s)?no\s(?:\w+\s)?consensus|there(?:'s|\sis)\s(?:simply\s|really\s)?no\s(?:\w+[\s,]\s?){0,2}(?:single|clear|simple|definitive|definite|determinate|right|straightforward|universal|correct|one|fixed|final|unique|objective|good|yes-or-no|settled)(?:\s(?:or|and)\s\w+)?\sanswer|there\sisn't\san?\s(?:\w+\s){0,3}answer|(?:answer|verdict|judg(?:e)?ment|decision)\s(?:is|seems|remains)\s(?:impossible|difficult|hard|not\spossible|out\sof\sreach)"
    r"|only\syou\scan\s(?:decide|answer|say|know|tell|judge)|you(?:'ll|\swill)?\s(?:have\sto|need\sto|must|should)\s(?:decide|judge|choose)(?:\s\w+)?(?:\sfor)?\syourself|i(?:'ll|\swill|'d|\swould|\smust|\shave\sto)?\s(?:\w+\s)?leave\s(?:that|it|this|the\s(?:decision|judg(?:e)?ment|answer|choice|question))\s(?:up\s)?(?:to|open)|i(?:'d|\swould)?\s(?:would\s|'d\s)?need\s(?:to\s(?:see|know|have)|more)\s[^.;!?\n]{1,80}(?:before|to)\s(?:i\s)?(?:can\s|could\s)?(?:answer|say|tell|decide|judge|know|give)|(?:not\senough|insufficient|too\slittle)\s(?:\w+\s)?(?:information|data|evidence|context|detail|details)\s(?:\w+\s){0,4}to\s(?:say|tell|know|determine|decide|judge|answer|give)|(?:i|we)(?:'m|\sam|\sremain|'re|\sare)\s(?:neutral|agnostic|undecided|of\stwo\sminds|on\sthe\sfence|torn)(?!\w)"
    r"|i(?:'m|\sam)\s(?:genuinely\s|really\s|honestly\s|just\s|simply\s)?(?:not\s(?:\w+\s)?(?:sure|certain)|unsure)(?=\s?(?:[.;:!…–—]|,\s|$)|\s(?:whether|if|either|here|about\s(?:this|that))(?!\w)))"
    r"|(?<!\w)(?:(?:kann|können|könnte|lässt|möchte|will|mag)\s(?:(?:ich|man|wir|sich|das|es|hier|dazu|darauf|ihnen|dir)\s){1,3}(?:(?:so|leider|daher|einfach)\s)?(?:nicht|keine?|schwer)\s(?:[^\W\d_]+\s){0,3}(?<!man\sso\snicht\s)(?:sagen|beurteilen|beantworten|entscheiden|wissen|bestimmen|feststellen|antworten|antwort|festlegen|klären)|(?:ich|wir|man)\s(?:kann|können|möchte|will)\s(?:(?:das|es|ihnen|dir|dazu|darauf|hier|mich)\s){0,2}(?:so\s|leider\s)?(?:nicht|keine?)\s(?:[^\W\d_]+\s){0,3}(?:sagen|beurteilen|beantworten|entscheiden|wissen|bestimmen|antworten|geben|festlegen)|(?:ich|man|wir)\s(?:weiß|wissen)\s(?:es\s|das\s)?nicht(?=\s?[.,;!]|$)|weiß\s(?:man|niemand|ich)(?:\snicht)?(?=\s?[.,;!]|$)|niemand\sweiß|(?:das|es)\s(?:müssen\ssie|musst\sdu|müsst\sihr)\s(?:\w+\s)?(?:selbst|selber)|liegt\s(?:ganz\s)?(?:bei|an)\s(?:ihnen|dir)|(?:die\s)?meinungen\s(?:gehen|sind)\s\w+|ist\s(?:umstritten|unklar|ansichtssache|offen)(?=\s?[.,;!]|$))(?!\w)"
    r"|(?<!\w)(?:(?:je|on|nous)\sne\s(?:(?:peux|saurais|peut|pouvons|veux|sais|sait|savons)\s(?:\w+\s)?pas|saurais)(?:\s(?:[^\W\d_]+\s){0,3}(?:répondre|dire|trancher|juger|prononcer|savoir|affirmer|décider))?(?=\W|$)|(?:impossible|difficile)\s(?:à|de)\s(?:dire|savoir|répondre|trancher|déterminer)|(?:les\s)?avis\s(?:sont\spartagés|divergent|diffèrent)|c'est\sà\s(?:vous|toi)\sde|(?:personne|nul)\sne\s(?:le\s)?sait)(?!\w)"
    r"|(?<!\w)(?:no\s(?:le\s|te\s|les\s)?(?:puedo|podría|sabría|se\spuede|es\sposible|podemos)\s(?:[^\W\d_]+\s){0,2}(?:decir\w*|responder\w*|saber\w*|determinar\w*|dar\w*|asegurar\w*|contestar\w*|decidir\w*)|no\s(?:lo\s)?sé(?=\s?[.,;!]|$|\ssi\s)|(?:es\s)?(?:imposible|difícil)\s(?:de\s)?(?:saber|decir|determinar|responder)\w*|(?:las\s)?opiniones\s(?:difieren|varían|están\sdivididas)|nadie\s(?:lo\s)?sabe|(?:eso\s)?(?:depende\sde|queda\sa|es)\s(?:decisión\s(?:suya|tuya)|usted|ti|su\scriterio))(?!\w)"
    r"|(?<!\w)(?:non\s(?:le\s|ti\s|vi\s)?(?:posso|si\spuò|saprei|è\spossibile|possiamo)\s(?:[^\W\d_]+\s){0,2}(?:dire|dirlo|rispondere|sapere|saperlo|stabilire|stabilirlo|determinare|decidere|dare|darle|darti)|non\s(?:lo\s)?so(?=\s?[.,;!]|$|\sse\s)|(?:è\s)?(?:impossibile|difficile)\s(?:da\s)?(?:dir|saper|stabilir|risponder)\w+|(?:i\spareri|le\sopinioni)\s(?:sono|divergono|variano)|nessuno\slo\ssa|(?:sta|tocca|spetta)\sa\s(?:te|lei|voi))(?!\w)"
    r"|(?<!\w)(?:não\s(?:lhe\s|te\s)?(?:posso|é\spossível|podemos|dá\spara|se\spode|consigo|saberia)\s(?:[^\W\d_]+\s){0,2}(?:dizer|responder|saber|determinar|decidir|dar|afirmar)|não\ssei(?=\s?[.,;!]|$|\sse\s)|(?:é\s)?(?:impossível|difícil)\s(?:de\s)?(?:dizer|saber|determinar|responder)|(?:as\s)?opiniões\s(?:divergem|variam|estão)|ninguém\ssabe|(?:cabe|fica)\sa\s(?:você|si|ti)|a\sdecisão\sé\ssua)(?!\w)"
    r"|(?<!\w)(?:не\s(?:могу|можем|берусь|возьмусь)\s(?:[^\W\d_]+\s){0,3}(?:ответить|сказать|судить|решить|знать|утверждать)|(?:я\s|мы\s)?не\s(?:знаю|знаем)(?=\s?[.,;!]|$)|(?:невозможно|нельзя|трудно|сложно)\s(?:[^\W\d_]+\s){0,2}(?:сказать|узнать|ответить|определить|знать)|мнения\s(?:\w+\s)?(?:расходятся|разделились|разнятся)|никто\sне\sзнает|решать\s(?:вам|тебе))(?!\w)"
    r"|无法(?:确定|判断|回答|知道|得知|给出)|不确定|不知道|说不准|很难说|看法不一|(?:分|わ)かりません|判断できません|何とも言えません|答えられません|意見が分かれ|모르겠습니다|알\s수\s없습니다|답할\s수\s없습니다|판단할\s수\s없습니다"
)
"""What says that a reply gives no answer: `I can't tell.`, `Opinions differ.`, `That's up to you.`"""
CLOSING = 3_000
"""Characters at the end, and at the beginning, that are searched for it."""
AUX = r"(?:is|are|was|were|am|does|do|did|can|could|will|would|has|have|had|should|must|may)"
ANAPHOR = (
    rf"(?:it|this|that|they|these|those|he|she|we|you|i|there|both(?:\sof\sthem)?|the\stwo|all\sof\sthem)\s(?:(?:really|certainly|definitely|actually|probably|also|indeed|simply|clearly|usually|generally|most\slikely|sure)\s)?"
    rf"(?:(?P<aux>{AUX})(?P<not>n't|\snot|not)?|(?P<never>won't|can't|shan't|ain't))(?:\s(?:indeed|actually|so|too|though|either|really|at\sall|in\sfact|in\sthis\scase|here|one|that|correct|just\sthat|exactly\sthat|anymore|any\smore|still))*(?=\s?(?:[.,;:!–—)]|$|\sbecause\s|\ssince\s|\sas\s))"
    r"|(?:it|he|she|that|there)(?P<short>'s)\s(?P<not2>not)(?=\s?(?:[.,;:!–—)]|$))|(?:they|we|you)(?P<short2>'re)\s(?P<not3>not)(?=\s?(?:[.,;:!–—)]|$))"
)
NONE = (
    r"(?:(?:absolutely|literally)\s)?(?:none|not\s(?:a\s(?:single\s)?(?:one|shred|trace|bit)|one|any|the\sslightest)|nichts|keine[rns]?|aucune?|ningun[oa]|nessun[oa]|nenhum|nenhuma)"
    r"(?:\s(?:whatsoever|at\sall|so\sfar|(?:that\s)?(?:i|we)(?:'m|\sam)?\s(?:know|aware|can\ssee)(?:\sof)?|überhaupt|du\stout|en\sabsoluto))?(?=\s?[.,;:!–—]|\s?$)(?!,?\s(?:but|except|aber|mais|pero)(?!\w))"
)
ASKS_FOR_ANY = (
    r"(?:is|are|was|were|will|would)\sthere\s|(?:is|are|was|were|do|does|did|has|have|had|can|could|will)\s(?:\w+\s){0,4}any(?!\w)"
    r"|gibt\ses\s|(?:est-ce\squ'il\s)?y\s?-?\sa-t-il\s|hay\s|c'è\s|ci\ssono\s|há\s"
)
"""`None` answers questions for any of a kind."""
SAYS_SO = rf"(?P<yes>{any_of(YES_IDIOMS)})|(?P<no>{any_of(NO_IDIOMS)})"
SPEAKS_OF_ELSE = (
    r"[,!.–—\s]{1,3}(?:(?:i|we)(?:'d|'ll|\s(?:can|could|will|would|do|am))?\s(?:(?:be\s)?(?:happy|glad|able)\s(?:to\s)?)?(?:answer|help|explain|understand|see|know|hear|get|appreciate|realize|realise|check|look|remember|agree\sthat)(?!\w)|(?:there\s(?:are|is)\s(?:\w+\s)?(?:people|those|folks|a\ssaying|a\srumou?r|a\smyth|a\slegend)|(?:some|many|most|lots\sof|plenty\sof|several)\s(?:\w+\s)?(?:people|folks|websites|sites|sources|books|articles|users))"
    r"|(?:it|that)(?:'s|\sis)\s(?:a\s(?:\w+\s)?(?:question|rumou?r|belief|story|myth)|often\s(?:said|claimed)|commonly\s(?:said|believed|claimed)|said\sthat)|that\sis\swhat|that's\swhat|for\s(?:decades|years|centuries)|on\sentend|man\shört|happy\sto|no,)"
)
"""After `yes` or `no`: it does not answer the question."""
GRANTS = r"\s?,?\s?(?:but|however|yet|though|although|only|up\sto|until|to\s(?:some|a\scertain)\s(?:degree|extent))(?!\w)"
"""After `that's true`: what is granted is not the answer."""
FLIPS_REPORT = r"(?<!\w)(?:mistaken|wrong|incorrect|misinformed|not\s(?:so|true|right|correct)|isn't\s(?:so|true|right|correct)|a\s(?:\w+\s)?(?:myth|misconception)|i\s(?:take\s(?:that|it)\sback|disagree|stand\scorrected)|false|untrue|don't\sagree|do\snot\sagree)(?!\w)"
"""What says that others, or the reply before, were wrong."""
HEDGES = (
    r"(?:[^\W\d_]{3,16}ly\sspeaking|[^\W\d_]{2,14}ally(?=,)|hence|thus|therefore|consequently|accordingly|as\sa\sresult|generally|mostly|largely|usually|typically|normally|broadly|basically|essentially|technically|strictly|speaking|in\sgeneral|in\sprinciple|in\stheory|in\sshort|in\sa\sword|probably|likely|most\slikely|very\slikely|almost\scertainly|presumably|apparently|evidently|clearly|obviously|definitely|certainly|surely|indeed|that(?=\sit\s)|it\s(?:looks|seems|appears)\s(?:like|that|as\sif)|i\s(?:think|believe|guess|suppose)(?:\sthat)?"
    r"|i'm\s(?:\w+\s)?(?:confident|sure|certain|convinced)(?:\sthat)?|unfortunately|sadly|regrettably|alas|luckily|fortunately|thankfully|happily|honestly|frankly|actually|really|simply|simple|well|hmm+|oh|ah|okay|ok|alright|so|and|but|a|an|the|hard|big|firm|clear|resounding|definite|i'm\safraid|i'm\ssorry\sto\ssay|sorry|to\sbe\shonest|if\syou\sask\sme|if\si\shad\sto\s(?:guess|choose|say|pick)|i\s(?:would|'d)\ssay|i'd\ssay|personally|from\swhat\si\s\w+|meh|as\sfar\sas\si\s(?:know|can\stell)|to\smy\sknowledge|in\smy\s(?:opinion|view)|surprisingly|believe\sit\sor\snot|for\sthe\smost\spart|by\sand\slarge|as\sa\srule|on\sbalance|overall|all\sin\sall|my\s(?:answer|guess|verdict)(?:\sis|:)?|great\squestion|good\squestion"
    r"|leider|grundsätzlich|eigentlich|wahrscheinlich|vermutlich|im\sprinzip|tja|na|malheureusement|probablement|en\sprincipe|en\sgénéral|eh\sbien|desafortunadamente|lamentablemente|probablemente|en\sgeneral|en\sprincipio|bueno|pues|purtroppo|probabilmente|in\sgenere|beh|infelizmente|provavelmente|em\sgeral|bem|bom|к\sсожалению|вероятно|скорее\sвсего|в\sобщем|конечно|увы|[a-d][.):]|[a-d]\)|→)"
)
JUDGING = frozenset(listed("true correct right false wrong incorrect untrue"))
"""Words that judge what was said: they are verdicts, or predicates."""
BEFORE_NOUNS = JUDGING - {"incorrect", "untrue"} | {"no", "si", "sure", "negative"}
"""Verdicts that say something else before another word: `the right way`."""
GOES_ON_WITH = frozenset(listed("and with in given although though if unless or is for"))
"""Words that may follow such a verdict."""
OPENS_NOTHING = frozenset(listed("right sure true exactly exact si claro genau"))
"""Words for yes that begin replies of all kinds."""
OPENS_WEAKLY = OPENS_NOTHING | {
    *listed("indeed correct absolutely certainly naturally obviously agreed of_course")
}
"""Words for yes that open a reply only if they are all of a sentence."""
CLASSIFIES = r"(?:is|are|was|were|does|do)\s(?:this|that|these|those|it|the\s(?:following|above|premise|hypothesis|passage|(?:\w+\s)?(?:review|message|e-?mail|comment|text|tweet|post|sentiment|sentence|headline|speaker|author|tone|customer|reviewer|user|mail|word|image|picture|sender)))(?!\w)"
"""A question for a class, which its name answers."""
LABELLED = (
    r"(?:(?:overall|final|predicted|general|predominant|dominant)\s)*(?:sentiment|label|class(?:ification)?|category|verdict|result|tone|type|rating|status|decision|prediction|assessment|relation(?:ship)?|polarity|outcome|determination|judg(?:e)?ment|conclusion|answer|final\sanswer|output|evaluation|finding)"
    r"\s?(?:is|:|=|→|->|–|—)\s?"
)
SUPPORTS = r"(?:(?:supported|confirmed|backed(?:\sup)?|entailed|implied|justified|substantiated|verified|established|proven|corroborated|borne\sout|upheld|well[\s-]founded|consistent\swith|in\sline\swith|accurate|true|correct|right|valid|sound|a\sfact|real|the\scase)(?!\w))"
DISPUTES = (
    r"(?:(?:contradicted|refuted|debunked|disproved|disproven|unsupported|unfounded|unsubstantiated|unproven|baseless|inconsistent\swith|mistaken|misleading|ruled\sout|at\sodds\swith|false|wrong|incorrect|untrue|inaccurate|invalid"
    r"|(?:a|an|one\sof\sthe|just\sa|just\san|simply\sa|purely\sa)?\s?(?:\w+\s|\w+,\s|\w+-\w+\s){0,3}(?:myth|myths|misconception|misconceptions|misunderstanding|fallacy|urban\slegend|legend|old\swives'\stale|hoax|lie|error|mistake|falsehood))(?!\w))"
)
THE_CLAIM = rf"(?:(?:it|this|that|which)(?=[\s'])|(?:the|this|that|your|its|his|her|their)\s(?:\w+(?:'s)?\s){{0,2}}?(?:statement|claim|assertion|sentence|proposition|hypothesis|premise|assumption|conclusion|fact|quote|equation|suggestion|idea|theory|belief|notion|reasoning|proof|argument|solution|calculation|answer)(?:\s{HIDDEN})?(?:\sthat\s[^.,;!?\n]{{1,80}}?)?)"
JUDGES = (
    rf"(?<!\w)(?:{THE_CLAIM}(?:\s(?:is|was|has\sbeen|seems(?:\sto\sbe)?|appears(?:\sto\sbe)?|remains)|'s)(?P<not>\snot|n't|\sno\slonger|\snever)?\s{ADVERBS}(?:(?P<supports>{SUPPORTS})|(?P<disputes>{DISPUTES}))"
    rf"|{THE_CLAIM}\s{ADVERBS}(?:(?P<not2>does\snot|doesn't|cannot|can't|do\snot|don't|did\snot|didn't)\s{ADVERBS})?(?:(?P<holds>holds?(?!\w)|stands?(?!\w)|checks?\sout|follows?(?!\w)|match(?:es)?\sthe)|(?P<fails>fails?(?!\w|\sto)|falls?\s(?:apart|flat|short)|contradicts?(?!\w)|conflicts?\swith|clashes\swith|goes\sagainst|breaks\sdown)))"
    r"|(?<!\w)(?:which|this|that|it)\s(?:\w+ly\s)?(?:(?P<backs2>confirms|supports|proves|bears\sout)|(?P<opposes2>contradicts|refutes|disproves|rules\sout|undermines))\s(?:the|this|that|your)\s(?:\w+\s)?(?:claim|statement|hypothesis|conclusion|assertion)"
    rf"|(?<!\w)(?:the|this|that|its|their)\s(?:\w+\s){{0,2}}(?:passage|text|article|document|premise|premises|paragraph|author|report|source|sources|evidence|data|study|studies|abstract|context|excerpt|contract|transcript|records?|research|snippet|story|evidence)\s{ADVERBS}(?:(?P<not3>does\snot|doesn't|do\snot|don't|never|did\snot|didn't|cannot)\s{ADVERBS})?(?:(?:does|do|did)\s)?(?:(?:clearly|explicitly|directly|actually|even|fully)\s)?"
    r"(?:(?P<backs>supports?|confirms?|entails?|backs?(?:\sup)?|establish(?:es)?|prov(?:es?)|demonstrates?|impl(?:y|ies))|(?P<opposes>contradicts?|refutes?|disproves?|rules?\sout|disputes?|denies|says?\sotherwise|says?\sthe\sopposite|suggests?\sotherwise|tells?\sa\sdifferent\sstory)|(?P<mentions>mentions?|says?|states?|specif(?:y|ies)|indicates?|provides?|gives?|contains?))(?!\w)"
)
