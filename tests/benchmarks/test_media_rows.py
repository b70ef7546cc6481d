"""Which media a row names, and what can be told of them from sizes and first bytes."""

from __future__ import annotations

import base64
import io
import os
import wave
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks._media_formats import MediaKind, sniff_media
from benchwright.benchmarks._media_rows import (
    MediaError,
    MediaItem,
    check_data_url,
    look_at_media,
    media_of,
    names_media,
)

JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + b"\x00" * 40
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
MP4 = b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2mp41" + b"\x00" * 40


def wav() -> bytes:
    held = io.BytesIO()
    with wave.open(held, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(b"\x00\x00" * 10)
    return held.getvalue()


FORMATS: list[tuple[bytes, str, str]] = [
    (JPEG, "image", "image/jpeg"),
    (PNG, "image", "image/png"),
    (b"GIF89a" + b"\x00" * 20, "image", "image/gif"),
    (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "image", "image/webp"),
    (b"BM\x3a\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00", "image", "image/bmp"),
    (b"II*\x00\x08\x00\x00\x00", "image", "image/tiff"),
    (b"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00", "image", "image/avif"),
    (wav(), "audio", "audio/wav"),
    (b"ID3\x04\x00\x00\x00\x00\x00\x00", "audio", "audio/mpeg"),
    (b"\xff\xfb\x90\x64\x00\x00", "audio", "audio/mpeg"),
    (b"\xff\xf1\x50\x80\x00\x00", "audio", "audio/aac"),
    (b"fLaC\x00\x00\x00\x22", "audio", "audio/flac"),
    (b"OggS\x00\x02\x00\x00", "audio", "audio/ogg"),
    (b"OggS\x00\x02\x00\x00", "video", "video/ogg"),
    (b"FORM\x00\x00\x00\x2eAIFFCOMM", "audio", "audio/aiff"),
    (b"\x00\x00\x00\x1cftypM4A \x00\x00\x00\x00", "audio", "audio/mp4"),
    (MP4, "video", "video/mp4"),
    (MP4, "audio", "audio/mp4"),
    (b"\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00", "video", "video/quicktime"),
    (b"\x00\x00\x00\x08wide\x00\x00\x00\x00mdat", "video", "video/quicktime"),
    (b"\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm", "video", "video/webm"),
    (b"\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x88matroska", "video", "video/x-matroska"),
    (b"RIFF\x24\x00\x00\x00AVI LIST", "video", "video/x-msvideo"),
    (b"\x00\x00\x01\xba\x44\x00", "video", "video/mpeg"),
    (b"\x47" + b"\x00" * 187 + b"\x47", "video", "video/mp2t"),
]


@pytest.mark.parametrize(("head", "kind", "mime"), FORMATS, ids=[f"{k} {m}" for _, k, m in FORMATS])
def test_formats_are_told_by_their_first_bytes(tmp_path: Path, head: bytes, kind: Any, mime: str) -> None:
    path = tmp_path / "without_an_ending"
    path.write_bytes(head)
    format, _ = look_at_media(MediaItem(kind, path.name, "path", path), max_bytes=1000)
    assert format.mimes[kind] == mime


@pytest.mark.parametrize(
    "head", [b"", b"\xff", b"BM", b"hello world", b"\x00" * 600, b"RIFF", b"RIFF\0\0\0\0ABCD"]
)
def test_other_bytes_tell_nothing(head: bytes) -> None:
    assert sniff_media(head) is None


@pytest.mark.parametrize("name", ["odd.MP3", "key.png", "clip.mp4"])
def test_a_name_alone_makes_no_media(tmp_path: Path, name: str) -> None:
    """A file, or a link to one, that is something else is not sent."""
    private = tmp_path / "id_rsa"
    private.write_bytes(b"-----BEGIN OPENSSH PRIVATE KEY-----" + b"A" * 64)
    (tmp_path / name).symlink_to(private)
    kind: MediaKind = {"MP3": "audio", "png": "image", "mp4": "video"}[name.rpartition(".")[2]]  # type: ignore[assignment]
    with pytest.raises(MediaError, match="whatever its name says"):
        look_at_media(MediaItem(kind, name, "path", tmp_path / name), max_bytes=None)


def test_a_drawing_is_known_by_its_element(tmp_path: Path) -> None:
    path = tmp_path / "drawing"
    path.write_bytes(b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>')
    assert look_at_media(MediaItem("image", "drawing", "path", path), max_bytes=None)[0].name == "svg"


def test_bytes_win_over_the_ending(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(PNG)
    assert look_at_media(MediaItem("image", "photo.jpg", "path", path), max_bytes=None)[0].name == "png"


def shown(row: dict[str, Any], base: Path = Path("/data")) -> list[tuple[str, str, str | None]]:
    found = media_of(row, base)
    return [(item.kind, item.written, None if item.path is None else str(item.path)) for item in found]


def test_a_path_may_be_one_or_several() -> None:
    assert shown({"type": "image", "path": "a.png"}) == [("image", "a.png", "/data/a.png")]
    assert shown({"type": "image", "path": ["a.png", "/b.png"]}) == [
        ("image", "a.png", "/data/a.png"),
        ("image", "/b.png", "/b.png"),
    ]


def test_kinds_may_be_mixed_inside_a_row() -> None:
    row = {"media": [{"type": "image", "path": ["a.png", "b.png"]}, {"type": "audio", "path": "c.wav"}]}
    assert [kind for kind, _, _ in shown(row)] == ["image", "image", "audio"]


def test_cells_of_text_may_hold_lists() -> None:
    assert [w for _, w, _ in shown({"type": "image", "path": '["a.png", "b.png"]'})] == ["a.png", "b.png"]
    assert shown({"media": '[{"type": "video", "path": "a.mp4"}]', "type": "", "path": ""}) == [
        ("video", "a.mp4", "/data/a.mp4")
    ]


def test_paths_and_addresses_are_told_apart() -> None:
    row = {
        "type": "image",
        "path": [
            "file:///pics/a%20b.png",
            "https://host/x.png?size=1",
            "HTTP://host/y",
            "data:image/png;base64,AA",
        ],
    }
    assert [path for _, _, path in shown(row)] == ["/pics/a b.png", None, None, None]


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"question": "q"},
        {"type": "", "path": ""},
        {"type": None, "path": None},
        {"type": "algebra", "path": "Math/Algebra"},
        {"path": "/usr/share/doc"},
        {"media": "television"},
        {"media": []},
        {"media": None},
        {"media": "", "type": "algebra"},
    ],
)
def test_rows_of_text_have_no_media(row: dict[str, Any]) -> None:
    assert media_of(row, Path("/data")) == ()


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "img", "path": "a.png"}, "type", "\"type\" is 'img'; expected one of image, video, audio"),
    ({"type": "imagee", "path": ["a.png"]}, "type", "Did you mean 'image'?"),
    ({"path": "a.png"}, "type", '"type" is missing; expected one of image, video, audio'),
    ({"type": "image"}, "path", '"type" is image, and "path" is missing'),
    ({"type": "image", "path": ""}, "path", '"type" is image, and "path" is empty'),
    ({"type": "image", "path": [1]}, "path", '"path[0]" is 1; expected the path of a file'),
    ({"type": "image", "path": ["a.png", ""]}, "path", "\"path[1]\" is ''"),
    ({"type": "image", "path": {"a": 1}}, "path", '"path" is an object'),
    ({"media": ["a.png"]}, "media", "media[0] is 'a.png'; expected an object"),
    ({"media": [{"type": "image"}]}, "media", 'media[0] has no "path"'),
    ({"media": [{"type": "text", "path": "a"}]}, "media", "\"media[0].type\" is 'text'"),
    ({"media": [{"type": "image", "pat": "a"}]}, "media", "Did you mean 'path'?"),
    ({"media": "a.png"}, "media", '"media" is the text'),
    ({"media": [{"type": "image", "path": "a"}], "type": "image", "path": "b"}, "media", "name each file once"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "field", "said"), WRONG, ids=[said for _, _, said in WRONG])
