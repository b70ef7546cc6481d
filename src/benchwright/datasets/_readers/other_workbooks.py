"""Workbooks that are not `.xlsx`, read by `python-calamine` in another process whose memory is limited.

The library allocates as many cells as the file claims to have, and ends the process if there is no room for them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from typing import Any

from benchwright.core import DatasetError, load_json
from benchwright.datasets._readers.xlsx_cells import Cells, SheetPart
from benchwright.datasets._stored import MEGABYTE, StoredFile

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
        self.sheets = [SheetPart(name, name, False) for name in found]

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
            print(json.dumps(list(book.sheet_names)), flush=True)
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
