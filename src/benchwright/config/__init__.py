"""What users write once: `benchwright.toml`, suites, and the list of knobs that files and command line share."""

from benchwright.config._benchmark import BenchmarkConfig
from benchwright.config._file import CONFIG_NAMES, ConfigFile, find_config, read_config
from benchwright.config._headers import check_headers, resolve_headers
from benchwright.config._model import ModelConfig, host_url, profile_model, read_model_entry
from benchwright.config._profiles import DEFAULT_PROFILE_URL, PROFILES, Profile, find_profile
from benchwright.config._run_settings import MODEL_TYPES, RUN_SETTINGS
from benchwright.config._setting import Setting
from benchwright.config._suite.datasets import QUESTION_KEYS, SuiteDataset
from benchwright.config._suite.documents import SUITE_SUFFIXES, read_document
from benchwright.config._suite.models import SuiteModel
from benchwright.config._suite.read_base import read_base
from benchwright.config._suite.settings import (
    MODES,
    SUITE_SETTINGS,
    SUMMARIZERS,
    checked_mode,
    checked_summarizer,
)
from benchwright.config._suite.suite import Suite, read_suite, suite_of

__all__ = [
    "CONFIG_NAMES",
    "DEFAULT_PROFILE_URL",
    "MODEL_TYPES",
    "MODES",
    "PROFILES",
    "QUESTION_KEYS",
    "RUN_SETTINGS",
    "SUITE_SETTINGS",
    "SUITE_SUFFIXES",
    "SUMMARIZERS",
    "BenchmarkConfig",
    "ConfigFile",
    "ModelConfig",
    "Profile",
    "Setting",
    "Suite",
    "SuiteDataset",
    "SuiteModel",
    "check_headers",
    "checked_mode",
    "checked_summarizer",
    "find_config",
    "find_profile",
    "host_url",
    "profile_model",
    "read_base",
    "read_config",
    "read_document",
    "read_model_entry",
    "read_suite",
    "resolve_headers",
    "suite_of",
]
