"""The settings of a run, each declared once.

The rows of `RunOptions` are the only list. Flags, keys of files, the manual's tables, what a request body holds, and
what `resume`, `rescore` and `--reuse` may change are derived from them; `RunKeywords` repeats the names for type
checkers, and a test compares the two.
"""

# every row makes a field
from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from benchwright.config._servers import PROFILES, host_url
from benchwright.config._setting import RUN_TABLES, Decides, Setting, Table, row, settings_in
from benchwright.config._values import GivenOptions, from_python
from benchwright.core import MODEL_TYPES, WIRE_FORMATS, JsonValue, UsageError, suggest

if TYPE_CHECKING:
    from benchwright.config._pipeline import PipelineSettings

_VERIFY, _CA_FILE = "check the {}'s TLS certificate", "PEM file with an additional certificate to trust"
_ONLY_MODELS: tuple[Table, ...] = ("model",)
_MODELS_TOO: tuple[Table, ...] = (*RUN_TABLES, "model")
_ALL_MODELS_TOO: tuple[Table, ...] = (*RUN_TABLES, "model", "demo")
_NO_TABLE: tuple[Table, ...] = ()


_server = partial(row, decides="replies", group="model", tables=_ONLY_MODELS)
_data = partial(row, group="data")
_questions = partial(row, group="questions")
_tools = partial(row, decides="everything", group="tools")
_judge = partial(_questions, decides="scores", only="qa")
_sent = partial(
    row, decides="replies", group="generation", body=True, can_be_left_out=True, tables=_ALL_MODELS_TOO
)
_attempts = partial(row, decides="effort", group="requests")
_budget = partial(row, decides="budget", group="budget")
_files = partial(row, decides="place", group="files", tables=_NO_TABLE)

ALL_OPTIONS = " docs/flags.md lists all of them, such as limit=20 and repeats=3"
"""The end of a message about an option that no known one resembles."""


