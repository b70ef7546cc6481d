from benchwright.datasets._fetchers import (
    FetchResult as FetchResult,
    file_of_dataset as file_of_dataset,
    local_path as local_path,
    scheme_of as scheme_of,
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
    HubCache as HubCache,
)
from benchwright.datasets._hf_uri import (
    hub_commits as hub_commits,
    parse_hf_uri as parse_hf_uri,
    recorded_pins as recorded_pins,
    with_parameters as with_parameters,
)
from benchwright.datasets._open import DatasetRef as DatasetRef, open_dataset as open_dataset
from benchwright.datasets._reader import DatasetReader as DatasetReader
from benchwright.datasets._sampling import RowRange as RowRange, Sampling as Sampling
from benchwright.datasets._values import Chunk as Chunk, Filter as Filter, PlacedRow as PlacedRow
