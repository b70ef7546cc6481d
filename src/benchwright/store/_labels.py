"""People's labels of samples, and trials: what they say, and of which rows and replies.

A label belongs to the content of a row, not to a run, so that it shows in every run on that row. One about a reply, such as a judge's
wrong grade, also names the reply: it changes no number of another one.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import asdict

from benchwright.core import JsonObject, UsageError, rfc3339, row_hash, suggest


class LabelKind(Struct, frozen=True):
    words: str
    """What it says of a sample."""
    value: str | None
    """What its value is; None: it has none."""
    needed: bool = False
    """Whether it says nothing without a value."""
    of_reply: bool = False
    """Whether it is about one reply to the row."""
    many: bool = False
    """Whether a person may give a row several, with different values."""
    scores: bool = False
    """Whether it changes how a run is scored again."""
    calibrates: bool = False
    """Whether it says how good a judge is."""

    @property
    def corrects(self) -> bool:
        """Whether it changes a number."""
        return self.scores or self.calibrates


LABEL_KINDS: dict[str, LabelKind] = {
    "gold": LabelKind("gold is wrong", "the right target", scores=True),
    "ambiguous": LabelKind("ambiguous", None, scores=True),
    "extraction": LabelKind(
        "extraction is wrong", "the right reading of the reply", of_reply=True, scores=True
    ),
    "judge": LabelKind(
        "right grade", "the grade that the judge should give", needed=True, of_reply=True, calibrates=True
    ),
    "tag": LabelKind("tag", "a word of your own", needed=True, many=True),
    "note": LabelKind("note", "a text", needed=True),
}
"""Every kind of label, in the order in which they are shown."""
LONGEST_VALUE = 100_000
"""Characters of a label's value."""


class Label(Struct, frozen=True, kw_only=True):
    """What somebody says of a sample."""

    row: str
    """Identifies the content of the row (hex)."""
    kind: str
    value: str | None = None
    """What the kind's value is: the right target, reading or grade, a tag, or a note."""
    reply: str | None = None
    """Identifies the reply that it is about (hex); None: it is about the row."""
    who: str
    """Who gave it."""
    created_at: float
    """Wall clock."""
    run_id: int
    """The run in which the person saw the sample."""
    sample_id: int
    """Its row number there."""
    repeat: int
    """Its repeat there."""
    id: int = 0
    """Its number in the store."""

    @property
    def key(self) -> str:
        """What there is one label of: a person's opinion on one thing of a row or reply. A new one replaces the old one."""
        said = self.value if LABEL_KINDS[self.kind].many else ""
        return "\n".join((self.row, self.kind, self.reply or "", self.who, said or ""))

    def checked(self) -> Label:
        """The label. UsageError if it is none: an unknown kind, or a value that is missing or must not be there."""
        kind = LABEL_KINDS.get(self.kind)
        if kind is None:
            raise UsageError(
                f"{self.kind!r} is not a kind of label.{suggest(self.kind, LABEL_KINDS)} Kinds: {', '.join(LABEL_KINDS)}"
            )
        if self.value is not None and kind.value is None:
            raise UsageError(f"a label {self.kind!r} has no value; leave it out, or add a note")
        if kind.needed and not self.value:
            raise UsageError(f"a label {self.kind!r} needs a value: {kind.value}")
        if self.value is not None and len(self.value) > LONGEST_VALUE:
            raise UsageError(f"the value has {len(self.value):,} characters; at most {LONGEST_VALUE:,}")
        if kind.of_reply and self.reply is None:
            raise UsageError(f"a label {self.kind!r} is about a reply, and this sample has none")
        if not self.row:
            raise UsageError("this row could not be read, so that it cannot be recognised in other runs")
        return self

    def applies_to(self, reply: str | None) -> bool:
        """Whether it is about the row, or about this reply."""
        return self.reply is None or self.reply == reply

    @staticmethod
    def reply_id(response: str | None) -> str | None:
        """Identifies a reply by its text.

        >>> Label.reply_id("4") == Label.reply_id("4"), Label.reply_id("4") == Label.reply_id("5"), Label.reply_id(None)
        (True, False, None)
        """
        return None if response is None else row_hash(response.encode("utf-8", "replace")).hex()

    @property
    def words(self) -> str:
        """What it says."""
        return LABEL_KINDS[self.kind].words if self.kind in LABEL_KINDS else self.kind

    def to_json(self, reply: str | None = None) -> JsonObject:
        """The label for REST and pages; `applies` says whether it is about the row, or about this reply."""
        found = asdict(self)
        created = found.pop("created_at")
        return {**found, "words": self.words, "at": rfc3339(created), "applies": self.applies_to(reply)}

    @staticmethod
    def user_name() -> str:
        """Who uses this process, for labels; `me` if the system has no name for the user."""
        import getpass

        try:
            return getpass.getuser()
        except (OSError, KeyError):
            return "me"


class Trial(Struct, frozen=True, kw_only=True):
    """A sample that somebody sent again, changed or not. It is no part of its run."""

    run_id: int
    """The run of the sample."""
    sample_id: int
    """Its row."""
    repeat: int
    who: str
    """Who asked."""
    created_at: float
    """Wall clock."""
    content: JsonObject
    """What was sent, and what came of it."""
    id: int = 0
    """Its number in the store."""

    def to_json(self) -> JsonObject:
        """The trial for REST and pages: its number, who and when, and what came of it."""
        return {"id": self.id, "who": self.who, "at": rfc3339(self.created_at), **self.content}
