from benchwright.datasets._fetchers import (
    SOURCE_PLUGINS as SOURCE_PLUGINS,
)
from benchwright.datasets._fetchers import (
    Fetcher as Fetcher,
)
from benchwright.datasets._fetchers import (
    FetchResult as FetchResult,
)
from benchwright.datasets._fetchers import file_of_dataset as file_of_dataset
from benchwright.datasets._fetchers import (
    register_fetcher as register_fetcher,
)
from benchwright.datasets._fetchers import with_file_options as with_file_options
from benchwright.datasets._formats import (
    FORMAT_PLUGINS as FORMAT_PLUGINS,
)
from benchwright.datasets._formats import (
    has_installed_format as has_installed_format,
)
from benchwright.datasets._hf.errors import HubError as HubError
from benchwright.datasets._hf.random_access import HubDataset as HubDataset
from benchwright.datasets._hf.random_access import HubInfo as HubInfo
from benchwright.datasets._hf.settings import cache_folder as cache_folder
from benchwright.datasets._hf.upkeep import (
    CacheEntry as CacheEntry,
)
from benchwright.datasets._hf.upkeep import (
    CacheState as CacheState,
)
from benchwright.datasets._hf.upkeep import (
    cache_state as cache_state,
)
from benchwright.datasets._hf.upkeep import (
    clear_cache as clear_cache,
)
from benchwright.datasets._hf.upkeep import (
    prune_cache as prune_cache,
)
from benchwright.datasets._hf.upkeep import (
    verify_cache as verify_cache,
)
from benchwright.datasets._hf_uri import (
    HfUri as HfUri,
)
from benchwright.datasets._hf_uri import hub_commits as hub_commits
from benchwright.datasets._hf_uri import (
    parse_hf_uri as parse_hf_uri,
)
from benchwright.datasets._hf_uri import recorded_pins as recorded_pins
from benchwright.datasets._hf_uri import (
    with_parameters as with_parameters,
)
from benchwright.datasets._media import (
    MediaError as MediaError,
)
from benchwright.datasets._media import (
    MediaItem as MediaItem,
)
from benchwright.datasets._media import (
    check_data_url as check_data_url,
)
from benchwright.datasets._media import (
    is_data_url as is_data_url,
)
from benchwright.datasets._media import (
    look_at_media as look_at_media,
)
from benchwright.datasets._media import (
    looks_like_media as looks_like_media,
)
from benchwright.datasets._media import (
    media_of as media_of,
)
from benchwright.datasets._media import (
    names_media as names_media,
)
from benchwright.datasets._meta import read_meta as read_meta
from benchwright.datasets._open import (
    DatasetRef as DatasetRef,
)
from benchwright.datasets._open import (
    load_dataset as load_dataset,
)
from benchwright.datasets._open import (
    open_dataset as open_dataset,
)
from benchwright.datasets._reader import DatasetReader as DatasetReader
from benchwright.datasets._sampled import MAX_TOKENS_FIELD as MAX_TOKENS_FIELD
from benchwright.datasets._sampling import RowRange as RowRange
from benchwright.datasets._sampling import (
    Sampling as Sampling,
)
from benchwright.datasets._sampling import (
    output_lengths as output_lengths,
)
from benchwright.datasets._sampling import (
    sample_indexes as sample_indexes,
)
from benchwright.datasets._values import Batch as Batch
from benchwright.datasets._values import Filter as Filter
from benchwright.datasets._values import HasRows as HasRows