class RunOptions(GivenOptions, frozen=True, kw_only=True):
    """How to run a target. None: not given; then benchwright.toml counts, then the default."""

    # fmt: off
    model: str | None = row("model from benchwright.toml, a profile (see: ls --models), or 'demo'", "replies", group="model",
        tables=("run", "benchmark"), otherwise="demo", metavar="NAME", see="endpoints.md#profiles", frequent=True)
    model_url: str | None = _server("URL of the server", aliases=("base_url", "url"), tables=_NO_TABLE, metavar="URL",
        more="Without a model, the server's only one is used", see="endpoints.md", frequent=True)
    host_ip: str | None = _server("host of the server, instead of its URL", otherwise="localhost", metavar="HOST")
    host_port: int | None = _server("port of that host", least=1, most=65535, default=8080, metavar="PORT")
    enable_ssl: bool | None = _server("use https instead of http for that host")
    model_id: str | None = _server("name of the model on the server", aliases=("model_name",), tables=_NO_TABLE,
        metavar="ID", more="Default: the server's only model; with a profile, the first one it lists", frequent=True)
    model_type: str | None = _server("kind of request", choices=MODEL_TYPES, tables=("suite", "dataset"), metavar="TYPE",
        otherwise="the benchmark's")
    api: str | None = _server("wire format of the server", choices=tuple(WIRE_FORMATS), plugins="wires", default="openai", metavar="FORMAT",
        see="endpoints.md#wire-formats")
    api_key_name: str | None = _server("environment variable that contains the API key", decides="effort", aliases=("api_key_env",),
        metavar="VARIABLE", frequent=True)
    headers: Mapping[str, str] | None = _server(
        "additional request header, with secrets as ${VARIABLE}; may be repeated", kind="texts", aliases=("header",),
        metavar="NAME=VALUE", more="In Python and in files: a table")
    verify: bool | None = _server(_VERIFY.format("server"), decides="effort", default=True,
        see="endpoints.md#certificates-and-proxies")
    ca_file: str | None = _server(_CA_FILE, decides="effort", metavar="FILE")
    pipeline: PipelineSettings | None = row("steps that change or log requests and replies, as JSON", "replies", kind="steps", group="requests",
        aliases=("adapter_config",), tables=_ALL_MODELS_TOO, recorded="steps", metavar="JSON", see="pipeline.md",
        more="In files: a table. In Python: also a list of steps")
    demo_skill: float | None = row("share of solvable questions that the demo model answers correctly", "replies", group="model", least=0, most=1, default=0.7,
        metavar="SHARE", tables=("run", "benchmark", "suite"))

    dataset: str | None = _data("use this data instead of the benchmark's own", "data", metavar="PATH",
        otherwise="the benchmark's", tables=("benchmark", "dataset"), more="A path from the current folder, or a URI",
        see="data.md")
    input: Mapping[str, JsonValue] | None = _data("input for an evaluation from benchwright.toml, as JSON", "everything",
        metavar="JSON", tables=("suite", "dataset"), see="nocode.md",
        more="An evaluation without code takes `model`, `limit` and `prompt_template_file`; a built-in one takes all of its "
             "settings; a program defines its own")
    filters: tuple[str, ...] | None = _data("evaluate only rows whose column has this value; may be repeated", "rows",
        aliases=("filter",), metavar="FIELD=VALUE", more="The benchmark's own filters apply as well. In files: also a table")
    limit: int | None = _data("evaluate the first N rows", "rows", least=1, aliases=("limit_samples", "num_prompts"),
        otherwise="all", frequent=True)
    repeats: int | None = _data("send each row N times", "replies", least=1, aliases=("n_repeats",), default=1,
        tables=_MODELS_TOO, frequent=True)
    pass_k: tuple[int, ...] | None = _data("the k of pass@k (at least one of k replies is right), pass^k (all are) and cons@k (most are); several as in 1,3,5", "summary", least=1,
        metavar="K,…", otherwise="the number of repeats", see="running.md#repeats")
    num_fewshot: int | None = _data("number of solved examples before each prompt", "prompt", least=0,
        otherwise="the benchmark's", more="0 for none", frequent=True)
    fewshot_seed: int | None = _data("seed for drawing the examples", "prompt", default=42)
    fewshot_strict: bool | None = _data("refuse examples drawn from the evaluated rows", "rows")
    skip_bad_rows: bool | None = _data("leave unreadable rows out instead of refusing the file", "rows",
        more="They are counted as skipped")
    native_calling: bool | None = _data("send functions as tools, instead of describing them in the prompt and reading calls from the text",
        "everything", otherwise="the benchmark's", see="tools.md")
    lenient_calls: bool | None = _data("also score calls in texts by lenient rules, which accept prose, code fences and positional arguments",
        "scores", see="tools.md#lenient-reading")
    extra: Mapping[str, JsonValue] | None = _data("values for the settings that the benchmark declares as extra, as JSON", "scores",
        metavar="JSON", tables=("benchmark",), more="Scorers see them as sample.config", see="benchmarks.md")
    judge: Mapping[str, JsonValue] | None = _data("judge settings that override the benchmark's own, as JSON", "scores",
        metavar="JSON", tables=("run", "benchmark"), see="scorers.md#judges",
        more="For several judges, one table for each, by key: `{\"judge_1\": {…}}`")
    infer_only: bool | None = _data("record the replies and leave the scoring to `rescore`", "scores", flag=False,
        tables=_NO_TABLE)

    data_type: str | None = _questions("type of the questions in a file", "columns", choices=("mcq", "mcq_multi", "qa"),
        aliases=("custom_dataset_data_type",), metavar="TYPE", otherwise="detected", see="questions.md")
    infer_method: str | None = _questions("how to get answers: gen reads them from replies; the others rank the letters or the texts of the options by log-probability", "replies",
        choices=("gen", "logprob", "logprob_text"), aliases=("custom_dataset_infer_method",), metavar="METHOD", only="mcq",
        default="gen")
    meta_path: str | None = _questions("file that plans which rows to send and how long replies may be", "everything", aliases=("custom_dataset_meta_path",),
        metavar="PATH", otherwise="FILE.meta.json, if it exists", see="data.md")
    prompt_style: str | None = _questions("built-in prompt to use", "prompt", choices=("benchwright", "cot", "aisbench"),
        metavar="STYLE", default="benchwright", see="questions.md#prompts")
    template: str | None = _questions("your own prompt, as text or a file, with {question}, {options}, {A} or any column", "columns",
        metavar="TEXT")
    system: str | None = _questions("system message for benchmarks without one, as text or a file", "prompt", metavar="TEXT", tables=_ALL_MODELS_TOO,
        more="It is sent as it is written: braces stay as they are")
    fewshot_dataset: str | None = _questions("file of solved examples for --num-fewshot", "prompt", metavar="PATH",
        otherwise="the file's other rows")
    input_columns: tuple[str, ...] | None = _questions("columns that make up the question", "columns", commas=True, metavar="NAMES",
        otherwise="question")
    output_column: str | None = _questions("column with the expected answer", "columns", metavar="NAME", otherwise="answer")
    options: tuple[str, ...] | None = _questions("columns with the options, or one column that lists them", "columns",
        commas=True, metavar="NAMES", otherwise="A, B, C, …")
    answer_index: int | None = _questions("position of the first option, if answers are positions: 0 or 1", "columns", least=0, most=1,
        only="mcq", otherwise="detected")
    mcq_fallback: str | None = _questions("how to guess if no letter can be read", "scores",
        choices=("none", "levenshtein", "aisbench"), metavar="RULE", only="mcq", default="none")
    qa_metrics: tuple[str, ...] | None = _questions("metrics for free answers, the headline metric first; may be repeated",
        "scores", aliases=("qa_metric",), commas=True, metavar="NAMES", only="qa", otherwise="normalised_exact",
        see="questions.md#scores-of-free-answers")
    qa_pattern: str | None = _questions("regular expression for the metric regex", "scores", metavar="REGEX", only="qa")
    numeric_tolerance: float | None = _questions("relative tolerance for numbers", "scores", least=0,
        metavar="SHARE", only="qa", default=0.0)
    evaluator: str | None = _questions("name of the scorer to use instead of the usual one for the data type", "scores", metavar="NAME")
    evaluator_kwargs: Mapping[str, JsonValue] | None = _questions("settings of that scorer, as JSON", "scores",
        metavar="JSON")
    judge_url: str | None = _judge("URL of the judge, for the metric judge", metavar="URL", judge="url")
    judge_id: str | None = _judge("name of the judge on its server", metavar="ID", judge="model_id")
    judge_key_name: str | None = _judge("environment variable that contains the judge's key", metavar="VARIABLE", judge="api_key")
    judge_verify: bool | None = _judge(_VERIFY.format("judge"), judge="verify", default=True)
    judge_ca_file: str | None = _judge(_CA_FILE + ", for the judge", metavar="FILE", judge="ca_file")
    judge_model: str | None = _judge("model from benchwright.toml to use as the judge", metavar="NAME")
    media: str | None = _questions("how media files are sent to the server", "prompt", choices=("base64", "path", "url"),
        metavar="FORM", default="base64", see="data.md#images-video-and-audio")
    audio_style: str | None = _questions("type of the content part for audio", "prompt",
        choices=("audio_url", "input_audio"), metavar="STYLE", default="audio_url")
    max_media_mb: float | None = _questions("refuse larger media files", "prompt", above=0, metavar="MB", default=20.0)
    compat: str | None = _questions("choose rows and round numbers as this tool does", "everything", choices=("aisbench",),
        metavar="TOOL")
    test_range: str | None = _questions("rows to evaluate: a slice such as [10:20], or a number or share of rows, drawn at random", "rows",
        metavar="RANGE", otherwise="all")
    encoding: str | None = _questions("encoding of the file, such as cp1252 or utf-16", "rows", metavar="NAME",
        otherwise="utf-8", see="data.md#spreadsheets-and-encodings")
    sheet: str | None = _questions("sheet of a workbook; several separated by commas, or all", "rows", metavar="NAME", joined=True,
        otherwise="the first with a table", see="data.md#spreadsheets-and-encodings")
    header_row: int | None = _questions("row of a sheet that names the columns", "rows", least=1, metavar="N",
        otherwise="the first below a title", see="data.md#spreadsheets-and-encodings")

    task: str | None = _tools("categories and groups to evaluate, comma-separated", metavar="NAMES",
        otherwise="the evaluation's", see="tools.md#the-public-evaluation")
    tool_data: str | None = _tools("your own rows: a folder in the native layout, or a file of JSON lines", metavar="PATH",
        recorded="path", otherwise="the published data, once fetched", see="tools.md#datasets-of-your-own")
    tool_data_format: str | None = _tools("format of --tool-data", choices=("native", "openai"), metavar="FORMAT",
        recorded="format", otherwise="native for a folder, openai for a file")
    tool_data_template: str | None = _tools("JSON file that maps the fields of a file in openai format", metavar="PATH",
        recorded="template")
    limit_share: float | None = _tools("evaluate this share of each category, from its first row", above=0, most=1,
        metavar="SHARE", recorded="share", otherwise="all", more="Rounded up")

    # Request bodies hold these in this order.
    temperature: float | Literal["none"] | None = _sent("sampling temperature", least=0, default=0.0, frequent=True)
    max_tokens: int | Literal["none"] | None = _sent("maximum length of a reply, in tokens", least=1, aliases=("max_new_tokens",), default=4096, frequent=True)
    top_p: float | Literal["none"] | None = _sent("nucleus sampling", least=0, most=1, default=1.0)
    stop: tuple[str, ...] | None = _sent("end the reply at this text; may be repeated", metavar="TEXT")
    seed: int | Literal["none"] | None = _sent("sampling seed, sent with each request", tables=_MODELS_TOO)
    stream: bool | None = _sent("request streamed replies, which also gives times to the first token", can_be_left_out=False, default=False,
        tables=_MODELS_TOO, more="A profile may have another default")
    extra_body: Mapping[str, JsonValue] | None = _sent("fields to add to each request body, as JSON", body=False,
        can_be_left_out=False, metavar="JSON", more="""For example `'{"top_k": 5}'`""")

    parallelism: int | None = _budget("maximum number of requests, and of samples, at a time", least=1, aliases=("concurrency",), group="requests",
        default=16, frequent=True)
    request_timeout: float | None = _attempts("time limit for one attempt", above=0, default=120.0, metavar="SECONDS",
        recorded="request_timeout_s")
    timeout_per_sample: float | None = _attempts("time limit for all attempts of one request", above=0, metavar="SECONDS",
        recorded="sample_timeout_s", otherwise="request timeout × attempts")
    max_retries: int | None = _attempts("attempts after the first one fails; 0 for none", least=0, default=3,
        more="Failures that don't predict the next attempt don't count, up to N of them",
        see="failures.md")
    retry_backoff: float | None = _attempts("longest pause before the first retry; it doubles each time", least=0, default=0.5, metavar="SECONDS",
        recorded="retry_backoff_s")
    max_event_bytes: int | None = _attempts("maximum size of one event in a stream", least=1, default=16777216, metavar="BYTES",
        more="A larger one fails the request")
    cache: bool | None = _attempts("reuse the replies of earlier runs to equal requests", decides="source", default=True,
        more="Off by default where the environment variable CI is set", see="resuming.md#the-cache")
    num_warmups: int | None = _attempts("warm-up requests before the run, which are not recorded", least=0, default=0,
        more="If all of them fail, the run does not start")

    max_requests: int | None = _budget("stop after N requests, retries included", least=1,
        more="Requests to judges count as well. Each benchmark in a file has its own budget", frequent=True)
    max_tokens_total: int | None = _budget("stop after N tokens, prompts included", least=1,
        more="The server counts them. If it does not, four characters count as one token, and a note says so")
    max_minutes: float | None = _budget("stop after this time", above=0, metavar="MINUTES")
    max_cost: float | None = _budget("stop before requests, judges included, can cost more than this in total", above=0,
        metavar="AMOUNT", more="In the currency of the prices; needs a price for each model", see="cost.md#a-limit")
    prices: str | None = _budget("file with prices", metavar="FILE", otherwise="the nearest prices.toml, from here upwards, and the user's own",
        tables=("run",), see="cost.md")
    max_failures: int | None = _budget("stop once more than N samples have failed", least=0, more="`resume` continues")
    failure_threshold: float | None = _budget("share of failed samples above which a run is not comparable",
        decides="summary", least=0, most=1, default=0.05, metavar="SHARE")

    workspace: Path | None = _files("folder that contains .benchwright/", otherwise="the nearest, from here upwards", metavar="DIR",
        more="If there is none, the current folder")
    store: str | None = _files("where runs are recorded: an SQLite file, or a URL such as sqlite:////srv/evals/results.db", metavar="URL",
        otherwise="in the workspace", more="Files of runs are in the folder of the store, unless `--workspace` names another. Also `store` in "
        "`benchwright.toml`, and the variable `BENCHWRIGHT_STORE`", see="configuration.md#store")
    output_dir: Path | None = _files("write the run's files here", metavar="DIR", otherwise="in the workspace",
        more="Several benchmarks get a subfolder each. A folder with another run's files is refused", frequent=True)
    overwrite: bool | None = _files("replace another run's files in the output folder")
    reports: tuple[str, ...] | None = _files("write a report of an installed package (see: ls --plugins), or run_eval; may be repeated",
        aliases=("report",), tables=RUN_TABLES, metavar="NAME", see="plugins.md",
        more="`run_eval` is built in and writes the [files of NeMo Evaluator](results.md#files-of-run_eval)")
    trackers: tuple[str, ...] | None = _files("log the run to wandb, mlflow or a package's tracker; may be repeated",
        aliases=("tracker",), tables=RUN_TABLES, metavar="NAME", see="plugins.md#trackers")
    metadata: Mapping[str, JsonValue] | None = _files("labels for the run, such as versions, as JSON", metavar="JSON",
        tables=("run", "benchmark"), more="`results.yml` repeats the versions among them", see="results.md#files-of-run_eval")
    save_predictions: bool | None = _files("write the samples to a file in the run's folder", default=True,
        tables=("run", "benchmark"), see="results.md#samplesparquet",
        more="If off, neither `samples.parquet` nor `byob_predictions.jsonl` is written. The workspace records every sample either way")
    # fmt: on

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any], caller: str = "run") -> RunOptions:
        """Read Python keywords of the function `caller`. An unknown one is refused, with similar names."""
        for name in keywords:
            if name not in BY_NAME:
                raise UsageError(f"{caller}() has no option {name!r}.{suggest(name, BY_NAME) or ALL_OPTIONS}")
        return cls(**{name: from_python(BY_NAME[name], value) for name, value in keywords.items()})

    @property
    def address(self) -> str | None:
        """The address of a server, if one is given."""
        by_host = [self.host_ip, self.host_port, self.enable_ssl] != [None, None, None]
        if self.model_url is None:
            return host_url(self.host_ip, self.host_port, ssl=bool(self.enable_ssl)) if by_host else None
        if by_host:
            raise UsageError(
                "--model-url contains host, port and scheme; leave --host-ip, --host-port and --enable-ssl out"
            )
        return self.model_url

    def over(self, defaults: Mapping[str, Any]) -> RunOptions:
        """These options, with `defaults` for missing ones."""
        described = self.model_url or self.host_ip or self.host_port
        # A model described here replaces one named there; a profile needs an address, in its wire format.
        profile = PROFILES.get(str(defaults.get("model")))
        if described and (profile is None or self.api not in (None, profile.api)):
            defaults = {name: value for name, value in defaults.items() if name != "model"}
        return RunOptions.from_keywords(layered(defaults, self.given()))


