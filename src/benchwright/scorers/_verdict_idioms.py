"""Idioms that say yes or no to a known question, each with a reply that it reads.

In a row, an example stands before `::` and a regular expression of lower-case text after it, with `_` for `\\s`. The order counts: of
several that match, the first does.
"""

from __future__ import annotations

YES_IDIOMS = r"""
i think so :: (?:i|we)(?:'d|_would)?_(?:\w+_)?(?:think|say|believe|suppose|guess|reckon|imagine|hope)_so
so it seem :: so_(?:it_(?:would_)?(?:seem|appear)s?|i_(?:think|believe)|it_is)
very so :: (?:very|most|quite|apparently|probably|definitely|certainly|evidently|presumably)_(?:much_)?so
i agree :: i_(?:fully_|completely_|wholeheartedly_|totally_)?agree(?!\w)
can't argue with :: (?:i_|we_)?(?:can't|cannot|can_not|couldn't|could_not|can_hardly)_(?:really_|possibly_)?(?:argue_with|disagree|dispute|deny|fault|agree_more)
nothing could be truer :: nothing_could_be_(?:truer|more_(?:true|accurate|correct))
can't think of any reason not to :: (?:i|we)?_?(?:can't|cannot|don't|do_not|can)_(?:think_of|see|find)_(?:any|a|no)_(?:good_)?reason_(?:not_to|to_disagree|to_doubt|why_not)
don't see why not :: (?:i_)?(?:don't|do_not|can't|cannot)_see_why_not
why not :: why_not
there's no reason not to :: there(?:'s|_is)_no_(?:good_)?reason_(?:not_to|why_not|to_doubt)
there's no denying. :: there(?:'s|_is|_can_be)_no_(?:denying|doubt|question|disputing|arguing|getting_around)(?:_(?:about|with)_(?:it|that|this))?(?=[.,;:!]|$|_that)
no doubt. :: no_(?:doubt|question|problem|two_ways)_?(?:about_(?:it|that))?(?=_?[.,;:!–—]|$)
nothing speaks against :: nothing_(?:speaks_against|stands_in_the_way|wrong_with_(?:that|it))
always has. :: (?:it_|they_|he_|she_)?always_(?:has|have|did|does|was|were|is|will)(?:_(?:been|be))?(?=_?[.,;:!]|$)
it sure does :: (?:it|they|he|she|you|we|that|i)_(?:sure|certainly|absolutely|definitely|most_certainly)_(?:does|do|did|is|are|can|was|were|has|have|will)
go ahead :: go_(?:right_)?ahead
go for it :: go_for_it
feel free :: feel_free
by all means :: by_all_means
help yourself :: help_yourself
be my guest :: be_my_guest
you're in the clear :: you(?:'re|_are)_(?:in_the_clear|good_to_go|spot_on|fine|covered|allowed_to|welcome_to|free_to)
spot on :: spot_on
bang on :: bang_on
nailed it :: nailed_it
you got it :: you_got_it
you bet :: you_bet
you betcha :: you_betcha
sure thing :: sure_thing
nothing to stop you :: (?:there(?:'s|_is)_)?nothing_(?:is_)?(?:to_stop|stopping|to_prevent|preventing)_\w+
for sure :: for_sure
totally :: totally
without doubt :: without_(?:a_|any_)?(?:doubt|question)
unquestionably :: unquestionably
undoubtedly :: undoubtedly
undeniably :: undeniably
beyond doubt :: beyond_(?:any_)?(?:doubt|question)
hands down :: hands_down
guilty as charged :: guilty_as_charged
that sounds right :: that_sounds_(?:right|about_right)
sounds right :: sounds_(?:right|good)
that's the case :: that(?:'s|_is)_(?:the_case|so|a_fact|how_it_is|exactly_right|indeed_so|what_it_says)
it is so :: it_(?:is|'s)_(?:so|very_likely)
very likely :: very_likely
highly likely :: highly_likely
more likely than not :: more_likely_than_not
most likely :: most_likely(?!_not)
as true as :: as_(?:true|sure)_as
how could it not :: how_could_it_not
who wouldn't :: who_would(?:n't|_not)
only a fool would say no :: only_an?_(?:\w+_)?(?:fool|idiot)_would_(?:say_no|disagree|deny)
nobody could dispute :: nobody_\w+_(?:dispute|deny|doubt)
no cabe duda :: no_cabe_(?:la_menor_)?duda
sin duda :: sin_(?:ninguna_|lugar_a_)?dudas?
sans doute :: sans_(?:aucun_|nul_)?doute
ohne zweifel :: ohne_(?:jeden_)?zweifel
kein zweifel :: kein_zweifel
zweifellos :: zweifellos
selbstverständlich :: selbstverständlich
allerdings :: allerdings
aber sicher :: aber_sicher
aber ja :: aber_ja
na klar :: na_klar
klar :: klar
freilich :: freilich
gewiss :: gewiss
sicher :: sicher(?:lich)?
durchaus :: durchaus
eher ja :: eher_ja
ich denke schon :: ich_(?:denke|glaube|meine)_(?:schon|ja)
das stimmt :: das_stimmt(?!_nicht)
so ist es :: so_ist_es
da spricht nichts dagegen :: da_spricht_nichts_dagegen
es spricht nichts dagegen :: es_spricht_(?:\w+_)?nichts_dagegen
in der tat :: in_der_tat
jawohl :: jawohl
tout à fait :: tout_à_fait
absolument :: absolument(?!_pas)
exactement :: exactement
évidemment :: évidemment
certainement :: certainement(?!_pas)
bien entendu :: bien_entendu
en effet :: en_effet
plutôt oui :: plutôt_oui
je pense que oui :: je_(?:pense|crois)_que_oui
c'est le cas :: c'est_(?:bien_)?le_cas
mais oui :: mais_oui
volontiers :: volontiers
ganz genau :: ganz_genau
auf jeden fall :: auf_jeden_fall
en efecto :: en_efecto
así es :: así_es
desde luego :: desde_luego
sí que es :: sí_que_(?:lo_)?(?:es|está|hay|puede|fue|son)
creo que sí :: creo_que_sí
más bien sí :: más_bien_sí
exactamente :: exactamente
exacto :: exacto
absolutamente :: absolutamente(?!_no)
con certeza :: con_certeza
isso mesmo :: isso_mesmo
acho que sim :: acho_que_sim
exatamente :: exatamente
esatto :: esatto
esattamente :: esattamente
eh sì :: eh_sì
proprio così :: proprio_così
così è :: così_è
direi di sì :: direi_di_sì
penso di sì :: penso_di_sì
senza dubbio :: senza_(?:alcun_)?dubbio
assolutamente :: assolutamente(?!_no)
sem dúvida :: sem_(?:nenhuma_)?dúvida
безусловно :: безусловно
несомненно :: несомненно
без сомнения :: без_сомнения
скорее да :: скорее_да
думаю да :: думаю,?_да
именно :: именно(?:_так)?
так и есть :: так_и_есть
当然 :: 当然
没错 :: 没错
可以 :: 可以
会的 :: 会的
有的 :: 有的
能 :: 能
そうです :: そうです
その通り :: その通り
もちろん :: もちろん
맞습니다 :: 맞습니다
그렇습니다 :: 그렇습니다
물론 :: 물론
"""
NO_IDIOMS = r"""
not since 2006 :: not_since_(?:\d{4}|the|january|february|march|april|may|june|july|august|september|october|november|december)
i'd love to say yes, but :: i(?:'d|_would)_(?:love|like)_to_(?:say|answer)_(?:with_)?(?:a_)?yes,_but
i wish i could say yes, but :: i_wish_i_could_say_yes,_but
i fail to see how :: i_(?:(?:fail|struggle)_to|don't|do_not|can't|cannot)_see_how
i doubt it :: i_(?:really_|highly_|very_much_|seriously_)?doubt_(?:it|that|so)
i don't think so :: i(?:'d|_would)?_(?:\w+_)?(?:don't|do_not|wouldn't|would_not|not)_(?:\w+_)?(?:think|say|believe)_(?:so|that(?=_?[.,;!]|$))
i'd say not :: i(?:'d|_would)_say_not
i think not :: i(?:'d|_would)?_(?:think|believe|suppose|guess|reckon|fear)_not
i'm afraid not :: i'm_afraid_not
not as far as i know :: not_(?:as_far_as|that)_(?:i|we)(?:'m|_am|'re|_are|'ve)?_(?:know|aware|can_(?:see|tell)|heard|seen|understand)(?:_of)?
not to my knowledge :: not_to_(?:my|our)_knowledge
not in canada. :: not_(?:in|at|under|by|with|for|on|as|according_to|from)_(?!all|every|most|some|many|part)[^.,;:!?\n]{1,50}(?=_?[.,;:!]|$)
not likely :: not_(?:likely|necessarily|anymore|any_more|any_longer|by_a_long_shot|even_close|even_remotely|in_the_(?:least|slightest)|a_chance|so(?!\w)|yet|exactly|usually|normally|generally|typically|always|ever|particularly|especially|much|really|quite|remotely|entirely|one_bit|a_bit|officially|legally|currently|technically|strictly|directly|per_se|as_such|true|correct|the_case|allowed|possible|safe|recommended|advisable|so_fast)
doubtful :: doubtful
i'd rather not :: i(?:'d|_would)_rather_(?:not|you_did(?:n't|_not))
avoid that road. :: (?:please_)?avoid_[^.,;:!?\n]{1,50}(?=_?[.,;:!]|$)
unlikely :: unlikely
very unlikely :: (?:very|highly|extremely|most)_unlikely
hardly :: hardly
scarcely :: scarcely
far from it :: far_from_(?:it|the_truth|true)
the opposite :: (?:quite_|just_|exactly_)?the_(?:opposite|contrary|reverse)(?:_is_true)?
it is the other way round :: (?:(?:it|that|this)(?:'s|_is)_)?(?:actually_|exactly_|just_|in_fact_)?the_(?:other_way_a?round|reverse|inverse)(?!\w)
quite the contrary :: quite_the_(?:contrary|opposite|reverse)
nothing of the sort :: nothing_of_the_(?:sort|kind)
nothing in the text to back this :: (?:there(?:'s|_is)_)?nothing_(?:in|about)_[^.,;!?\n]{1,40}?_(?:to_(?:back|support|suggest|confirm|indicate)|(?:that_)?(?:says|supports|suggests|indicates|backs|confirms|mentions))_(?:this|that|so|it|the_claim)(?:_up)?
nothing says so :: nothing_(?:in_\w+_\w+_)?(?:says|suggests|indicates|supports)_(?:so|this|that|it)
anything but :: anything_but
no chance :: no_(?:chance|such_\w+|sirree|can_do|dice)
guess again :: (?:guess|think|try)_again
dream on :: dream_on
fat chance :: fat_chance
as if. :: as_if(?=_?[.!]|$)
not on your life :: not_on_your_life
when pigs fly :: when_pigs_fly
nice try :: nice_try
i wish :: i_wish
if only. :: if_only(?=_?[.!]|$|_it)
wishful thinking :: wishful_thinking
never has. :: never_(?:has|have|did|does|was|were|is|will)(?:_(?:been|be))?(?=_?[.,;:!]|$)
nobody did :: nobody_did
no one did :: no_one_did
neither is :: neither_(?:of_(?:them|the_two)_)?(?:is|does|was|did|do|are)
none of them is :: none_of_them_(?:is|does|was|did|do|are|were)
you're mistaken :: (?:you|they|he|she|we|someone|people)(?:'re|_are|'s|_is)_(?:mistaken|wrong|misinformed)
couldn't be further from :: couldn't_be_(?:further_from|more_wrong)
nothing could be further from :: nothing_could_be_(?:further_from|more_wrong)
don't. :: don't(?=_?[.,;!–—]|$|_(?:do|even|try|risk|bother))
do not. :: do_not(?=_?[.,;!–—]|$|_(?:do|even|try|risk))
please don't :: please_don't
better not :: better_not
best not :: best_not
you'd better not :: you'd_better_not
i'd advise against :: i(?:'d|_would)_(?:strongly_)?(?:advise|recommend)_against
i'd avoid :: i(?:'d|_would)_(?:avoid|skip|steer)
avoid it :: avoid_(?:it|that|this|doing)
steer clear :: steer_clear
give it a miss :: give_it_a_miss
hands off :: hands_off
wrong again :: wrong_(?:again|way_round)
das kann man so nicht sagen :: das_kann_man_so_nicht_sagen
das gegenteil ist der fall :: das_gegenteil_ist_(?:der_fall|wahr|richtig)
c'est le contraire :: c'est_(?:tout_)?le_contraire
es al revés :: es_(?:justo_)?al_revés
è il contrario :: è_(?:proprio_)?il_contrario
so nicht :: so_nicht
keineswegs :: keineswegs
keinesfalls :: keinesfalls
mitnichten :: mitnichten
ganz und gar nicht :: ganz_und_gar_nicht
eher nicht :: eher_nicht
eher nein :: eher_nein
wohl kaum :: wohl_kaum
kaum :: kaum
ich denke nicht :: ich_(?:denke|glaube)_(?:nicht|nein|eher_nicht|kaum)
nicht dass ich wüsste :: nicht_(?:dass_ich_wüsste|wirklich|unbedingt|mehr|ganz)
überhaupt nicht :: überhaupt_nicht
gar nicht :: gar_nicht
im gegenteil :: im_gegenteil
das stimmt nicht :: das_stimmt_(?:so_)?nicht
das ist ein irrtum :: das_ist_ein_(?:\w+_)?(?:irrtum|mythos|märchen|missverständnis|gerücht)
en aucun cas :: en_aucun_cas
aucunement :: aucunement
nullement :: nullement
absolument pas :: absolument_pas
pas vraiment :: pas_(?:vraiment|forcément|exactement|tout_à_fait|à_ma_connaissance|encore|du_tout)
plutôt non :: plutôt_non
je ne pense pas :: je_ne_(?:pense|crois)_pas
je pense que non :: je_(?:pense|crois)_que_non
au contraire :: au_contraire
bien au contraire :: bien_au_contraire
loin de là :: loin_de_là
c'est un mythe :: c'est_un(?:e)?_(?:\w+_)?(?:mythe|légende|erreur|idée_reçue)
de ninguna manera :: de_ninguna_(?:manera|forma)
en absoluto :: en_absoluto
para nada :: para_nada
ni mucho menos :: ni_mucho_menos
no creo :: no_creo
creo que no :: creo_que_no
más bien no :: más_bien_no
al contrario :: al_contrario
todo lo contrario :: todo_lo_contrario
qué va :: qué_va
es un mito :: es_un_(?:\w+_)?(?:mito|error)
affatto :: affatto
per niente :: per_niente
nient'affatto :: nient'affatto
niente affatto :: niente_affatto
non direi :: non_direi
direi di no :: direi_di_no
non credo :: non_credo
non penso :: non_penso
penso di no :: penso_di_no
non proprio :: non_proprio
anzi :: anzi
al contrario :: al_contrario
neanche per sogno :: neanche_per_sogno
è un mito :: è_un_(?:\w+_)?(?:mito|errore|leggenda)
de jeito nenhum :: de_jeito_nenhum
de modo algum :: de_modo_(?:algum|nenhum)
nem pensar :: nem_pensar
acho que não :: acho_que_não
não acredito :: não_acredito
pelo contrário :: pelo_contrário
é um mito :: é_um_(?:\w+_)?mito
ни в коем случае :: ни_в_коем_случае
вовсе нет :: вовсе_н(?:ет|е)
отнюдь :: отнюдь
скорее нет :: скорее_нет
думаю нет :: думаю,?_нет
вряд ли :: вряд_ли
наоборот :: наоборот
совсем нет :: совсем_нет
никак нет :: никак_нет
это миф :: это_миф
没有 :: 没有
不可以 :: 不可以
不能 :: 不能
不会 :: 不会
不行 :: 不行
未必 :: 未必
并不是 :: 并不是
并非 :: 并非
ちがいます :: ちがいます
そうではありません :: そうではありません
아닙니다 :: 아닙니다
그렇지 않습니다 :: 그렇지_않습니다
"""


def idioms(table: str) -> list[tuple[str, str]]:
    """The rows of a table: example and pattern."""
    rows = [row.split(" :: ") for row in table.strip().splitlines()]
    return [(example, pattern.replace("_", r"\s")) for example, pattern in rows]


def any_of(table: str) -> str:
    """The pattern of a whole table."""
    return "|".join(pattern for _, pattern in idioms(table))
