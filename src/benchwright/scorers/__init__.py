"""Scorers compare a response with its target.

The twelve documented scorers keep their formulas to the last digit, so that you can compare numbers with published ones.
Next to them, under their own names, are variants without the traps: `chrf_sacre`, `corpus_bleu`, `mcq_letter_strict`,
`gsm8k_answer_strict`, `boolean_yesno_strict`, `multiple_choice_acc_verbatim`, `retrieval_metrics_dedup`. For questions in
a bare file there are `mcq_answers`, which reads a choice by a declared cascade of rules, and `qa_answers`, which measures
a free answer in several ways at once. Nothing here touches disk or network: a judge is called through a function that
the run supplies.
"""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
