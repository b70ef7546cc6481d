"""The argument parser: argparse with errors that name the cure."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

from benchwright.config import Setting
from benchwright.core import JsonValue, UsageError, late_pattern, public_url, suggest

_URL = late_pattern(r"[a-z][a-z0-9+.-]*://[^\s'\"]+", re.IGNORECASE)
_HELP_WIDTH = 110
"""Columns of a help text, if the terminal has as many."""


_FEW = 20
"""The most options of a command that a message lists."""


class Parser(argparse.ArgumentParser):
    """Parses the arguments of one command."""

    def __init__(self, command: str, usage: str, summary: str) -> None:
        super().__init__(
            prog=f"benchwright {command}",
            usage=f"benchwright {usage} [OPTIONS]",
            description=summary[0].upper() + summary[1:] + ".",
            formatter_class=_Help,
            allow_abbrev=False,  # an abbreviation may change its meaning when an option is added
            add_help=False,
        )
        self.command = command
        """Its name."""
        self.frequent: set[str] = set()
        """Destinations of the flags that `--help` lists, in a command that also has `--help-all`."""
        self.common = self.add_argument_group("output")
        self.common.add_argument("-h", "--help", action="store_true", help="show this help")
        self.common.add_argument("--json", action="store_true", help="print JSON only, errors included")

    def add_help_all(self, *frequent: str) -> None:
        """Let `--help` list only frequent flags, these and those of frequent settings, and add `--help-all`."""
        self.frequent.update(frequent)
        self.common.add_argument("--help-all", action="store_true", help="show every option and all aliases")

    def example(self, *lines: str) -> None:
        """Set the examples at the end of the help text."""
        self.epilog = "example:\n" + "\n".join(f"  {line}" for line in lines) + "\n"

    def parse(self, words: Sequence[str]) -> argparse.Namespace | str:
        """The arguments, or the help text if the words request it. Raises UsageError."""
        if not {"-h", "--help", "--help-all"}.isdisjoint(words):
            return self._help(all="--help-all" in words or not self._has_more)
        # Intermixed: a positional argument may also follow the options.
        arguments, unknown = self.parse_known_intermixed_args(list(words))
        if unknown:
            raise self._unknown(unknown, arguments)
        return arguments

    @property
    def _has_more(self) -> bool:
        """Whether `--help` leaves options out."""
        return "--help-all" in self._option_string_actions

    def _help(self, *, all: bool) -> str:
        from shutil import (
            get_terminal_size,
        )  # only here: argparse makes a formatter for every flag that is added

        width = min(get_terminal_size((_HELP_WIDTH, 24)).columns, _HELP_WIDTH)
        self.formatter_class = partial(_Help, width=width)
        self._action_groups.sort(
            key=lambda group: group is self.common
        )  # the options of all commands come last
        options = [action for action in self._actions if action.option_strings]
        if not all:
            shared = self.common._group_actions
            hidden = [
                action for action in options if action.dest not in self.frequent and action not in shared
            ]
            for action in hidden:
                action.help = argparse.SUPPRESS
            more = f"{len(hidden)} more options: {self.prog} --help-all"
            return f"{self.format_help().rstrip()}\n\n{more}"
        other_names = [line for action in options if (line := _other_names(action))]
        appendix = "\n\naliases:\n" + "\n".join(other_names) if other_names else ""
        return self.format_help().rstrip() + appendix

    def error(self, message: str) -> NoReturn:
        """Raise UsageError, where argparse would exit."""
        from benchwright.cli._habits import meant_by_text

        example = (self.epilog or "").partition("\n")[2].partition("\n")[0].strip()
        message = _URL.sub(lambda found: public_url(found[0]), message)  # quotes what was typed
        shown = (
            "" if " such as '" in message else f"\nFor example: {example}"
        )  # one example, the one for the fault
        raise UsageError(f"{message}{meant_by_text(message)}{shown}\nSee: {self.prog} --help")

    def _unknown(self, words: Sequence[str], arguments: argparse.Namespace) -> UsageError:
        from benchwright.cli._habits import meant_benchmark_parameter, meant_option, spare_argument

        option = next((word for word in words if word.startswith("-")), None)
        if option is None:
            places = [action.dest for action in self._actions if not action.option_strings]
            first = next(
                (str(value) for each in places if (value := getattr(arguments, each, None)) is not None), None
            )
            cure = spare_argument(self.command, first and public_url(first), list(map(public_url, words)))
            said = f"unexpected argument {public_url(words[0])!r}{f': {cure}' if cure else ''}"
            return UsageError(f"{said}\nSee: {self.prog} --help")
        name = option.partition("=")[0]
        if not name.startswith("--"):
            name = name[:2]  # -n5
        known = [text for text in self._option_string_actions if text.startswith("--")]
        meant = meant_option(name, self.prog, known) or meant_benchmark_parameter(name, known)
        if meant is not None:
            return UsageError(
                f"unknown option {name}. {meant[0].upper()}{meant[1:]}\nSee: {self.prog} --help"
            )
        from benchwright.config import KEY_OF, LOAD_OPTIONS, RUN_SETTINGS

        for command, settings in (("run", RUN_SETTINGS), ("perf", LOAD_OPTIONS)):
            for setting in settings:
                if name not in setting.flags:
                    continue
                key = ".".join(KEY_OF.get(setting.name, ())) if "-o" in self._option_string_actions else ""
                return UsageError(
                    f"unknown option {name}: {command} has it, {self.prog} does not"
                    f"{f'. Write -o {key}=VALUE' if key else ''}\nSee: {self.prog} --help, benchwright {command} --help"
                )
        near = suggest(name, known)
        if not near and len(known) <= _FEW:
            near = f" {self.prog} has: {', '.join(sorted(known))}"
        return UsageError(f"unknown option {name}.{near}\nSee: {self.prog} --help")


class _Help(argparse.RawDescriptionHelpFormatter):
    """Leaves enough space for most options and their help to fit on one line."""

    def __init__(self, prog: str, width: int = _HELP_WIDTH) -> None:
        super().__init__(prog, max_help_position=34, width=width)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """Leave out aliases, which are listed separately."""
        every = action.option_strings
        action.option_strings = [name for name in every if name not in _aliases(action)]
        try:
            return super()._format_action_invocation(action)
        finally:
            action.option_strings = every


def _aliases(action: argparse.Action) -> list[str]:
    """Long names of an option after its first, without `--no-…` of that one.

    >>> _aliases(argparse.Action(["-q", "--quiet", "--silent"], "quiet"))
    ['--silent']
    """
    long = [name for name in action.option_strings if name.startswith("--")]
    return [name for name in long[1:] if name != f"--no-{long[0][2:]}"]


def _other_names(action: argparse.Action) -> str:
    """The line in the list of aliases; empty for an option without any."""
    aliases = _aliases(action)
    first = next((name for name in action.option_strings if name.startswith("--")), "")
    return f"  {first:<31} {', '.join(aliases)}" if aliases else ""


def value_of(setting: Setting) -> Callable[[str], JsonValue]:
    """A converter for argparse that applies the same checks as the configuration file."""

    def convert(text: str) -> JsonValue:
        try:
            return setting.parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert
