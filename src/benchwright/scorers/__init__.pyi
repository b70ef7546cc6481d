from benchwright.scorers._choices import (
    gold_letter as gold_letter,
    gold_letters as gold_letters,
    mcq_ranked as mcq_ranked,
    multiple_choice_acc as multiple_choice_acc,
    multiple_choice_acc_verbatim as multiple_choice_acc_verbatim,
    options_of as options_of,
    reread_target as reread_target,
)
from benchwright.scorers._judge import judge_score as judge_score
from benchwright.scorers._judge_config import (
    CutReply as CutReply,
    JudgeCall as JudgeCall,
    JudgeConfig as JudgeConfig,
    JudgeFailedError as JudgeFailedError,
)
from benchwright.scorers._judge_panel import judge_panel as judge_panel
from benchwright.scorers._judge_templates import (
    TEMPLATES as TEMPLATES,
    JudgeTemplate as JudgeTemplate,
)
from benchwright.scorers._letters import (
    mcq_letter_extract as mcq_letter_extract,
    mcq_letter_strict as mcq_letter_strict,
)
from benchwright.scorers._mcq.cascade import extract_choice as extract_choice
from benchwright.scorers._mcq.guesses import (
    aisbench_choice as aisbench_choice,
    nearest_choice as nearest_choice,
)
from benchwright.scorers._mcq.scorer import (
    extract_choices as extract_choices,
    mcq_answers as mcq_answers,
    mcq_remarks as mcq_remarks,
    mcq_sets as mcq_sets,
    set_remarks as set_remarks,
)
from benchwright.scorers._named import (
    find_scorer as find_scorer,
    named_scorer as named_scorer,
)
from benchwright.scorers._numbers import (
    gsm8k_answer as gsm8k_answer,
    gsm8k_answer_strict as gsm8k_answer_strict,
)
from benchwright.scorers._overlap import (
    bleu as bleu,
    chrf as chrf,
    chrf_sacre as chrf_sacre,
    corpus_bleu as corpus_bleu,
    rouge as rouge,
)
from benchwright.scorers._qa import (
    holds_answer as holds_answer,
    qa_answers as qa_answers,
    qa_metric_names as qa_metric_names,
    qa_remarks as qa_remarks,
)
from benchwright.scorers._retrieval import (
    retrieval_metrics as retrieval_metrics,
    retrieval_metrics_dedup as retrieval_metrics_dedup,
)
from benchwright.scorers._scorer import (
    AnswerScores as AnswerScores,
    ScorerInput as ScorerInput,
    Scores as Scores,
    all_of as all_of,
    any_of as any_of,
    verdicts_in as verdicts_in,
)
from benchwright.scorers._text import (
    contains as contains,
    exact_match as exact_match,
    f1_token as f1_token,
    levenshtein_similarity as levenshtein_similarity,
    regex_match as regex_match,
)
from benchwright.scorers._tool_calls import tool_calls_match as tool_calls_match
from benchwright.scorers._yesno import (
    boolean_yesno as boolean_yesno,
    boolean_yesno_strict as boolean_yesno_strict,
)