def layered(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Merge options of several places; later ones take precedence. Further fields of the body are merged field by field.

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


BY_NAME = {setting.name: setting for setting in settings_in(RunOptions)}
"""Every setting of a run by name, in the order of the help text."""
RunOptions.settings = BY_NAME

RECORDED = {setting.recorded or setting.name: setting for setting in BY_NAME.values()}
"""The settings of runs by their names in the recorded settings of a run or an endpoint."""

RUN_SETTINGS = tuple(setting for setting in BY_NAME.values() if setting.flag)
"""Settings with a flag."""

BODY_SETTINGS = tuple(setting for setting in BY_NAME.values() if setting.body)
"""Settings that every request body contains, in order."""


def settings_deciding(*classes: Decides) -> tuple[str, ...]:
    """Names of the settings with a flag that decide one of these."""
    return tuple(setting.name for setting in RUN_SETTINGS if setting.decides in classes)


def settings_of(*tables: Table) -> tuple[Setting, ...]:
    """The settings that are allowed in one of these tables of a file."""
    return tuple(setting for setting in RUN_SETTINGS if not set(setting.tables).isdisjoint(tables))


RESCORE_OPTIONS = settings_deciding("data", "rows", "scores", "summary", "source", "budget", "place")
"""Settings that may differ when replies are scored again: rows, rules, budgets of judges, places of files."""

RESUME_OVERRIDES = settings_deciding("budget")
"""Settings that a resumed run may change."""
