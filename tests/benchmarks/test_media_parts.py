"""From the media of a row to content parts, and what is kept of them."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

import orjson
import pytest
from tiny_media import JPEG, MP4, PNG, wav

from benchwright.benchmarks import Generation
from benchwright.benchmarks._media import MediaFiles, RowMedia
from benchwright.benchmarks._prompts import Prompt
from benchwright.benchmarks._requests import chat_request
from benchwright.core import MissingFieldError
from benchwright.engine._calls import RequestIdentity
from benchwright.engine._findings import EndpointFindings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"a.jpg": JPEG, "b.png": PNG, "c.mp4": MP4, "d.wav": wav()}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def parts(media: RowMedia, row: dict[str, Any]) -> list[Any]:
    return [one[0] for one in media(row)]


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def kept(content: bytes, mime: str) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()} ({mime}, {len(content)} bytes)"


def test_files_go_into_the_request_as_data_with_their_own_type(folder: Path) -> None:
    row = {
        "media": [
            {"type": "image", "path": ["a.jpg", "b.png"]},
            {"type": "video", "path": "c.mp4"},
            {"type": "audio", "path": "d.wav"},
        ]
    }
    assert parts(RowMedia(folder), row) == [
        {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{b64(JPEG)}"}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64(PNG)}"}},
        {"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{b64(MP4)}"}},
        {"type": "audio_url", "audio_url": {"url": f"data:audio/wav;base64,{b64(wav())}"}},
    ]


def test_audio_may_go_as_openai_wants_it(folder: Path) -> None:
    for form in ("base64", "path"):
        media = RowMedia(folder, form=form, audio_style="input_audio")  # type: ignore[arg-type]
        (one,) = media({"type": "audio", "path": "d.wav"})
        assert one[0] == {"type": "input_audio", "input_audio": {"data": b64(wav()), "format": "wav"}}
        assert one[1] == {
            "type": "input_audio",
            "input_audio": {"data": kept(wav(), "audio/wav"), "format": "wav"},
        }


def test_paths_go_as_absolute_file_addresses_and_are_kept_with_the_hash(folder: Path) -> None:
    (folder / "with space.png").write_bytes(PNG)
    (one,) = RowMedia(folder, form="path")({"type": "image", "path": "with space.png"})
    url = f"file://{folder}/with%20space.png"
    assert one[0] == {"type": "image_url", "image_url": {"url": url}}
    assert one[1] == {"type": "image_url", "image_url": {"url": f"{url} {kept(PNG, 'image/png')}"}}


@pytest.mark.parametrize("form", ["base64", "path", "url"])
def test_addresses_are_passed_on_in_every_form(folder: Path, form: Any) -> None:
    media = RowMedia(folder, form=form)
    row = {"type": "video", "path": "https://host/film.mp4"}
    media.check(row)
    (one,) = media(row)
    assert one[0] == {"type": "video_url", "video_url": {"url": "https://host/film.mp4"}}
    assert one[1] is one[0]


@pytest.mark.parametrize("form", ["base64", "path", "url"])
def test_data_addresses_are_passed_on_and_kept_as_hashes(folder: Path, form: Any) -> None:
    media = RowMedia(folder, form=form)
    row = {"type": "image", "path": f"data:image/png;base64,{b64(PNG)}"}
    media.check(row)
    (one,) = media(row)
    assert one[0] == {"type": "image_url", "image_url": {"url": row["path"]}}
    assert one[1] == {"type": "image_url", "image_url": {"url": kept(PNG, "image/png")}}


def refused(media: RowMedia, row: dict[str, Any]) -> str:
    with pytest.raises(MissingFieldError) as checked:
        media.check(row)
    with pytest.raises(MissingFieldError) as built:
        media(row)
    assert str(checked.value) == str(built.value)
    return str(checked.value)


def test_what_a_form_cannot_send_is_refused_by_check_and_by_the_run(folder: Path) -> None:
    url, openai = RowMedia(folder, form="url"), RowMedia(folder, audio_style="input_audio")
    assert "is a file of this machine" in refused(url, {"type": "image", "path": "b.png"})
    assert "input_audio carries data only" in refused(openai, {"type": "audio", "path": "https://host/a.wav"})
    assert "--media url" in refused(RowMedia(folder), {"type": "image", "path": "s3://bucket/a.png"})
    assert 'nothing after "://"' in refused(url, {"type": "image", "path": "https://"})
    assert "there is no such file" in refused(
        RowMedia(folder, form="path"), {"type": "image", "path": "x.png"}
    )
    assert "more than the 5e-05 MB" in refused(
        RowMedia(folder, max_mb=0.00005), {"type": "image", "path": "b.png"}
    )


def test_in_url_form_a_file_address_is_the_servers_business(folder: Path) -> None:
    media = RowMedia(folder, form="url")
    row = {"type": "image", "path": "file:///only/the/server/has/it.png"}
    media.check(row)
    assert parts(media, row) == [{"type": "image_url", "image_url": {"url": row["path"]}}]


def test_size_does_not_matter_where_the_file_is_not_sent(folder: Path) -> None:
    media = RowMedia(folder, form="path", max_mb=0.00005)
    media.check({"type": "image", "path": "b.png"})
    assert len(media({"type": "image", "path": "b.png"})) == 1


def test_rows_of_text_have_no_parts(folder: Path) -> None:
    media = RowMedia(folder)
    media.check({"question": "q"})
    assert media({"question": "q"}) == ()
    assert not media.seen
    media.check({"type": "image", "path": "b.png"})
    assert media.seen


def test_a_check_reads_first_bytes_only(folder: Path) -> None:
    files = MediaFiles()
    RowMedia(folder, files=files).check({"type": "image", "path": ["a.jpg", "b.png"]})
    assert files.reads == 0


def test_files_are_encoded_once_and_shared_by_content(folder: Path) -> None:
    (folder / "copy.png").write_bytes(PNG)
    files = MediaFiles()
    media = RowMedia(folder, files=files)
    first = parts(media, {"type": "image", "path": "b.png"})[0]["image_url"]["url"]
    again = parts(media, {"type": "image", "path": "b.png"})[0]["image_url"]["url"]
    other = parts(media, {"type": "image", "path": "copy.png"})[0]["image_url"]["url"]
    assert first is again is other
    assert files.reads == 2
    assert files.kept_bytes == len(first)


def test_a_changed_file_is_read_again(folder: Path) -> None:
    media = RowMedia(folder)
    before = parts(media, {"type": "image", "path": "b.png"})
    (folder / "b.png").write_bytes(JPEG)
    os.utime(folder / "b.png", ns=(1, 1))
    after = parts(media, {"type": "image", "path": "b.png"})
    assert before != after
    assert after[0]["image_url"]["url"].startswith("data:image/jpeg;base64,")


def test_encoded_files_stay_within_their_budget(tmp_path: Path) -> None:
    files = MediaFiles(budget=1000)
    for number in range(10):
        (tmp_path / f"{number}.png").write_bytes(PNG + bytes([number]) * 150)
    for number in (*range(10), 9):
        files.encoded(tmp_path / f"{number}.png", "")
        assert files.kept_bytes <= 1000
    assert files.reads == 10  # the last one was still there
    files.encoded(tmp_path / "0.png", "")
    assert files.reads == 11
    (tmp_path / "large.png").write_bytes(PNG * 100)
    assert files.encoded(tmp_path / "large.png", "")[2] == len(PNG) * 100
    assert files.kept_bytes <= 1000


def request_for(media: RowMedia, row: dict[str, Any], text: str = "What is it?") -> Any:
    return chat_request(Prompt(text, "Be brief."), Generation("m"), media=media(row))


def test_the_text_comes_last_and_the_record_holds_hashes(folder: Path) -> None:
    request = request_for(RowMedia(folder), {"type": "image", "path": ["a.jpg", "b.png"]})
    content = orjson.loads(request.payload)["messages"][1]["content"]
    assert [part["type"] for part in content] == ["image_url", "image_url", "text"]
    record = orjson.loads(request.record)
    assert record["messages"][0] == {"role": "system", "content": "Be brief."}
    assert record["messages"][1]["content"] == [
        {"type": "image_url", "image_url": {"url": kept(JPEG, "image/jpeg")}},
        {"type": "image_url", "image_url": {"url": kept(PNG, "image/png")}},
        {"type": "text", "text": "What is it?"},
    ]
    assert {**record, "messages": None} == {**request.body, "messages": None}


def test_requests_without_files_need_no_record_of_their_own(folder: Path) -> None:
    request = request_for(RowMedia(folder), {"type": "image", "path": "https://host/a.png"})
    assert request.record is None
    assert request_for(RowMedia(folder), {}).body["messages"][1]["content"] == "What is it?"


@pytest.mark.parametrize("form", ["base64", "path"])
def test_the_identity_of_a_request_covers_the_bytes_of_its_files(folder: Path, form: Any) -> None:
    def identity() -> bytes:
        row = {"type": "image", "path": "b.png"}
        return RequestIdentity("endpoint", EndpointFindings({}, lambda: None, set())).hash(
            request_for(RowMedia(folder, form=form), row)
        )

    before = identity()
    assert identity() == before
    (folder / "b.png").write_bytes(PNG + b"one byte more")
    assert identity() != before
