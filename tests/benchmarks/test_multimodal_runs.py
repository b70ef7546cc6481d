"""Files of questions with images, video and audio, from the command to the server and the record."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tiny_media import JPEG, MP4, PNG, wav

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.cli import main
from benchwright.core import DatasetError, ModelRequest, UsageError
from benchwright.demo import DemoSettings, demo_server
from benchwright.runs import rescore
from recording_server import recording


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pics = tmp_path / "data" / "pics"
    pics.mkdir(parents=True)
    for name, content in {
        "a.jpg": JPEG,
        "b.jpg": JPEG + b"\0",
        "c.png": PNG,
        "d.mp4": MP4,
        "e.wav": wav(),
    }.items():
        (pics / name).write_bytes(content)
    return tmp_path


def write(rows: list[dict[str, Any]], name: str = "data/mm.jsonl") -> str:
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return name


def data_url(mime: str, content: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"


def parts(content: Any) -> list[tuple[str, str]]:
    return [
        (part["type"], part["text"] if part["type"] == "text" else part[part["type"]]["url"])
        for part in content
    ]


IMAGE = {
    "type": "image",
    "path": ["pics/a.jpg"],
    "question": "what is the brand of this camera?",
    "answer": "dakota",
}
TWO = {
    "type": "image",
    "path": ["pics/a.jpg", "pics/b.jpg"],
    "question": "compare these images",
    "answer": "dakota",
}
VIDEO = {"type": "video", "path": "pics/d.mp4", "question": "describe this video", "answer": "dakota"}
AUDIO = {"type": "audio", "path": ["pics/e.wav"], "question": "describe this audio", "answer": "dakota"}
TEXT = {"question": "what is the brand?", "answer": "dakota"}
MIXED = {
    "media": [{"type": "audio", "path": "pics/e.wav"}, {"type": "image", "path": "pics/c.png"}],
    "question": "what is said about the picture?",
    "answer": "dakota",
}


def test_two_images_arrive_as_data_before_the_text() -> None:
    with recording("dakota") as server:
        result = benchwright.run(write([TWO]), model_url=server.url, model_id="m")
    (content,) = server.contents
    assert parts(content) == [
        ("image_url", data_url("image/jpeg", JPEG)),
        ("image_url", data_url("image/jpeg", JPEG + b"\0")),
        ("text", "compare these images"),
    ]
    assert result["normalised_exact"] == 1.0


def test_all_kinds_of_rows_may_stand_in_one_file() -> None:
    with recording("dakota") as server:
        result = benchwright.run(
            write([IMAGE, VIDEO, AUDIO, TEXT, MIXED]), model_url=server.url, model_id="m", parallelism=1
        )
    assert [content if isinstance(content, str) else parts(content) for content in server.contents] == [
        [("image_url", data_url("image/jpeg", JPEG)), ("text", IMAGE["question"])],
        [("video_url", data_url("video/mp4", MP4)), ("text", VIDEO["question"])],
        [("audio_url", data_url("audio/wav", wav())), ("text", AUDIO["question"])],
        TEXT["question"],
        [
            ("audio_url", data_url("audio/wav", wav())),
            ("image_url", data_url("image/png", PNG)),
            ("text", MIXED["question"]),
        ],
    ]
    assert result.summary.outcomes["scored"] == 5


def test_files_may_go_by_path_and_addresses_as_they_stand(folder: Path) -> None:
    address = {"type": "video", "path": "https://host/film.mp4", "question": "q", "answer": "dakota"}
    with recording() as server:
        benchwright.run(
            write([IMAGE, address]), model_url=server.url, model_id="m", parallelism=1, media="path"
        )
        benchwright.run(
            write([address], "data/far.jsonl"), model_url=server.url, model_id="m", media="url", cache=False
        )
    local, far, again = server.contents
    assert parts(local)[0] == ("image_url", f"file://{folder}/data/pics/a.jpg")
    assert parts(far)[0] == parts(again)[0] == ("video_url", "https://host/film.mp4")


def test_audio_may_go_as_input_audio() -> None:
    with recording() as server:
        benchwright.run(write([AUDIO]), model_url=server.url, model_id="m", audio_style="input_audio")
    (content,) = server.contents
    encoded = base64.b64encode(wav()).decode()
    assert content[0] == {"type": "input_audio", "input_audio": {"data": encoded, "format": "wav"}}


def test_multiple_choice_over_pictures_is_scored_like_any_other() -> None:
    rows = [
        {
            "type": "image",
            "path": "pics/c.png",
            "question": "Which colour?",
            "A": "red",
            "B": "blue",
            "answer": gold,
        }
        for gold in "BBAB"
    ]
    with recording("B") as server:
        result = benchwright.run(write(rows), model_url=server.url, model_id="m")
    assert result["accuracy"] == 0.75
    assert all(parts(content)[-1][1].startswith("Which colour?") for content in server.contents)


def test_rows_may_stand_in_csv_with_lengths_and_a_meta_file() -> None:
    Path("data/mm.csv").write_text(
        'type,path,question,answer,max_tokens\nimage,pics/c.png,one?,x,7\nimage,"[""pics/a.jpg"", ""pics/b.jpg""]",two?,x,\n'
        ",,three?,x,9\n",
        encoding="utf-8",
    )
    with recording("x") as server:
        benchwright.run("data/mm.csv", model_url=server.url, model_id="m", parallelism=1, max_tokens=50)
        Path("data/mm.csv.meta.json").write_text(
            '{"request_count": 4, "output_config": {"method": "fixed", "params": {"value": 21}, "ignore_eos": true}}',
            encoding="utf-8",
        )
        benchwright.run("data/mm.csv", model_url=server.url, model_id="m", parallelism=1)
    assert [body["max_tokens"] for body in server.bodies] == [7, 50, 9, 21, 21, 21, 21]
    assert [body.get("ignore_eos") for body in server.bodies] == [None] * 3 + [True] * 4
    assert [len(c) if isinstance(c, list) else 0 for c in server.contents] == [2, 3, 0, 2, 3, 0, 2]


def test_what_is_wrong_with_files_is_found_by_check_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("data/pics/empty.png").touch()
    Path("data/pics/large.png").write_bytes(PNG + b"\0" * 3_000_000)
    bad = {"type": "image", "question": "q", "answer": "a"}
    write(
        [
            IMAGE,
            {**bad, "path": "pics/a.jpeg"},
            {**bad, "path": "pics/empty.png"},
            {**bad, "path": "pics"},
            {**bad, "path": ["pics/c.png", "pics/large.png"]},
            {**bad, "path": "pics/d.mp4"},
            {**bad, "type": "picture", "path": "pics/c.png"},
        ]
    )
    assert main(["check", "data/mm.jsonl", "--max-media-mb", "2", "--json"]) == 2
    (report,) = json.loads(capsys.readouterr().out)["checks"]
    found = {row["line"]: (row["field"], row["reason"]) for row in report["bad_rows"]}
    assert {line: field for line, (field, _) in found.items()} == {
        2: "path", 3: "path", 4: "path", 5: "path", 6: "path", 7: "type",
    }  # fmt: skip
    assert "Did you mean 'a.jpg'" in found[2][1]
    assert "is empty" in found[3][1]
    assert "is a folder" in found[4][1]
    assert "has 3.0 MB, more than the 2 MB" in found[5][1]
    assert "--max-media-mb" in found[5][1]
    assert "is an MP4, and the row gives image" in found[6][1]
    assert "expected one of image, video, audio" in found[7][1]
    assert main(["check", "data/mm.jsonl", "--max-media-mb", "2"]) == 2
    assert "data/mm.jsonl:3: " in capsys.readouterr().out


def test_a_check_shows_which_media_go_with_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", write([MIXED])]) == 0
    shown = capsys.readouterr().out
    assert "audio pics/e.wav\nimage pics/c.png" in shown
    assert "not used" not in shown
    assert "base64" not in shown


def test_a_run_with_bad_files_does_not_start_and_can_go_on_without_them() -> None:
    target = write([IMAGE, {**IMAGE, "path": "pics/none.png"}])
    with recording("dakota") as server:
        with pytest.raises(DatasetError, match=r"mm\.jsonl:2: .*there is no such file"):
            benchwright.run(target, model_url=server.url, model_id="m")
        assert server.bodies == []
        result = benchwright.run(target, model_url=server.url, model_id="m", skip_bad_rows=True)
    assert (result.summary.outcomes["scored"], result.summary.outcomes["skipped"]) == (1, 1)


def test_a_local_file_in_url_form_is_found_by_check() -> None:
    (report,) = benchwright.check(write([IMAGE]), media="url")
    assert "is a file of this machine" in report.bad_rows[0].reason


def test_the_completions_route_refuses_media_before_the_run_and_takes_text() -> None:
    with recording("dakota") as server:
        with pytest.raises(UsageError, match="only the chat route takes"):
            benchwright.run(
                write([TEXT, IMAGE]), model_url=server.url, model_id="m", model_type="completions"
            )
        assert server.bodies == []
    (report,) = benchwright.check(write([TEXT, IMAGE]), model_type="completions")
    assert any("--model-type chat" in error for error in report.errors)
    (report,) = benchwright.check(write([TEXT], "data/text.jsonl"), model_type="completions")
    assert report.ok


def test_columns_of_these_names_may_speak_of_something_else() -> None:
    rows = [{"type": "algebra", "path": "Math/Algebra", "question": "1+1?", "answer": "2"}]
    with recording("2") as server:
        result = benchwright.run(write(rows), model_url=server.url, model_id="m")
    assert server.contents == ["1+1?"]
    assert result["normalised_exact"] == 1.0


def test_the_store_does_not_grow_by_the_files(folder: Path) -> None:
    Path("data/pics/five.png").write_bytes(PNG + os.urandom(5_000_000))
    rows = [{"type": "image", "path": "pics/five.png", "question": f"q{n}", "answer": "x"} for n in range(20)]
    seen: list[int] = []

    def script(request: ModelRequest) -> str:
        seen.append(len(request.payload))
        return "x"

    result = benchwright.run(write(rows), endpoint=ScriptedEndpoint(script), parallelism=2)
    assert result["normalised_exact"] == 1.0
    assert len(seen) == 20
    assert min(seen) > 6_600_000
    stored = sum(file.stat().st_size for file in (folder / ".benchwright").rglob("*") if file.is_file())
    assert stored < 500_000


def test_records_and_samples_show_what_was_asked(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    import pyarrow.parquet

    with recording("dakota") as server:
        result = benchwright.run(write([TWO]), model_url=server.url, model_id="m", system="Be brief.")
    (sample,) = pyarrow.parquet.read_table(result.folder / "samples.parquet").to_pylist()
    assert sample["prompt"] == "compare these images"
    messages = json.loads(sample["messages"])
    assert messages[0] == {"role": "system", "content": "Be brief."}
    assert [kind for kind, _ in parts(messages[1]["content"])] == ["image_url", "image_url", "text"]
    assert parts(messages[1]["content"])[0][1].endswith(f"(image/jpeg, {len(JPEG)} bytes)")
    assert main(["show", "last", "0"]) == 0
    shown = capsys.readouterr().out
    assert "image: sha256:" in shown
    assert "compare these images" in shown
    assert "base64" not in shown


def test_a_run_with_media_goes_on_where_it_stopped() -> None:
    rows = [{**IMAGE, "question": f"q{n}"} for n in range(6)]
    with recording("dakota") as server:
        stopped = benchwright.run(
            write(rows), model_url=server.url, model_id="m", parallelism=1, max_requests=2
        )
        assert stopped.summary.partial
        done = benchwright.resume(stopped.run_id)
    assert done.summary.outcomes["scored"] == 6
    assert sorted(parts(content)[-1][1] for content in server.contents) == [f"q{n}" for n in range(6)]


def test_another_picture_under_the_same_name_is_asked_anew() -> None:
    target = write([IMAGE])
    with recording("dakota") as server:
        benchwright.run(target, model_url=server.url, model_id="m")
        benchwright.run(target, model_url=server.url, model_id="m")
        assert len(server.bodies) == 1  # the reply came from the first run
        Path("data/pics/a.jpg").write_bytes(JPEG + b"another")
        benchwright.run(target, model_url=server.url, model_id="m")
    assert len(server.bodies) == 2


def test_a_file_that_goes_away_during_the_run_is_a_skipped_sample() -> None:
    rows = [
        {**IMAGE, "question": f"q{n}", "path": f"pics/{name}"} for n, name in enumerate(["a.jpg", "b.jpg"])
    ]

    def script(request: ModelRequest) -> str:
        Path("data/pics/b.jpg").unlink(missing_ok=True)
        return "dakota"

    result = benchwright.run(write(rows), endpoint=ScriptedEndpoint(script), parallelism=1)
    assert result.summary.outcomes["skipped"] == 1
    assert "there is no such file" in (result.first_failure or "")


def test_the_demo_model_reads_the_text_of_such_requests() -> None:
    rows = [{**IMAGE, "question": "What is 2 + 2?", "answer": "4"}]
    in_process = benchwright.run(write(rows), demo_skill=1.0)
    assert in_process["normalised_exact"] == 1.0
    with demo_server(DemoSettings(skill=1.0)) as server:
        over_http = benchwright.run(write(rows), model_url=server.url, model_id="demo")
    assert over_http["normalised_exact"] == 1.0


def test_scoring_again_needs_no_model() -> None:
    with recording("dakota") as server:
        first = benchwright.run(write([IMAGE, TWO]), model_url=server.url, model_id="m")
        again = rescore(first.run_id)
    assert len(server.bodies) == 2
    assert again["normalised_exact"] == 1.0


def test_links_out_of_the_datasets_folder_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "private.png").write_bytes(PNG)
    (folder / "data" / "pics" / "link.png").symlink_to(folder / "private.png")
    (folder / "data" / "pics" / "near.png").symlink_to("c.png")
    rows = [
        {"path": f"pics/{name}", "question": name, "answer": "x"}
        for name in ("link.png", "near.png", "c.png")
    ]
    rows.append({"path": str(folder / "private.png"), "question": "by its name", "answer": "x"})
    path = write([{"type": "image", **row} for row in rows])
    result = benchwright.run(path, endpoint=ScriptedEndpoint(lambda request: "x"))
    said = [note for note in result.summary.notes if "outside the dataset's folder" in note]
    assert len(said) == 1
    assert said[0].startswith(
        f"1 media file is a link to a file outside the dataset's folder (pics/link.png → {folder}"
    )
    main(["check", path])
    assert "is a link to a file outside" in " ".join(capsys.readouterr().out.split())


def test_links_of_the_hubs_cache_are_no_matter(folder: Path) -> None:
    repository = folder / "hub" / "datasets--me--pics"
    (repository / "blobs").mkdir(parents=True)
    snapshot = repository / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (repository / "blobs" / "1f").write_bytes(PNG)
    (snapshot / "a.png").symlink_to("../../blobs/1f")
    path = write(
        [{"type": "image", "path": "a.png", "question": "q", "answer": "x"}], str(snapshot / "mm.jsonl")
    )
    result = benchwright.run(path, endpoint=ScriptedEndpoint(lambda request: "x"))
    assert result.summary.outcomes["scored"] == 1
    assert not any("outside the dataset's folder" in note for note in result.summary.notes)


DATA_URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("image", "pics/c.png", [("image_url", DATA_URL)]),
        ("Image", ["pics/c.png", "https://example.org/x"], [("image_url", DATA_URL), ("image_url", "https://example.org/x")]),
        ("picture", DATA_URL, [("image_url", DATA_URL)]),
        ("img", "https://example.org/chart", [("image_url", "https://example.org/chart")]),
        ("figure", "pics/c.png", [("image_url", DATA_URL)]),
        ("video", "https://example.org/d.mp4", [("video_url", "https://example.org/d.mp4")]),
        ("audio", "https://example.org/e.wav", [("audio_url", "https://example.org/e.wav")]),
    ],
)  # fmt: skip
def test_a_column_of_files_is_sent(column: str, cell: Any, expected: list[tuple[str, str]]) -> None:
    rows = [
        {"question": "What is shown?", "answer": "a dot", column: cell},
        {"question": "2+2?", "answer": "4"},
    ]
    with recording("a dot") as server:
        result = benchwright.run(write(rows), model_url=server.url, model_id="m", parallelism=1)
    shown, plain = server.contents
    assert [(part["type"], part[part["type"]]["url"]) for part in shown[:-1]] == expected
    assert shown[-1] == {"type": "text", "text": "What is shown?"}
    assert plain == "2+2?"
    assert any(f'files are read from "{column}"' in note for note in result.summary.notes)


def test_a_column_of_files_in_csv_goes_with_options_in_a_list(folder: Path) -> None:
    Path("data/mm.csv").write_text(
        'question,choices,answer,image\nWhich?,"[""cat"", ""dog""]",dog,"[""pics/a.jpg"", ""pics/c.png""]"\n'
    )
    with recording("B") as server:
        result = benchwright.run("data/mm.csv", model_url=server.url, model_id="m")
    (content,) = server.contents
    assert [part["type"] for part in content] == ["image_url", "image_url", "text"]
    assert "B) dog" in content[-1]["text"]
    assert result.summary.metrics["accuracy"].value == 1.0


def test_a_missing_file_of_an_image_column_is_a_bad_row() -> None:
    path = write([{"question": "q", "answer": "a", "image": "pics/nobody.png"}])
    with pytest.raises(DatasetError, match=r'"pics/nobody\.png": there is no such file'):
        benchwright.run(path, endpoint=ScriptedEndpoint("a"))


@pytest.mark.parametrize("cell", ["a cat on a mat", {"bytes": "iVBORw0KGgo="}, 7])
def test_an_image_column_that_cannot_be_sent_is_refused(cell: Any) -> None:
    path = write([{"question": "q", "answer": "a", "image": cell}])
    with pytest.raises(
        UsageError, match=r'column "image" contains nothing that can be sent as image.*rename or remove it'
    ):
        benchwright.run(path, endpoint=ScriptedEndpoint("a"))
