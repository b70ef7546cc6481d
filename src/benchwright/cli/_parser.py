"""The argument parser: plain argparse with errors that carry the cure."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from shutil import get_terminal_size
from typing import NoReturn

from benchwright.config import Setting
from benchwright.core import JsonValue, UsageError, suggest

_HELP_WIDTH = 110
"""Columns of a help text, where the terminal has as many."""


class Parser(argparse.ArgumentParser):
    """Parses the words of one command."""

    def __init__(self, command: str, usage: str, summary: str) -> None:
        super().__init__(
            prog=f"benchwright {command}",
            usage=f"benchwright {usage} [OPTIONS]",
            description=summary[0].upper() + summary[1:] + ".",
            formatter_class=_Help,
            allow_abbrev=False,  # an abbreviation may change its meaning when an option is added
            add_help=False,
        )
        self.common = self.add_argument_group("output")
        self.common.add_argument("-h", "--help", action="store_true", help="this text")
        self.common.add_argument("--json", action="store_true", help="print JSON only, errors included")

    def example(self, *lines: str) -> None:
        """What stands at the end of the help text."""
        self.epilog = "example:\n" + "\n".join(f"  {line}" for line in lines) + "\n"

    def parse(self, words: Sequence[str]) -> argparse.Namespace | str:
        """The arguments, or the help text where that was asked for. Raises UsageError."""
        if "-h" in words or "--help" in words:
            self._action_groups.sort(key=lambda group: group is self.common)  # what all commands share, last
            return self.format_help().rstrip()
        # Intermixed: a positional argument may also stand behind the options.
        arguments, unknown = self.parse_known_intermixed_args(list(words))
        if unknown:
            raise self._unknown(unknown)
        return arguments

    def error(self, message: str) -> NoReturn:
        """Instead of argparse's exit."""
        example = (self.epilog or "").partition("\n")[2].partition("\n")[0].strip()
        raise UsageError(f"{message}\nFor example: {example}\nSee: {self.prog} --help")

    def _unknown(self, words: Sequence[str]) -> UsageError:
        option = next((word for word in words if word.startswith("-")), None)
        if option is None:
            return UsageError(f"unexpected argument {words[0]!r}\nSee: {self.prog} --help")
        name = option.partition("=")[0]
        known = [text for text in self._option_string_actions if text.startswith("--")]
        return UsageError(f"unknown option {name}.{suggest(name, known)}\nSee: {self.prog} --help")


class _Help(argparse.RawDescriptionHelpFormatter):
    """Options on the left, wide enough that most stand on one line with their meaning."""

    def __init__(self, prog: str) -> None:
        width = min(get_terminal_size((_HELP_WIDTH, 24)).columns, _HELP_WIDTH)
        super().__init__(prog, max_help_position=34, width=width)


def value_of(setting: Setting) -> Callable[[str], JsonValue]:
    """A converter for argparse that checks as the configuration file does."""

    def convert(text: str) -> JsonValue:
        try:
            return setting.parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert
