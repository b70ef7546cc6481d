"""Workbooks that are not `.xlsx`, read by `python-calamine` in another process whose memory is limited.

The library allocates as many cells as the file claims to have, and ends the process if there is no room for them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from typing import IO, Any

from benchwright.core import DatasetError, load_json
from benchwright.datasets._readers.xlsx_cells import Cells, SheetPart
from benchwright.datasets._stored import MEGABYTE, StoredFile

_ODS_CONTENT = "content.xml"
_ODS_MARKS = {
    "percentages": re.compile(rb'office:value-type="percentage"'),
    "hidden": re.compile(rb'table:visibility="(?:collapse|filter)"'),
}
_LONGEST_MARK = 40
MOST_BYTES = 1024**3
"""The memory that reading may take, and the largest unpacked size."""


class OtherBook:
    """An open workbook. Close it."""

    def __init__(self, file: StoredFile) -> None:
        self._file = file
        self._running: list[subprocess.Popen[bytes]] = []
        _check_size(file)
        try:
            found = next(self._ask(None))
        except DatasetError:
            self.close()
            raise
        self.sheets = [SheetPart(name, name, hidden) for name, hidden in found]
        self._tell_what_is_not_read()

    def _tell_what_is_not_read(self) -> None:
        """Note what the library does not give and people see: formats of numbers, and which rows are hidden."""
        try:
            with zipfile.ZipFile(self._file.path) as parts, parts.open(_ODS_CONTENT) as content:
                found = _count_marks(content)
        except (zipfile.BadZipFile, KeyError, OSError):
            found = {}  # an .xls, whose formats cannot be seen from here
            self._file.note(
                "percentages of this format are read as numbers (12.5% as 0.125), and postcodes without zeros in front. To have "
                "them as the sheet shows them, save it as .xlsx"
            )
        if percentages := found.get("percentages"):
            self._file.note(
                f"cells with percentages: {percentages:,}. They are read as numbers (12.5% as 0.125). To have them as the sheet shows "
                "them, save it as .xlsx"
            )
        if hidden := found.get("hidden"):
            self._file.note(f"groups of hidden rows: {hidden:,}. They are read like the others")

    def close(self) -> None:
        """End what still reads."""
        for child in self._running:
            child.kill()
            child.wait()
            for pipe in (child.stdout, child.stderr):
                if pipe is not None:
                    pipe.close()

    def rows(self, sheet: SheetPart) -> Iterator[tuple[int, Cells]]:
        """The rows that are not empty, with their numbers."""
        for number, cells in self._ask(sheet.name):
            yield number, {int(column): value for column, value in cells.items()}

    def _ask(self, sheet: str | None) -> Iterator[Any]:
        order = json.dumps({"path": str(self._file.path), "sheet": sheet, "most": MOST_BYTES})
        child = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "from benchwright.datasets._readers.other_workbooks import main; main()",
                order,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._running.append(child)
        assert child.stdout is not None
        assert child.stderr is not None
        for line in child.stdout:
            yield load_json(line)
        said = child.stderr.read(4096).decode(errors="replace").strip()
        if (code := child.wait()) == 3:
            raise self._file.error(
                "is a workbook; reading it needs one more package: pip install 'benchwright[excel]'. Or save the sheet as "
                "CSV (in Excel: CSV UTF-8)"
            )
        if code == 4:
            raise self._file.error(
                f"cannot be read as a workbook: {said}. Open and save it again, or save it as CSV"
            )
        if code:
            raise self._file.error(
                f"takes more than {MOST_BYTES / MEGABYTE:,.0f} MB to read. Is there something in a cell far from the others? "
                "Delete it, or save the sheet as CSV or .xlsx"
            )


def _count_marks(content: IO[bytes]) -> dict[str, int]:
    """How often the marks of what is not read occur, in a stream."""
    found = dict.fromkeys(_ODS_MARKS, 0)
    kept = b""
    while block := content.read(MEGABYTE):
        block = kept + block
        for name, mark in _ODS_MARKS.items():
            found[name] += sum(1 for each in mark.finditer(block) if each.end() > len(kept))
        kept = block[-_LONGEST_MARK:]
    return found


def _check_size(file: StoredFile) -> None:
    try:
        with zipfile.ZipFile(file.path) as parts:
            size = sum(part.file_size for part in parts.infolist())
    except (zipfile.BadZipFile, OSError):
        return  # an .xls is not a zip file; the reader reports whatever else is wrong
    if size > MOST_BYTES:
        raise file.error(
            f"unpacks to {size / MEGABYTE:,.0f} MB, and at most {MOST_BYTES / MEGABYTE:,.0f} are read. Save the sheet as CSV"
        )


def main() -> None:
    """Print the names of the sheets, or the rows of one, as JSON lines."""
    import resource

    order = json.loads(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        import python_calamine
    except ImportError:
        sys.exit(3)
    from benchwright.datasets._readers.workbook import plain

    resource.setrlimit(resource.RLIMIT_AS, (order["most"], order["most"]))
    try:
        book = python_calamine.CalamineWorkbook.from_path(order["path"])
        if order["sheet"] is None:
            visible = python_calamine.SheetVisibleEnum.Visible
            print(
                json.dumps([(each.name, each.visible != visible) for each in book.sheets_metadata]),
                flush=True,
            )
            return
        sheet = book.get_sheet_by_name(order["sheet"])
        first = (sheet.start or (0, 0))[1]  # columns before it are left out, rows are not
        for number, values in enumerate(sheet.iter_rows(), 1):
            cells = {at: plain(value) for at, value in enumerate(values, first) if _has_value(value)}
            if cells:
                print(json.dumps([number, cells]))
    except python_calamine.CalamineError as exc:
        print(exc, file=sys.stderr)
        sys.exit(4)


def _has_value(value: Any) -> bool:
    return value is not None and (not isinstance(value, str) or bool(value.strip()))