def test_rows_that_name_media_wrongly_are_refused(row: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(MediaError) as caught:
        media_of(row, Path("/data"))
    assert caught.value.field == field
    assert said in str(caught.value)


def test_the_type_may_be_written_in_capitals() -> None:
    assert shown({"type": " Image ", "path": "a"}) == [("image", "a", "/data/a")]


def refused(item: MediaItem, max_bytes: int | None = None) -> str:
    with pytest.raises(MediaError) as caught:
        look_at_media(item, max_bytes=max_bytes)
    return str(caught.value)


def test_files_that_cannot_be_used_say_why(tmp_path: Path) -> None:
    def item(name: str, content: bytes | None, kind: Any = "image") -> MediaItem:
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        return MediaItem(kind, name, "path", path)

    item("cat.png", PNG)
    assert "there is no such file" in refused(item("cot.png", None))
    assert "Did you mean 'cat.png'?" in refused(item("cot.png", None))
    assert f"there is no folder {tmp_path}/pics" in refused(item("pics/cat.png", None))
    assert '"empty.png" is empty (0 bytes)' in refused(item("empty.png", b""))
    (tmp_path / "folder.png").mkdir()
    assert '"folder.png" is a folder' in refused(item("folder.png", None))
    assert "has 0.0 MB, more than the 5e-05 MB" in refused(item("cat.png", None), 50)
    assert "is an MP4, and the row gives image; write the type video or audio" in refused(item("a.png", MP4))
    assert "is a PNG image, and the row gives audio; write the type image" in refused(item("b", PNG, "audio"))
    assert "git lfs pull" in refused(
        item("c.png", b"version https://git-lfs.github.com/spec/v1\noid sha256:0")
    )
    assert "is a web page" in refused(item("d.png", b"\n <!DOCTYPE html><title>403</title>"))
    assert "its first bytes tell no known format" in refused(item("passwd", b"root:x:0:0:root"))
    assert "is a WAV audio, and the row gives image" in refused(item("e.wav", b"RIFF....WAVEfmt "))
    os.mkfifo(tmp_path / "pipe.png")
    assert "is not a plain file" in refused(item("pipe.png", None))
    assert "cannot be read" in refused(MediaItem("image", "x\0y", "path", Path("x\0y")))


def test_a_file_in_the_current_folder_is_pointed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "cat.png").write_bytes(PNG)
    monkeypatch.chdir(tmp_path)
    (item,) = media_of({"type": "image", "path": "cat.png"}, data)
    assert f"there is one in the current folder: move it, or write {tmp_path}/cat.png" in refused(item)


