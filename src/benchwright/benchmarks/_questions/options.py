"""What can be said about a bare file of questions; everything has a default."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from benchwright.core import JsonObject

DataType: TypeAlias = Literal["mcq", "qa"]
"""Multiple choice, or a question with a free answer."""

PromptStyle: TypeAlias = Literal["benchwright", "cot", "aisbench"]
"""How a row asks: our instruction, thinking first, or the prompts of AISBench."""

McqFallback: TypeAlias = Literal["none", "levenshtein", "aisbench"]
"""What decides where no answer can be read: nothing, the nearest option within limits, or AISBench's guess."""

MediaForm: TypeAlias = Literal["base64", "path", "url"]
"""How files reach the server: inside the request, as file:// paths, or as they stand (http:// addresses)."""

AudioStyle: TypeAlias = Literal["audio_url", "input_audio"]
"""Which content part carries audio: vLLM's `audio_url` or OpenAI's `input_audio`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOptions:
    """How a file of questions is asked and scored. Recorded with the run, so that a resume builds the same."""

    name: str | None = None
    """Name of the benchmark; None: the file's, without its known suffixes."""
    data_type: DataType | None = None
    """None: found out from the rows."""
    infer_method: str = "gen"
    """Only `gen`."""
    prompt_style: PromptStyle = "benchwright"
    """Which of the built-in prompts asks."""
    template: str | None = None
    """Template text or file instead of a built-in prompt; columns in braces, `{options}` for the lettered list."""
    system: str | None = None
    """System prompt: template text or file."""
    fewshot_dataset: str | None = None
    """File of solved examples; the number is a setting of the run."""
    meta_path: str | None = None
    """Sampling and lengths; None: `<file>.meta.json`, if it is there."""
    mcq_fallback: McqFallback = "none"
    """What decides in `accuracy` where no answer can be read; `accuracy_strict` never guesses."""
    qa_metrics: tuple[str, ...] = ()
    """Metrics wanted, the headline first; empty: normalised exact match, with the other four beside it."""
    qa_pattern: str | None = None
    """Regular expression of the metric `regex`; None: the answer column holds one per row."""
    numeric_tolerance: float = 0.0
    """How far numbers may be apart and still be equal, as a share of the expected one."""
    judge: JsonObject = field(default_factory=dict)
    """Settings of the judge, as `JudgeConfig` takes them; needed by the metric `judge`."""
    media: MediaForm = "base64"
    """How files of multimodal rows reach the server."""
    audio_style: AudioStyle = "audio_url"
    """Which content part carries audio."""
    max_media_mb: float = 20.0
    """Larger files are refused before the run."""
    compat: bool = False
    """Sample and round as AISBench does."""
    test_range: str | None = None
    """Rows to take: `[10:20]` as a slice, a whole number or a share below 1 as a seeded random subset."""

    def to_json(self) -> JsonObject:
        """The frozen form."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> QuestionOptions:
        """The reverse of `to_json`."""
        return cls(**{**record, "qa_metrics": tuple(record.get("qa_metrics") or ())})
