"""Resolves a URI to a `ResolvedHub`: repository, commit, configuration, split and the parts to read."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import DatasetError, JsonObject
from benchwright.datasets._hf.commits import Records, listing, pin
from benchwright.datasets._hf.errors import RepoRef
from benchwright.datasets._hf.hub import Hub
from benchwright.datasets._hf.layout import Config, card_configs, data_paths
from benchwright.datasets._hf.library import library_loader, what_library_does
from benchwright.datasets._hf.loaders import Loader, PinnedDataset, export_loader, files_loader, viewer_loader
from benchwright.datasets._hf.row_cache import Part
from benchwright.datasets._hf.settings import HubSettings, hub_settings
from benchwright.datasets._hf.splits import (
    Term,
    choose_config,
    choose_split,
    no_such_split,
    parse_split,
    spelled_with_plus,
    split_identity,
)
from benchwright.datasets._hf_uri import HfUri, parse_hf_uri, recorded_split

LISTED_FILES = 50
"""How many files a record names; all are counted."""


class ResolvedHub(Struct, frozen=True):
    """A hub dataset with everything decided."""

    written: str
    """The URI as the user wrote it."""
    uri: HfUri
    """The same with commit, configuration and split filled in: it always gives these rows."""
    settings: HubSettings
    repo: str
    """The repository's present name."""
    commit: str
    config: str
    """The configuration."""
    split: str
    """The split text."""
    splits: tuple[str, ...]
    """All splits of the configuration."""
    rule: str
    """Why this split was chosen, in words."""
    pieces: tuple[tuple[Term, tuple[Part, ...]], ...]
    """The rows, in order: each term of the split text, with the parts of its split."""
    facts: JsonObject
    """Further facts for the record."""
    notes: tuple[str, ...]
    """Notes for readers of the results."""

    def provenance(self) -> JsonObject:
        """Where the rows come from, for the run's record."""
        files = [file for _, parts in self.pieces for part in parts for file in part.published()]
        return {
            "kind": "huggingface",
            "endpoint": self.settings.endpoint,
            "revision": parse_hf_uri(self.written).revision,
            **split_identity(self.repo, self.commit, self.config, self.split),
            "splits": list(self.splits),
            "split_chosen": self.rule,
            "loader": self.uri.loader,
            "files": [*files[:LISTED_FILES]],
            "file_count": len(files),
            "uri": str(self.uri),
            **self.facts,
        }


def resolve(written: str) -> ResolvedHub:
    """Decide everything that a hub URI leaves open. Raises DatasetError with the choices if that is not possible."""
    uri = parse_hf_uri(written)
    settings = hub_settings()
    hub = Hub(settings)
    records = Records(settings.cache, uri.dataset)
    terms = None if uri.split is None else parse_split(written, spelled_with_plus(uri.split))
    ref, commit, note = pin(hub, records, RepoRef(written, uri.dataset, uri.revision))
    known = listing(hub, records, ref, commit)
    dataset = PinnedDataset(uri, hub, records, ref, commit, known, note)
    loader, config = _loader_and_config(dataset)
    config = _labelled(written, config, terms)
    splits = tuple(config.splits)
    if terms is None:
        recorded = recorded_split(written)
        name, why = (recorded, "as recorded") if recorded in splits else choose_split(splits)
        text, terms = name, (Term(name),)
    else:
        text, why = spelled_with_plus(uri.split or ""), "given in the URI"
    terms = tuple(term for given in terms for term in _spelled_out(written, given, config))
    pieces = tuple((term, loader.parts(config, term.split)) for term in terms)
    return ResolvedHub(
        written=written,
        uri=replace(uri, revision=commit, config=config.name, split=text, loader=loader.name),
        settings=settings,
        repo=known.repo,
        commit=commit,
        config=config.name,
        split=text,
        splits=splits,
        rule=why,
        pieces=pieces,
        facts=loader.facts,
        notes=tuple(_notes(dataset, loader, config, text, why, splits)),
    )


def _loader_and_config(dataset: PinnedDataset) -> tuple[Loader, Config]:
    text, uri = dataset.ref.uri, dataset.uri
    by_name: dict[str, Callable[[PinnedDataset], Loader]] = {
        "export": export_loader, "viewer": viewer_loader, "datasets": library_loader,
    }  # fmt: skip
    if uri.loader in by_name:
        if uri.loader != "datasets" and (uri.data_files or uri.field):
            raise DatasetError(
                f"{text}: loader={uri.loader} takes neither data_files nor field. Leave them out"
            )
        loader = by_name[uri.loader](dataset)
        return loader, choose_config(text, uri.config, loader.configs)
    why_not, files = _why_not_files(dataset)
    if files is not None:
        config = choose_config(text, uri.config, files.configs)
        why_not = _unusable(config)
        if why_not is None:
            return files, config
    if uri.loader == "files" or uri.data_files is not None:
        raise DatasetError(f"{text}: {why_not}")
    return _detour(dataset, why_not or "")


