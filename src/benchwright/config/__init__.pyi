"""What users write once: `benchwright.toml`, suites, and the list of knobs that files and command line share."""

from benchwright.config._benchmark import BenchmarkConfig, BenchmarkType
from benchwright.config._documents import SUITE_SUFFIXES, read_document
from benchwright.config._evaluations.builtin import BuiltinBenchmark, read_builtin
from benchwright.config._evaluations.code import CodeBenchmark
from benchwright.config._evaluations.nocode import ROW_ERRORS, FewShotTable, NoCodeBenchmark
from benchwright.config._evaluations.style import (
    ALGORITHMS,
    GRADERS,
    NORMALIZE,
    ChoiceStyle,
    GraderStyle,
    GraderType,
)
from benchwright.config._file import CONFIG_NAMES, ConfigFile, find_config, read_config
from benchwright.config._model import (
    ModelConfig,
    profile_model,
    provider_model,
    read_model_entry,
)
from benchwright.config._profiles import DEFAULT_PROFILE_URL, PROFILES, Profile, find_profile
from benchwright.config._providers import PROVIDERS, Provider, is_provider_value, resolve_provider
from benchwright.config._run_settings import (
    BODY_SETTINGS,
    BY_NAME,
    JUDGE_SETTINGS,
    OPTIONS,
    RECORDED,
    RESCORE_OPTIONS,
    RESUME_OVERRIDES,
    RUN_SETTINGS,
    RunKeywords,
    RunOptions,
    layered,
    settings_deciding,
    settings_of,
)
from benchwright.config._servers import (
    check_headers,
    header_variables,
    host_url,
    resolve_headers,
    trusted_certificates,
)
from benchwright.config._setting import HARMLESS, Decides, Setting
from benchwright.config._suite_settings import (
    MODES,
    SUITE_SETTINGS,
    SUMMARIZERS,
    SuiteOptions,
    checked_mode,
    checked_summarizer,
    split_keywords,
)

__all__ = [
    "ALGORITHMS",
    "BODY_SETTINGS",
    "BY_NAME",
    "CONFIG_NAMES",
    "DEFAULT_PROFILE_URL",
    "GRADERS",
    "HARMLESS",
    "JUDGE_SETTINGS",
    "MODES",
    "NORMALIZE",
    "OPTIONS",
    "PROFILES",
    "PROVIDERS",
    "RECORDED",
    "RESCORE_OPTIONS",
    "RESUME_OVERRIDES",
    "ROW_ERRORS",
    "RUN_SETTINGS",
    "SUITE_SETTINGS",
    "SUITE_SUFFIXES",
    "SUMMARIZERS",
    "BenchmarkConfig",
    "BenchmarkType",
    "BuiltinBenchmark",
    "ChoiceStyle",
    "CodeBenchmark",
    "ConfigFile",
    "Decides",
    "FewShotTable",
    "GraderStyle",
    "GraderType",
    "ModelConfig",
    "NoCodeBenchmark",
    "Profile",
    "Provider",
    "RunKeywords",
    "RunOptions",
    "Setting",
    "SuiteOptions",
    "check_headers",
    "checked_mode",
    "checked_summarizer",
    "find_config",
    "find_profile",
    "header_variables",
    "host_url",
    "is_provider_value",
    "layered",
    "profile_model",
    "provider_model",
    "read_builtin",
    "read_config",
    "read_document",
    "read_model_entry",
    "resolve_headers",
    "resolve_provider",
    "settings_deciding",
    "settings_of",
    "split_keywords",
    "trusted_certificates",
]
