from benchwright.config._benchmark import (
    BenchmarkConfig as BenchmarkConfig,
    BuiltinBenchmark as BuiltinBenchmark,
)
from benchwright.config._config_layers import (
    ConfigValue as ConfigValue,
    as_table as as_table,
    leaves as leaves,
)
from benchwright.config._environment import (
    assigned as assigned,
    exported as exported,
    read_variables as read_variables,
    recorded_variables as recorded_variables,
    unset_variables as unset_variables,
)
from benchwright.config._files import (
    SUITE_SUFFIXES as SUITE_SUFFIXES,
    ConfigFile as ConfigFile,
    find_config as find_config,
    read_document as read_document,
    read_toml as read_toml,
)
from benchwright.config._keywords import keywords_in_errors as keywords_in_errors
from benchwright.config._load_settings import (
    LOAD_OPTIONS as LOAD_OPTIONS,
    SHARED_WITH_RUNS as SHARED_WITH_RUNS,
    LoadOptions as LoadOptions,
)
from benchwright.config._model import (
    ModelConfig as ModelConfig,
)
from benchwright.config._nocode import NoCodeBenchmark as NoCodeBenchmark
from benchwright.config._nocode_style import ChoiceStyle as ChoiceStyle, GraderStyle as GraderStyle
from benchwright.config._pipeline import PipelineSettings as PipelineSettings, StepEntry as StepEntry
from benchwright.config._pipeline_reader import pipeline_settings as pipeline_settings
from benchwright.config._pipeline_steps import (
    STEPS as STEPS,
    Caching as Caching,
    ExchangeReport as ExchangeReport,
    FailedRequests as FailedRequests,
    PayloadModifier as PayloadModifier,
    PipelineStep as PipelineStep,
    ProgressTracking as ProgressTracking,
    RaiseClientErrors as RaiseClientErrors,
    Reasoning as Reasoning,
    RequestLogging as RequestLogging,
    ResponseLogging as ResponseLogging,
    ResponseStats as ResponseStats,
    SystemMessage as SystemMessage,
)
from benchwright.config._prices import (
    Price as Price,
    Prices as Prices,
)
from benchwright.config._recorded_runs import question_options as question_options
from benchwright.config._run_config import (
    RunConfig as RunConfig,
)
from benchwright.config._run_config_files import (
    DescribedRun as DescribedRun,
    RunConfigs as RunConfigs,
)
from benchwright.config._run_config_keys import (
    BAKED_IN as BAKED_IN,
    EXTRA as EXTRA,
    EXTRA_NAMES as EXTRA_NAMES,
    KEY_OF as KEY_OF,
    MODULE as MODULE,
    RUN_CONFIG_KEYS as RUN_CONFIG_KEYS,
)
from benchwright.config._run_settings import (
    BODY_SETTINGS as BODY_SETTINGS,
    BY_NAME as BY_NAME,
    RECORDED as RECORDED,
    RESCORE_OPTIONS as RESCORE_OPTIONS,
    RESUME_OVERRIDES as RESUME_OVERRIDES,
    RUN_SETTINGS as RUN_SETTINGS,
    RunOptions as RunOptions,
    layered as layered,
    settings_deciding as settings_deciding,
    settings_of as settings_of,
)
from benchwright.config._servers import (
    PROFILES as PROFILES,
    PROVIDERS as PROVIDERS,
    Profile as Profile,
    header_variables as header_variables,
    resolve_headers as resolve_headers,
)
from benchwright.config._setting import HARMLESS as HARMLESS, Decides as Decides, Setting as Setting
from benchwright.config._stores import named_store as named_store, using_store as using_store
from benchwright.config._suite_settings import (
    SUITE_SETTINGS as SUITE_SETTINGS,
    SuiteOptions as SuiteOptions,
)
from benchwright.config._typed_keywords import LoadKeywords as LoadKeywords, RunKeywords as RunKeywords
from benchwright.config._values import read_values as read_values
