"""References in a launcher's file, as OmegaConf writes them: `${target.api_endpoint.url}`, `${.type}`, `${oc.env:NAME,otherwise}`.

Other texts between `${` and `}` are data: `${HOME}` is for a shell, unless the file has such a key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from benchwright.core import ConfigError, is_secret_name

_KEY = re.compile(r"(\.*)([A-Za-z_][\w-]*(?:\.[\w-]+|\[\w+\])*)")
"""A key: dots that lead upwards, then its words."""
_RESOLVER = re.compile(r"(oc(?:\.\w+)+|now|hydra):")
"""What is called by name. Only `oc.env` is known here."""
_DEPTH = 20
_MOST = 10_000
"""References that may be resolved: each can stand for several others, so that few lines could take hours."""

_Place: TypeAlias = tuple[str, ...]


class References(Struct):
    """Resolves references to the values of a document, and to variables of the environment."""

    document: Mapping[str, Any]
    """The values that are referred to."""
    met: int = 0
    """How many references have been resolved, those inside others included."""

    def resolved(self, source: str, value: Any, key: str = "") -> Any:
        """The value without references. `key` is its place in the document, empty for the document itself."""
        return self._of(source, value, tuple(key.split(".")) if key else (), 0)

    def _of(self, source: str, value: Any, place: _Place, depth: int) -> Any:
        if isinstance(value, Mapping):
            return {key: self._of(source, entry, (*place, str(key)), depth) for key, entry in value.items()}
        if isinstance(value, list):
            return [
                self._of(source, entry, (*place, str(number)), depth) for number, entry in enumerate(value)
            ]
        if not isinstance(value, str) or "${" not in value:
            return value
        if depth > _DEPTH:
            raise ConfigError(f"{source}: {'.'.join(place)}: {value} refers to itself; write a value")
        return self._text(source, value, place, depth)

    def _text(self, source: str, text: str, place: _Place, depth: int) -> Any:
        """The text with its references replaced; the value itself if the text is one reference."""
        parts: list[Any] = []
        rest = text
        while (start := rest.find("${")) >= 0:
            if rest[:start].endswith("\\"):
                parts.append(f"{rest[: start - 1]}${{")
                rest = rest[start + 2 :]
                continue
            end = _closing(rest, start)
            if end is None:
                break
            parts += [rest[:start], self._found(source, rest[start + 2 : end], place, depth)]
            rest = rest[end + 1 :]
        parts = [part for part in (*parts, rest) if part != ""]
        if len(parts) == 1:
            return parts[0]
        if wrong := next((part for part in parts if isinstance(part, list | dict)), None):
            kind = "table" if isinstance(wrong, dict) else "list"
            raise ConfigError(
                f"{source}: {'.'.join(place)}: {text} puts a {kind} into a text; let the reference stand alone"
            )
        return "".join(_written(part) for part in parts)

    def _found(self, source: str, inner: str, place: _Place, depth: int) -> Any:
        """What stands for `${inner}`: the value that it refers to, or the text itself."""
        self.met += 1
        if self.met > _MOST:
            raise ConfigError(
                f"{source}: more than {_MOST:,} references, counting those that others stand for; write fewer"
            )
        if "${" in inner:
            inner = _written(self._text(source, inner, place, depth + 1))
        if (called := _RESOLVER.match(inner)) is not None:
            if called[1] == "oc.env":
                return self._variable(source, inner.removeprefix("oc.env:"), place)
            raise ConfigError(
                f"{source}: {'.'.join(place)}: ${{{inner}}}: {called[1]} is not known here; write the value, or "
                "take it from a variable: ${oc.env:NAME}"
            )
        named = _KEY.fullmatch(inner)
        if named is None:
            return f"${{{inner}}}"
        dots, words = len(named[1]), re.findall(r"[\w-]+", named[2])
        if not dots and len(words) == 1 and words[0] not in self.document:
            return f"${{{inner}}}"
        path = (*place[: max(0, len(place) - dots)], *words) if dots else tuple(words)
        return self._of(source, self._value(source, inner, path, place), path, depth + 1)

    def _value(self, source: str, inner: str, path: _Place, place: _Place) -> Any:
        found: Any = self.document
        for word in path:
            if isinstance(found, list) and word.isdigit() and int(word) < len(found):
                found = found[int(word)]
            elif isinstance(found, Mapping) and word in found:
                found = found[word]
            else:
                raise ConfigError(
                    f"{source}: {'.'.join(place)}: ${{{inner}}}: there is no such key; write \\${{{inner}}} if it is a text"
                )
        return found

    def _variable(self, source: str, written: str, place: _Place) -> Any:
        """The value of a variable, which is data: references in it are not resolved."""
        name, comma, otherwise = (part.strip() for part in written.partition(","))
        where = f"{source}: {'.'.join(place)}: ${{oc.env:{written}}}"
        if is_secret_name(name):
            raise ConfigError(
                f"{where}: keys are not put into configurations; name the variable: api_key_name: {name}"
            )
        if name in os.environ:
            return os.environ[name]
        if not comma:
            raise ConfigError(f"{where}: the variable is not set; export {name}")
        if otherwise == "null":
            return None
        quoted = len(otherwise) > 1 and otherwise[0] == otherwise[-1] and otherwise[0] in "'\""
        return otherwise[1:-1] if quoted else otherwise


def _closing(text: str, start: int) -> int | None:
    """The place of the bracket that closes the reference which begins at `start`; None if there is none."""
    opened = 0
    for each in re.finditer(r"\$\{|\}", text[start:]):
        opened += 1 if each[0] == "${" else -1
        if opened == 0:
            return start + each.start()
    return None


def _written(value: Any) -> str:
    """A value inside a text, as YAML writes it."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
