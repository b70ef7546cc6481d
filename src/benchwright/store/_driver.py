"""The seam between statements and databases. Statements are written once, in SQL that SQLite and PostgreSQL understand; a
driver opens the database, executes them, and tells where its dialect differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from benchwright.store._records import Recovered, StoreError
from benchwright.store._workspace import Workspace

Row: TypeAlias = tuple[Any, ...]
Access: TypeAlias = Literal["read", "write", "append"]
"""What a connection is for. One that appends writes many rows, and its owner calls `Driver.tidy` in a thread now and then."""


class Cursor(Protocol):
    """The result of a statement. Rows that are iterated are read as they are needed."""

    @property
    def description(self) -> Any:
        """A tuple for each column, the name first."""

    @property
    def rowcount(self) -> int:
        """Rows that the statement wrote."""

    def fetchone(self) -> Any:
        """The next row; None after the last."""

    def fetchall(self) -> list[Row]:
        """All rows that are left."""

    def __iter__(self) -> Iterator[Row]: ...

    def close(self) -> None:
        """Give up rows that were not read."""


class Connection(Protocol):
    """An open connection. Outside `begin` and `commit`, every statement is a transaction."""

    place: str
    """Identifies the database in this process. It contains no password."""
    words: Mapping[str, str]
    """What stands for the words in braces in the schema, such as `{bytes}`: where its SQL differs from that of others."""
    as_blob: Callable[[bytes], object]
    """Turns bytes into the form that is bound fastest; for rows that are written by the thousand."""
    errors: tuple[type[Exception], ...]
    """Exceptions of the database."""
    local: bool
    """Whether a commit takes so little time that it may be made in an event loop."""
    patience_s: float
    """Seconds to wait for a database that is away."""

    def is_away(self, error: Exception) -> bool:
        """Whether an exception says that the database cannot be reached now. A new try outside a transaction connects again."""

    def execute(self, sql: str, values: Sequence[object] = ..., /) -> Cursor:
        """Execute a statement with `?` for its values."""

    def executemany(self, sql: str, rows: Sequence[Sequence[object]], /) -> Any:
        """Execute a statement for each row."""

    def stream(self, sql: str, values: Sequence[object] = ..., /) -> Iterator[Row]:
        """The rows of a statement that only reads, received as they are needed: a run may have millions. Other statements can be
        executed meanwhile."""

    def begin(self, *, durable: bool = False, bulk: bool = False) -> None:
        """Begin a transaction that writes. After the commit of a `durable` one, a power cut loses nothing of it. A `bulk` one writes
        very many rows."""

    def commit(self) -> None:
        """Commit the transaction."""

    def rollback(self) -> None:
        """Undo the transaction, unless the database has already ended it."""

    def scratch(self, table: str, declaration: str) -> str:
        """Create an empty table that only this connection sees and that goes with it. Returns its name."""

    def version(self) -> int:
        """The version of the schema; 0: there is none yet."""

    def set_version(self, version: int) -> None:
        """Record the version of the schema."""

    def not_written(self, error: Exception) -> StoreError:
        """The error for a record that could not be written: what is safe, and the cure."""

    def lost(self) -> StoreError | None:
        """Check that the database is still the one that was opened. If it was deleted or replaced, save its records, and return
        what happened."""

    def close(self) -> None:
        """Close the connection."""


class Driver(Protocol):
    """A database of one kind, in one place."""

    errors: tuple[type[Exception], ...]
    """Exceptions of the database."""

    def __init__(self, workspace: Workspace) -> None: ...

    @staticmethod
    def workspace_at(url: str) -> Workspace:
        """The workspace of a URL of this driver's scheme, where the files of runs are."""

    def connect(self, access: Access, *, log_pages: int = 0) -> Connection:
        """Open a connection, without looking at the schema. A database with a log lets it grow to `log_pages` before it works on
        it by itself."""

    def exists(self) -> bool:
        """Whether anything was ever recorded there."""

    def writable(self) -> bool:
        """Whether this user may record there."""

    def problems(self) -> list[str]:
        """Descriptions of damage; empty if the database is sound."""

    def recover(self, fresh: Callable[[Driver], Connection]) -> Recovered:
        """Replace a damaged database by one with all readable rows; `fresh` opens one with the schema."""

    def tidy(self) -> None:
        """Do what the database postpones, such as moving the content of its log. Called in a thread."""

    def not_read(self, error: Exception) -> StoreError:
        """The error for a database that could not be used: the reason and the cure."""

    @staticmethod
    def plain_error(error: Exception) -> StoreError:
        """The same where it is not known which database it was."""


class Transaction:
    """A transaction that is rolled back on an exception. Exceptions of the database become `StoreError`."""

    __slots__ = ("_bulk", "_connection", "_durable")

    def __init__(self, connection: Connection, *, durable: bool = False, bulk: bool = False) -> None:
        self._connection = connection
        self._durable = durable
        self._bulk = bulk

    def __enter__(self) -> Connection:
        try:
            self._connection.begin(durable=self._durable, bulk=self._bulk)
        except self._connection.errors as error:
            raise self._connection.not_written(error) from error
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        connection = self._connection
        try:
            if error is None:
                connection.commit()
                return
        except connection.errors as failure:
            error = failure
        connection.rollback()
        if isinstance(error, connection.errors):
            raise connection.not_written(error) from error
