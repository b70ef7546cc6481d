"""Images, video and audio in files of questions: found by the columns that name them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchwright.benchmarks._media import RowMedia
from benchwright.benchmarks._questions.options import QuestionOptions
from benchwright.benchmarks._spec import Media, RowCheck
from benchwright.datasets import names_media


def media_for(
    path: Path | None, options: QuestionOptions, *, cwd: Path, columns: Iterable[str] | None
) -> tuple[Media | None, RowCheck | None]:
    """What shows the media of rows, and what checks them; two Nones where no row can have any.

    Paths in rows start at the folder of the data file (at `cwd` where the data are no file). `columns` are those
    of all rows; None where later rows may have others, as in JSON Lines.
    """
    if columns is not None and not names_media(set(columns)):
        return None, None
    media = RowMedia(
        cwd if path is None else path.parent,
        form=options.media,
        audio_style=options.audio_style,
        max_mb=options.max_media_mb,
    )
    return media, media.check
