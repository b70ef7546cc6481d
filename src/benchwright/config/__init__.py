"""What users write once: `benchwright.toml`, and the list of knobs that file and command line share."""

from benchwright.config._benchmark import BenchmarkConfig
from benchwright.config._file import CONFIG_NAMES, ConfigFile, find_config, read_config
from benchwright.config._model import ModelConfig, resolve_headers
from benchwright.config._run_settings import MODEL_TYPES, RUN_SETTINGS
from benchwright.config._setting import Setting

__all__ = [
    "CONFIG_NAMES",
    "MODEL_TYPES",
    "RUN_SETTINGS",
    "BenchmarkConfig",
    "ConfigFile",
    "ModelConfig",
    "Setting",
    "find_config",
    "read_config",
    "resolve_headers",
]