def data_url(content: bytes, mime: str = "image/png") -> MediaItem:
    written = f"data:{mime};base64,{base64.b64encode(content).decode()}"
    return MediaItem("image", written, "path", None)


def test_data_addresses_are_looked_into() -> None:
    format, mime = check_data_url(data_url(PNG), max_bytes=1000)
    assert (format.name, mime) == ("png", "image/png")


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (data_url(PNG * 10), "has 0.0 MB, more than"),
        (data_url(MP4), "is an MP4, and the row gives image"),
        (MediaItem("image", "data:image/png,AAAA", "path", None), "is not a data address"),
        (MediaItem("image", "data:image/png;base64,", "path", None), "has nothing after the comma"),
        (MediaItem("image", "data:image/png;base64,A\u00e4!#", "path", None), "not base64"),
    ],
)
def test_data_addresses_that_cannot_be_used_say_why(item: MediaItem, said: str) -> None:
    with pytest.raises(MediaError) as caught:
        check_data_url(item, max_bytes=400)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400


def test_columns_tell_whether_rows_may_have_media() -> None:
    assert names_media({"type", "path", "question"})
    assert names_media({"media"})
    assert not names_media({"type", "question"})


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.gif", "a.webp"])
def test_a_picture_that_was_cut_is_said(tmp_path: Path, name: str) -> None:
    whole = {
        "a.png": b"\x89PNG\r\n\x1a\n" + b"x" * 20_000 + b"\0\0\0\0IEND\xaeB`\x82",
        "a.jpg": b"\xff\xd8\xff" + b"x" * 20_000 + b"\xff\xd9",
        "a.gif": b"GIF89a" + b"x" * 20_000 + b";",
        "a.webp": b"RIFF" + (20_008).to_bytes(4, "little") + b"WEBPVP8 " + b"x" * 20_000,
    }[name]
    (tmp_path / name).write_bytes(whole)
    item = MediaItem("image", name, "image", tmp_path / name)
    assert not look_at_media(item, max_bytes=None, whole=True)[1]
    (tmp_path / name).write_bytes(whole[:-600])
    assert look_at_media(item, max_bytes=None, whole=True)[1]
