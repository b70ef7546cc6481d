from benchwright.datasets._fetchers import (
    FetchResult as FetchResult,
    file_of_dataset as file_of_dataset,
    with_file_options as with_file_options,
)
from benchwright.datasets._formats import (
    has_installed_format as has_installed_format,
)
from benchwright.datasets._hf.errors import HubError as HubError
from benchwright.datasets._hf.random_access import HubDataset as HubDataset, HubInfo as HubInfo
from benchwright.datasets._hf.settings import cache_folder as cache_folder
from benchwright.datasets._hf.upkeep import (
    CacheEntry as CacheEntry,
    cache_state as cache_state,
    clear_cache as clear_cache,
    prune_cache as prune_cache,
    verify_cache as verify_cache,
)
from benchwright.datasets._hf_uri import (
    hub_commits as hub_commits,
    parse_hf_uri as parse_hf_uri,
    recorded_pins as recorded_pins,
    with_parameters as with_parameters,
)
from benchwright.datasets._media import (
    MediaError as MediaError,
    MediaItem as MediaItem,
    check_data_url as check_data_url,
    is_data_url as is_data_url,
    look_at_media as look_at_media,
    looks_like_media as looks_like_media,
    media_of as media_of,
    names_media as names_media,
)
from benchwright.datasets._meta import read_meta as read_meta
from benchwright.datasets._open import DatasetRef as DatasetRef, open_dataset as open_dataset
from benchwright.datasets._reader import DatasetReader as DatasetReader
from benchwright.datasets._sampling import RowRange as RowRange, Sampling as Sampling
from benchwright.datasets._values import Batch as Batch, Filter as Filter, PlacedRow as PlacedRow
