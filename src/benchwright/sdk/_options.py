"""The knobs of a run, one for one with the command line's flags. None means: not said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from benchwright.config import PROFILES, check_headers
from benchwright.core import LEFT_OUT, JsonValue, LeftOut, UsageError, suggest


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to run a target. What is left out comes from benchwright.toml, then from the defaults."""

    model: str | None = None
    """A name from the configuration, a profile, or `demo`."""
    model_url: str | None = None
    """Base URL of the server, with or without the path."""
    host_ip: str | None = None
    """Host of the server, instead of its URL (localhost)."""
    host_port: int | None = None
    """Its port (8080)."""
    enable_ssl: bool | None = None
    """https instead of http, with a host."""
    model_id: str | None = None
    """The model's name at that server; with a profile, None means the first that the server lists."""
    model_type: str | None = None
    """chat, completions or completions_logprob; None: as the benchmark declares."""
    api: str | None = None
    """Wire format: openai, responses, tgi, triton or mindie; None: the profile's, else openai."""
    api_key_name: str | None = None
    """Environment variable that holds the key."""
    headers: Mapping[str, str] | None = None
    """Further request headers; `${VARIABLE}` stands for a value of the environment, and secrets must be so."""
    verify: bool | None = None
    """Check the server's TLS certificate (yes)."""
    ca_file: str | None = None
    """PEM file of a certificate to trust besides those of the system."""
    demo_skill: float | None = None
    """Skill of the demo model, 0 to 1."""
    dataset: str | None = None
    """Path or URI that replaces the benchmark's dataset."""
    input: Mapping[str, JsonValue] | None = None
    """What the evaluation of a configured name gets: for a described one `model`, `limit` and
    `prompt_template_file`; for a built-in one all of its settings; a program takes anything."""
    filters: tuple[str, ...] | None = None
    """Only rows whose column has a value, each as `FIELD=VALUE`; beside the benchmark's own filters."""
    limit: int | None = None
    """First so many rows only."""
    repeats: int | None = None
    """Times each row is asked (1)."""
    parallelism: int | None = None
    """Samples in flight at once (16)."""
    temperature: float | LeftOut | None = None
    """Sampling temperature (0). `"none"` leaves it, or one of the next four, out of the requests."""
    top_p: float | LeftOut | None = None
    """Nucleus sampling (1)."""
    max_tokens: int | LeftOut | None = None
    """Longest reply in tokens (4096)."""
    stop: tuple[str, ...] | None = None
    """Stop strings."""
    seed: int | LeftOut | None = None
    """Seed sent to the server."""
    stream: bool | None = None
    """Ask for a stream, which also gives the time to the first token."""
    extra_body: Mapping[str, JsonValue] | None = None
    """Further keys of every request body."""
    num_fewshot: int | None = None
    """Examples per prompt; 0 forces none."""
    fewshot_seed: int | None = None
    """Seed of the choice of examples (42)."""
    fewshot_strict: bool | None = None
    """Refuse examples drawn from evaluated rows."""
    request_timeout: float | None = None
    """Seconds for one attempt (120)."""
    timeout_per_sample: float | None = None
    """Seconds for all attempts of one request."""
    max_retries: int | None = None
    """Attempts after the first (3)."""
    retry_backoff: float | None = None
    """Upper end of the first pause, seconds (0.5)."""
    max_event_bytes: int | None = None
    """Largest event of a stream (16777216)."""
    max_requests: int | None = None
    """Stop after so many requests."""
    max_tokens_total: int | None = None
    """Stop after so many tokens."""
    max_minutes: float | None = None
    """Stop after so many minutes."""
    max_failures: int | None = None
    """Stop once more samples than this have failed."""
    failure_threshold: float | None = None
    """Share of failed samples above which a run is not comparable (0.05)."""
    cache: bool | None = None
    """Take replies to equal requests from earlier runs (yes)."""
    skip_bad_rows: bool | None = None
    """Count unusable rows as skipped instead of refusing to start."""
    pass_k: int | None = None
    """The k of `pass@k` and `cons@k`, at most the repeats; None: the repeats."""
    num_warmups: int | None = None
    """Requests before the first that counts; they are not recorded (0)."""
    infer_only: bool | None = None
    """Ask and record the replies, and leave the scoring to `rescore`."""
    data_type: str | None = None
    """What a file of questions holds: mcq, mcq_multi or qa; None: found out from its rows."""
    infer_method: str | None = None
    """How it is asked: `gen` for a reply; `logprob` and `logprob_text` rank letters or texts of its options."""
    meta_path: str | None = None
    """Its meta file: sampling and lengths; None: `FILE.meta.json`, if it is there."""
    prompt_style: str | None = None
    """Which built-in prompt asks: benchwright, cot or aisbench."""
    template: str | None = None
    """Prompt of your own, text or file."""
    system: str | None = None
    """System prompt, text or file."""
    fewshot_dataset: str | None = None
    """File of solved examples."""
    input_columns: tuple[str, ...] | None = None
    """Columns of the question (`question`)."""
    output_column: str | None = None
    """Column of the expected answer (`answer`)."""
    options: tuple[str, ...] | None = None
    """Columns of the options (A, B, C, …)."""
    answer_index: int | None = None
    """Where numbers in the answer column begin to count the options: 0 or 1; None: found out from the rows."""
    mcq_fallback: str | None = None
    """What decides where no letter can be read: none, levenshtein or aisbench."""
    qa_metrics: tuple[str, ...] | None = None
    """Metrics of free answers, the headline first."""
    qa_pattern: str | None = None
    """Regular expression of the metric `regex`."""
    numeric_tolerance: float | None = None
    """How far numbers may be apart and still be equal, as a share (0)."""
    evaluator: str | None = None
    """Scorer by name instead of the type's own."""
    evaluator_kwargs: Mapping[str, JsonValue] | None = None
    """Settings of that scorer."""
    judge_url: str | None = None
    """URL of the judge, for the metric `judge`."""
    judge_id: str | None = None
    """The judge's name at its server."""
    judge_key_name: str | None = None
    """Environment variable that holds the judge's key."""
    judge_model: str | None = None
    """Judge from the models of the configuration."""
    media: str | None = None
    """How files of rows reach the server: base64, path or url."""
    audio_style: str | None = None
    """Which content part carries audio: audio_url or input_audio."""
    max_media_mb: float | None = None
    """Larger files are refused (20)."""
    compat: str | None = None
    """Sample and round as another tool does: `aisbench`."""
    test_range: str | None = None
    """Rows to take: `[10:20]`, or how many (or which share) by chance."""
    encoding: str | None = None
    """Encoding of a file of questions, such as cp1252 or utf-16 (UTF-8)."""
    sheet: str | None = None
    """Sheet of a workbook (the first)."""
    workspace: Path | None = None
    """Folder whose `.benchwright/` keeps the records; None: found upwards from the current folder."""
    output_dir: Path | None = None
    """Where the run's files go; None: a folder of the workspace."""
    overwrite: bool | None = None
    """Whether files of another run there may be replaced."""
    reports: tuple[str, ...] | None = None
    """Reports of installed packages to write as well, by name."""

    def __post_init__(self) -> None:
        _check_types(self)
        for name in ("limit", "repeats", "parallelism", "max_tokens", "max_requests", "max_tokens_total"):
            value = getattr(self, name)
            if value is not None and value != LEFT_OUT and value < 1:
                raise UsageError(f"--{name.replace('_', '-')} is {value}; expected 1 or more")
        for written in self.filters or ():
            if "=" not in written:
                raise UsageError(
                    f"--filter {written!r} has no '='; expected FIELD=VALUE, as in --filter lang=hi"
                )
        if self.failure_threshold is not None and not 0 <= self.failure_threshold <= 1:
            raise UsageError(f"--failure-threshold is {self.failure_threshold}; expected a share from 0 to 1")
        if self.max_failures is not None and self.max_failures < 0:
            raise UsageError(f"--max-failures is {self.max_failures}; expected 0 or more")
        if self.input is not None and not isinstance(self.input, Mapping):
            raise UsageError(
                f"--input is {self.input!r}; expected a JSON object, such as '{{\"limit\": 10}}'"
            )
        if self.num_fewshot is not None and self.num_fewshot < 0:
            raise UsageError(f"--num-fewshot is {self.num_fewshot}; expected 0 or more")
        if self.max_minutes is not None and not self.max_minutes > 0:
            raise UsageError(f"--max-minutes is {self.max_minutes}; expected more than 0")

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any], caller: str = "run") -> RunOptions:
        """From Python keywords of the function `caller`; an unknown one is refused with near names."""
        known = [f.name for f in fields(cls)]
        for name in keywords:
            if name not in known:
                raise UsageError(f"{caller}() has no option {name!r}.{suggest(name, known)}")
        values = dict(keywords)
        for name in ("workspace", "output_dir"):
            if values.get(name) is not None:
                values[name] = Path(values[name])
        for name in ("stop", "filters", "reports"):
            if isinstance(values.get(name), str):
                values[name] = (values[name],)
        if values.get("headers") is not None:
            values["headers"] = _headers(values["headers"])
        for name in ("qa_metrics", "options", "input_columns"):
            if values.get(name) is not None:
                values[name] = _names(values[name])
        if isinstance(values.get("compat"), bool):
            values["compat"] = "aisbench" if values["compat"] else None
        if isinstance(values.get("test_range"), int | float):
            values["test_range"] = str(values["test_range"])
        return cls(**values)

    def over(self, defaults: Mapping[str, Any]) -> RunOptions:
        """These options, with `defaults` for what they leave out."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        described = self.model_url or self.host_ip or self.host_port
        # A model described here replaces one named there; a profile wants an address.
        if described and defaults.get("model") not in PROFILES:
            defaults = {name: value for name, value in defaults.items() if name != "model"}
        return RunOptions.from_keywords(layered(defaults, {k: v for k, v in own.items() if v is not None}))


def layered(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Options of several places as one table, the last first. Further fields of the body add up, field by field.

    >>> layered({"seed": 1, "extra_body": {"top_k": 5}}, {"seed": 2, "extra_body": {"min_p": 0.1}})
    {'seed': 2, 'extra_body': {'top_k': 5, 'min_p': 0.1}}
    """
    values: dict[str, Any] = {}
    for layer in layers:
        below = values.get("extra_body")
        values.update(layer)
        body = layer.get("extra_body")
        if isinstance(below, Mapping) and (body is None or isinstance(body, Mapping)):
            values["extra_body"] = {**below, **(body or {})}
    return values


