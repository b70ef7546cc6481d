"""Users' data: files, URIs and Python sources become streams of rows, each with the line it came from.

Knows nothing of prompts, models or scores. `open_dataset` gives a reader that streams in bounded memory and
can be read again and again; `load_dataset` gives a plain list. Whatever is wrong with a row is reported with
file and line, never repaired in silence.
"""

from benchwright.datasets._fetchers import SOURCE_PLUGINS, Fetcher, FetchResult, register_fetcher
from benchwright.datasets._formats import FORMAT_PLUGINS, has_installed_format
from benchwright.datasets._hf.errors import HubError
from benchwright.datasets._hf.pins import hub_commits, recorded_pins
from benchwright.datasets._hf.random_access import HubDataset, HubInfo
from benchwright.datasets._hf.upkeep import (
    CacheEntry,
    CacheState,
    cache_state,
    clear_cache,
    prune_cache,
    verify_cache,
)
from benchwright.datasets._hf_uri import HfUri, parse_hf_uri, with_parameters
from benchwright.datasets._local import with_file_options
from benchwright.datasets._media import (
    MediaError,
    MediaItem,
    check_data_url,
    is_data_url,
    look_at_media,
    looks_like_media,
    media_of,
    names_media,
)
from benchwright.datasets._meta import read_meta
from benchwright.datasets._open import DatasetRef, load_dataset, open_dataset
from benchwright.datasets._program import HasRows
from benchwright.datasets._ranges import RowRange
from benchwright.datasets._reader import DatasetReader
from benchwright.datasets._sampled import MAX_TOKENS_FIELD
from benchwright.datasets._sampling import Sampling, output_lengths, sample_indexes
from benchwright.datasets._values import Batch, Filter

__all__ = [
    "FORMAT_PLUGINS",
    "MAX_TOKENS_FIELD",
    "SOURCE_PLUGINS",
    "Batch",
    "CacheEntry",
    "CacheState",
    "DatasetReader",
    "DatasetRef",
    "FetchResult",
    "Fetcher",
    "Filter",
    "HasRows",
    "HfUri",
    "HubDataset",
    "HubError",
    "HubInfo",
    "MediaError",
    "MediaItem",
    "RowRange",
    "Sampling",
    "cache_state",
    "check_data_url",
    "clear_cache",
    "has_installed_format",
    "hub_commits",
    "is_data_url",
    "load_dataset",
    "look_at_media",
    "looks_like_media",
    "media_of",
    "names_media",
    "open_dataset",
    "output_lengths",
    "parse_hf_uri",
    "prune_cache",
    "read_meta",
    "recorded_pins",
    "register_fetcher",
    "sample_indexes",
    "verify_cache",
    "with_file_options",
    "with_parameters",
]
