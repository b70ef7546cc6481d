"""The process that warm ones are forked from: it has imported benchwright, and started no thread.

It reads requests from the socket that it inherits, and answers each with the number of a new process, an orphan that
the requester has adopted by then. The new process leaves `serve` and becomes what its command line says. It ends as
Python ends any other (threads, exit handlers, flushed streams, exit code), except that it does not take its modules
apart: that would cost five times as much as most commands.
"""

from __future__ import annotations

import atexit
import builtins
import gc
import importlib
import io
import json
import linecache
import os
import pkgutil
import runpy
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import types
import warnings
from types import TracebackType
from typing import Any

THIRD_PARTY = ("jinja2", "rich.console", "rich.table", "starlette.applications", "uvicorn", "uvloop")
"""What commands load on the way, and what neither starts a thread nor reads the environment when it is imported."""
NEVER = ("huggingface_hub", "pyarrow")
"""Do one or the other."""
ORIGIN = "WARM_ORIGIN"
"""Variable of a process that has an origin of its own: the number of its socket. `new` in a request for one."""


def import_everything() -> None:
    """Pay once for what each command would import."""
    import benchwright
    from calm import calm

    for module in pkgutil.walk_packages(benchwright.__path__, "benchwright."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in THIRD_PARTY:
        importlib.import_module(name)
    calm()
    threads = len(os.listdir("/proc/self/task")) - 1
    found = [name for name in NEVER if name in sys.modules]
    if threads or found:
        raise SystemExit(
            f"importing benchwright starts {threads} threads and loads {found}: forking is unsafe"
        )
    gc.collect()
    gc.freeze()


def serve(requests: socket.socket) -> dict[str, Any] | None:
    """Answer requests until nobody can send more: None. In a new process: what it is to be."""
    while True:
        try:
            head, fds, _, _ = socket.recv_fds(requests, 8, 3)
        except KeyboardInterrupt:
            head = b""
        if not head:
            return None
        body = b""
        while len(body) < int.from_bytes(head, "big"):
            body += requests.recv(1 << 16)
        adopted, go = os.pipe()
        answer, told = os.pipe()
        between = os.fork()
        if between == 0:
            if (pid := os.fork()) > 0:
                os.write(told, str(pid).encode())
                os._exit(0)
            os.close(go)
            os.read(adopted, 1)  # ends once the process between is gone
            for fd in (adopted, answer, told):
                os.close(fd)
            requests.close()
            wanted: dict[str, Any] = json.loads(body)
            if wanted["env"].get(ORIGIN) == "new":
                ours, theirs = socket.socketpair()
                if os.fork() == 0:
                    for fd in (*fds, ours.detach()):
                        os.close(fd)
                    requests = theirs
                    continue
                theirs.close()
                wanted["env"][ORIGIN] = str(ours.detach())
            for number, fd in enumerate(fds):
                os.dup2(fd, number)
                os.close(fd)
            return wanted
        os.waitpid(between, 0)
        os.close(go)
        requests.sendall(os.read(answer, 16).ljust(16))
        for fd in (adopted, answer, told, *fds):
            os.close(fd)


def live(wanted: dict[str, Any]) -> None:
    """Become the process that was asked for, and end as it would."""
    code, interrupted = 0, False
    try:
        become(wanted)
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        if not isinstance(leaving.code, int | None):
            print(leaving.code, file=sys.stderr)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        code, interrupted = 1, isinstance(error, KeyboardInterrupt)
    for tidy in (threading._shutdown, atexit._run_exitfuncs):  # type: ignore[attr-defined]
        try:
            tidy()
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
    for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
        stream = getattr(sys, name)
        try:
            stream.flush()
        except ValueError:  # closed
            pass
        except OSError as error:
            if stream is getattr(sys, name.strip("_")) and name.startswith("_"):
                continue  # reported above
            code = 120
            said = f"on flushing sys.{name}:" if sys.version_info >= (3, 13) else f"in: {stream!r}"
            trace = traceback.format_exception_only(error)
            print(f"Exception ignored {said}\n{''.join(trace)}", end="", file=sys.stderr)
    if interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code & 0xFF)


def become(wanted: dict[str, Any]) -> None:
    """Be the process that was asked for, up to its end."""
    if wanted["session"]:
        os.setsid()
    if wanted["group"] >= 0:
        os.setpgid(0, wanted["group"])
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    time.tzset()
    tempfile.tempdir = None
    importlib.invalidate_caches()
    renew_streams()
    sys.warnoptions[:] = wanted["warnings"]
    warnings._processoptions(sys.warnoptions)  # type: ignore[attr-defined]
    sys.excepthook = without_our_frames
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    kind, what = wanted["kind"], wanted["what"]
    sys.argv = [{"c": "-c", "m": "-m"}.get(kind, what), *wanted["words"]]
    sys.path[0] = {"c": "", "m": os.getcwd()}.get(kind, os.path.dirname(os.path.abspath(what)))
    sys.orig_argv = [sys.executable, *wanted["command"]]
    if kind == "m":
        runpy._run_module_as_main(what)  # type: ignore[attr-defined]
    elif kind == "c":
        if sys.version_info >= (3, 13):  # which shows the lines of a command in tracebacks
            linecache.cache["<string>"] = (len(what), None, what.splitlines(keepends=True), "<string>")
        exec(compile(what, "<string>", "exec"), main.__dict__)
    else:
        main.__file__ = path = os.path.abspath(what)
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec")
        exec(code, main.__dict__)


def renew_streams() -> None:
    """What Python would have made of the three descriptors."""
    bare = bool(os.environ.get("PYTHONUNBUFFERED"))
    encoding, errors = sys.stdout.encoding, sys.stdout.errors
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(open(0, "rb", closefd=False), encoding, errors)  # noqa: SIM115
    for number, name in ((1, "stdout"), (2, "stderr")):
        raw: Any = open(number, "wb", 0, closefd=False)  # noqa: SIM115
        raw.name = f"<{name}>"
        if not bare:
            raw = io.BufferedWriter(raw)
        stream = io.TextIOWrapper(
            raw, encoding, errors if number == 1 else "backslashreplace",
            line_buffering=not bare and (number == 2 or os.isatty(number)), write_through=bare,
        )  # fmt: skip
        stream.mode = "w"  # type: ignore[misc]
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def without_our_frames(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a traceback that begins where the process began."""
    while trace is not None and trace.tb_frame.f_code.co_filename == become.__code__.co_filename:
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


if __name__ == "__main__":
    socket_to_requester = socket.socket(fileno=int(sys.argv[1]))
    import_everything()
    if (asked_for := serve(socket_to_requester)) is not None:
        live(asked_for)