def one_of(options: RunOptions | None, keywords: Mapping[str, Any], caller: str) -> RunOptions:
    """The options of `caller`, which takes them as one object or as keywords."""
    if isinstance(keywords.get("options"), RunOptions):  # the object, given by name
        options, keywords = keywords["options"], {k: v for k, v in keywords.items() if k != "options"}
    if options is None:
        return RunOptions.from_keywords(keywords, caller)
    if keywords:
        raise UsageError(f"{caller}() takes options as one object or as keywords, not both")
    return options


def _headers(value: Mapping[str, str] | str | Sequence[str]) -> dict[str, str]:
    """Headers by name, from a table or from texts `NAME=VALUE`."""
    if isinstance(value, Mapping):
        return check_headers("headers", value)
    headers: dict[str, str] = {}
    for written in [value] if isinstance(value, str) else value:
        name, mark, text = written.partition("=")
        if not mark or not name.strip():
            # Not quoted: it may hold a key.
            raise UsageError("--header: expected NAME=VALUE, as in --header X-Team=search")
        headers[name.strip()] = text.strip()
    return check_headers("--header", headers)


def _names(value: str | Sequence[str]) -> tuple[str, ...]:
    """A list of names; several may stand in one text, between commas."""
    texts = [value] if isinstance(value, str) else list(value)
    if len(texts) == 1 and isinstance(texts[0], str):
        texts = [text.strip() for text in texts[0].split(",")]
    return tuple(texts)


_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "Path": (Path,),
}


def _check_types(options: RunOptions) -> None:
    """Python does not look at annotations; a text where a number belongs must not start a run."""
    for option in fields(options):
        value = getattr(options, option.name)
        kinds = _KINDS.get(str(option.type).partition(" ")[0])
        if value is None or kinds is None or (value == LEFT_OUT and "LeftOut" in str(option.type)):
            continue
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise UsageError(f"{option.name} is {value!r} ({type(value).__name__}); expected {expected}")
    if options.extra_body is not None and not isinstance(options.extra_body, Mapping):
        raise UsageError(
            f"extra_body is {options.extra_body!r}; expected a dict of further fields of the request body"
        )
