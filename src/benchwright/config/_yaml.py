"""Reads the YAML of configurations: plain values, texts as keys, and no key twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from benchwright.core import ConfigError

if TYPE_CHECKING:
    import yaml

_MERGE = "tag:yaml.org,2002:merge"
"""The tag of the key `<<`, which adds the keys of another table that the table itself does not have."""


def load_yaml(text: str, place: Callable[[yaml.Node], str]) -> object:
    """The value of a document. Raises `yaml.YAMLError` if it is not YAML, and ConfigError with the `place` of a key that is not
    a text or occurs twice in its table."""
    import yaml

    class YamlLoader(yaml.SafeLoader):
        """A loader with special constructors."""

    def mapping(loader: YamlLoader, node: yaml.MappingNode) -> dict[str, object]:
        seen = set()
        for written, _ in node.value:
            if written.tag == _MERGE:
                continue
            key = _key(place(written), written, loader.construct_object(written, deep=True))
            if key in seen:
                raise ConfigError(f"{place(written)}: the key {key!r} appears twice; keep one of them")
            seen.add(key)
        built: dict[Any, object] = yaml.SafeLoader.construct_mapping(loader, node, deep=True)
        return {_key(place(node), node, key): value for key, value in built.items()}

    def scalar(loader: YamlLoader, node: yaml.ScalarNode) -> str:
        return _joined(str(loader.construct_scalar(node)))

    YamlLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    YamlLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_SCALAR_TAG, scalar)
    return yaml.load(text, YamlLoader)


def aliased_keys(text: str) -> set[str]:
    """The top-level keys of a valid document whose values, in whole or in part, also stand below another one, by an alias."""
    import yaml

    root = yaml.compose(text, yaml.SafeLoader)
    entries = root.value if isinstance(root, yaml.MappingNode) else []
    parts = [(str(key.value), _parts(value)) for key, value in entries]
    uses = Counter(part for _, own in parts for part in own)
    return {key for key, own in parts if any(uses[part] > 1 for part in own)}


def _parts(node: yaml.Node) -> set[int]:
    """The identities of a node and all nodes below it; an alias is the node that it stands for."""
    found: set[int] = set()
    left: list[Any] = [node]
    while left:
        part = left.pop()
        if isinstance(part, tuple):  # a key with its value
            left.extend(part)
        elif id(part) not in found:
            found.add(id(part))
            left.extend(part.value if isinstance(part.value, list) else ())
    return found


def _key(place: str, node: yaml.Node, key: object) -> str:
    """The key as a text. Whole numbers are allowed, because they are texts in JSON too, as in `logit_bias`."""
    written = node.value if isinstance(node.value, str) else str(key)
    if isinstance(key, str):
        return key
    if type(key) is int and written == str(key):
        return str(key)
    raise ConfigError(
        f"{place}: the key {written} is {_shown(key)} in YAML, and not a text; put it into quotes"
    )


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "null" if value is None else repr(value)


def _joined(text: str) -> str:
    r"""Join surrogate pairs. JSON writes a character beyond \uFFFF as two surrogates, which YAML reads as two characters."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
