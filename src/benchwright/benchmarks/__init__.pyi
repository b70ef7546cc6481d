from benchwright.benchmarks._bounded_templates import data_template as data_template
from benchwright.benchmarks._check import (
    CheckReport as CheckReport,
    SamplePrompt as SamplePrompt,
)
from benchwright.benchmarks._importing import import_file as import_file, imported_modules as imported_modules
from benchwright.benchmarks._loading import (
    BENCHMARK_PLUGINS as BENCHMARK_PLUGINS,
    custom_media_file as custom_media_file,
    load_benchmarks as load_benchmarks,
    missing_target as missing_target,
)
from benchwright.benchmarks._media_rows import names_media as names_media
from benchwright.benchmarks._nocode import (
    BUILTIN_EVALUATIONS as BUILTIN_EVALUATIONS,
    builtin_definition as builtin_definition,
)
from benchwright.benchmarks._nocode.load import freeze_nocode as freeze_nocode, load_nocode as load_nocode
from benchwright.benchmarks._questions import (
    written_as as written_as,
)
from benchwright.benchmarks._questions.load import load_questions as load_questions
from benchwright.benchmarks._questions.options import QuestionOptions as QuestionOptions
from benchwright.benchmarks._questions.rows import (
    FileReport as FileReport,
)
from benchwright.benchmarks._requests import (
    Generation as Generation,
)
from benchwright.benchmarks._rows import (
    AskableRows as AskableRows,
    RowSettings as RowSettings,
)
from benchwright.benchmarks._scan import estimate_tokens as estimate_tokens
from benchwright.benchmarks._scoring import (
    scores_of as scores_of,
)
from benchwright.benchmarks._spec import (
    BenchmarkSpec as BenchmarkSpec,
    RecordedSample as RecordedSample,
)
from benchwright.benchmarks._strategies import strategy_of as strategy_of
from benchwright.benchmarks._strategies.base import Answer as Answer, Asking as Asking
from benchwright.benchmarks._template import (
    PlainText as PlainText,
    template_file as template_file,
    text_or_file as text_or_file,
)
from benchwright.benchmarks._tool_tasks import (
    CallAdvice as CallAdvice,
    ToolTask as ToolTask,
    ToolTurn as ToolTurn,
)
from benchwright.benchmarks._used_files import (
    Watch as Watch,
)
from benchwright.benchmarks._warnings import unmet_requirements as unmet_requirements
