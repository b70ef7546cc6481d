"""A checked request pipeline: the values between its description and `benchwright.endpoints`, which runs it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from benchwright.config._pipeline_steps import STEPS, PipelineStep
from benchwright.core import JsonObject, UsageError, content_hash


class OwnStep:
    """A step that Python code passed as an object. It is neither copied nor recorded."""

    __slots__ = ("step",)

    def __init__(self, step: Any) -> None:
        self.step = step

    def __deepcopy__(self, memo: object) -> OwnStep:
        return self


class StepEntry(Struct, frozen=True):
    """One step of a pipeline: its name and given settings."""

    name: str
    """Name of a built-in step, a plugin, or an object from the caller."""
    config: JsonObject = {}
    """The given settings."""
    package: str = ""
    """For a plugin: its package and version, because another version may behave differently."""
    own: OwnStep | None = None
    """The object, if Python code passed one."""

    @property
    def built_in(self) -> PipelineStep | None:
        """The built-in step with these settings; None for any other."""
        form = STEPS.get(self.name)
        if form is None:
            return None
        values = {
            name: tuple(value) if isinstance(value, list) else value for name, value in self.config.items()
        }
        return form(**values)

    @property
    def changes(self) -> bool:
        """Whether replies can depend on it. A step that is not built in is assumed to change them."""
        form = STEPS.get(self.name)
        return form is None or form.decides == "replies"

    def to_json(self) -> JsonObject:
        """The recorded form."""
        record: JsonObject = {"name": self.name, "config": self.config}
        return {**record, "package": self.package} if self.package else record


class PipelineSettings(Struct, frozen=True):
    """A checked pipeline."""

    steps: tuple[StepEntry, ...] = ()
    """Its steps, in the order of requests."""
    notes: tuple[str, ...] = ()
    """Notes on settings without effect."""

    def __bool__(self) -> bool:
        return bool(self.steps or self.notes)

    def find(self, form: type[Any]) -> Any:
        """The built-in step of a class; None if there is none. Any, because it is an object of that class."""
        return next((entry.built_in for entry in self.steps if STEPS.get(entry.name) is form), None)

    def check_load(self, workers: int) -> None:
        """Raise UsageError for steps that a load test cannot have. Steps may change and observe requests and replies."""
        for entry in self.steps:
            step = entry.built_in
            if step is not None and (problem := step.load_problem()):
                raise UsageError(
                    f"{problem}. Leave it out, or give the load test a pipeline of its own; --pipeline '{{}}' switches it off"
                )
            if entry.own is not None and workers > 1:
                raise UsageError(
                    f"step {entry.name} is an object of this process; leave --workers out, or install it as a plugin"
                )

    @property
    def changing(self) -> list[JsonObject]:
        """The steps that replies can depend on, in recorded form."""
        return [entry.to_json() for entry in self.steps if entry.changes]

    def identity(self) -> str:
        """Identifies these steps in the key of a call; empty if no step changes anything."""
        return f" pipeline={content_hash(self.changing)}" if self.changing else ""

    def to_json(self) -> JsonObject:
        """The recorded form; `pipeline_settings` reads it."""
        return {"interceptors": [entry.to_json() for entry in self.steps]}