def _why_not_files(dataset: PinnedDataset) -> tuple[str | None, Loader | None]:
    """Why the files of the repository cannot be read as the dataset; or the loader that reads them."""
    text, listed = dataset.ref.uri, dataset.listing
    paths = [file.path for file in listed.files]
    script = f"{listed.repo.rpartition('/')[2]}.py"
    if dataset.uri.data_files is None and script in paths and not card_configs(text, listed.front):
        return (
            f"the dataset is made by a script of its repository ({script}), and no such code is run here",
            None,
        )
    loader = files_loader(dataset)
    if loader.configs:
        return None, loader
    inside = f"it contains {', '.join(paths[:8])}{' …' if len(paths) > 8 else ''}" if paths else "it is empty"
    return f"the repository has no data files in a format that benchwright reads ({inside})", None


def _unusable(config: Config) -> str | None:
    if config.unsupported:
        options = ", ".join(config.unsupported)
        return f"the card asks for a way of reading its files that benchwright does not support ({options})"
    if not any(config.splits.values()):
        return f"configuration {config.name!r} names no existing file in a format that benchwright reads"
    return None


def _detour(dataset: PinnedDataset, why: str) -> tuple[Loader, Config]:
    """Another loader for the same commit. The error lists every loader that failed, and the alternatives."""
    text, uri = dataset.ref.uri, dataset.uri
    failures = []
    for name, open_loader in (
        ("the hub's Parquet export", export_loader),
        ("the dataset viewer", viewer_loader),
    ):
        try:
            loader: Loader = open_loader(dataset)
        except DatasetError as exc:
            failures.append(f"{name}: {str(exc).removeprefix(f'{text}: ')}")
            continue
        return loader, choose_config(text, uri.config, loader.configs)
    files = data_paths(file.path for file in dataset.listing.files)
    cures = [f"name a file with ?split=test&data_files={files[0]}"] if files else []
    cures += [
        "read the export as it is with ?revision=refs/convert/parquet",
        "let the `datasets` library try with loader=datasets",
        "download the data and give the file's path",
    ]
    trust = f" About trust_remote_code=true: {what_library_does()}." if uri.trust_remote_code else ""
    raise DatasetError(
        f"{text}: {why}. Other loaders of the same commit failed:\n  "
        + "\n  ".join(failures)
        + f"\nYou can: {'; '.join(cures)}.{trust}"
    )


def _labelled(written: str, config: Config, terms: tuple[Term, ...] | None) -> Config:
    """Files named by `data_files` are the split that the URI names, else `train`."""
    if "" not in config.splits:
        return config
    names = list(dict.fromkeys(term.split for term in terms or ())) or ["train"]
    if len(names) > 1:
        raise DatasetError(
            f"{written}: data_files names the files of one split, but split names {', '.join(names)}"
        )
    return replace(config, splits={names[0]: config.splits[""]})


def _spelled_out(written: str, term: Term, config: Config) -> list[Term]:
    if term.split in config.splits:
        if not config.splits[term.split] and any(config.splits.values()):
            raise DatasetError(
                f"{written}: split {term.split!r} names no existing file in a format that benchwright reads; "
                f"splits with files: {', '.join(name for name, files in config.splits.items() if files)}"
            )
        return [term]
    if term.split == "all":
        return [replace(term, split=name) for name in config.splits]
    raise no_such_split(written, term.split, config.name, list(config.splits))


def _notes(
    dataset: PinnedDataset, loader: Loader, config: Config, split: str, why: str, splits: tuple[str, ...]
) -> list[str]:
    notes = [note for note in (dataset.note, dataset.listing.note) if note]
    if dataset.uri.split is None and len(splits) > 1:
        first = splits[0]
        also = "also takes it" if first == split else f"takes {first!r} instead"
        notes.append(
            f"split {split!r} was chosen: {why}. NeMo Evaluator, which takes the first split, {also}. "
            f"Choose one with ?split="
        )
    if config.left_aside:
        some = ", ".join(config.left_aside[:3]) + (" …" if len(config.left_aside) > 3 else "")
        notes.append(f"files in another format were left out: {some}. Choose files with ?data_files=")
    if loader.name in ("export", "viewer") and dataset.uri.loader is None:
        source = "the hub's Parquet export" if loader.name == "export" else "the dataset viewer"
        notes.append(
            f"the rows come from {source} of commit {dataset.commit}, not from the repository's files"
        )
    if dataset.uri.trust_remote_code:
        notes.append(
            f"trust_remote_code=true had no effect: no code of a repository is run here; {what_library_does()}"
        )
    return notes
