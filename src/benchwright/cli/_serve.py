"""`benchwright serve`."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from benchwright.cli._flags import add_workspace
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser, value_of
from benchwright.cli._web import ONCE, named_or_nearest, need_server
from benchwright.config import Setting

if TYPE_CHECKING:
    from benchwright.server import ServerAddress

_PORT = Setting("port", "int", "port to listen on; 0 for a free one (default: 8765)", least=0, most=65535)
_BODY = Setting("max_body_mb", "number", "maximum size of a request body, in MB (default: 64)", above=0)

_IDLE = Setting(
    "stop_when_idle",
    "number",
    "end after this time without an open page or a request (default: never)",
    above=0,
)


def configure(parser: Parser) -> None:
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="address or name to listen on; one that other machines can reach needs TLS or --behind-proxy, and `token add` "
        "(default: 127.0.0.1)",
    )
    parser.add_argument("--port", type=value_of(_PORT), default=8765, metavar="N", help=_PORT.meaning)
    parser.add_argument("--addr", metavar="IP:PORT", help="host and port in one argument")
    parser.add_argument("--tls-cert", metavar="FILE", help="PEM file with the certificate; serves HTTPS")
    parser.add_argument("--tls-key", metavar="FILE", help="PEM file with the key of the certificate")
    parser.add_argument(
        "--behind-proxy",
        action="store_true",
        help="a proxy in front speaks HTTPS; X-Forwarded-Host is the name that clients used",
    )
    parser.add_argument(
        "--token-name", metavar="VARIABLE", help="environment variable that contains the clients' token"
    )
    parser.add_argument(
        "--open-reads", action="store_true", help="let every user of this machine read runs without the token"
    )
    parser.add_argument(
        "--private", action="store_true", help="require the token on every route (the default)"
    )
    parser.add_argument("--max-body-mb", type=value_of(_BODY), default=64.0, metavar="X", help=_BODY.meaning)
    parser.add_argument(
        "--new-code",
        action="store_true",
        help="print another URL for the pages of the server that serves this workspace, and end",
    )
    parser.add_argument(
        "--read-only", action="store_true", help="with --new-code: the pages of this URL change nothing"
    )
    parser.add_argument("--stop-when-idle", type=value_of(_IDLE), metavar="MINUTES", help=_IDLE.meaning)
    add_workspace(parser)
    parser.example(
        "benchwright serve --port 8765",
        "benchwright serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Serve until Ctrl-C; JSON: `{"url", "token", "workspace", "open_url"}` once it listens. With `--new-code`: `{"open_url"}`."""
    need_server()
    from benchwright import runs
    from benchwright.server import People, ServerSettings, new_open_url, serve

    workspace = named_or_nearest(arguments)
    if arguments.read_only and not arguments.new_code:
        from benchwright.core import UsageError

        raise UsageError("--read-only belongs to --new-code: it makes a URL whose pages change nothing")
    if arguments.new_code:
        url = new_open_url(workspace, read_only=arguments.read_only)
        if output.as_json:
            output.json({"open_url": url})
        else:
            output.line(_open_line(url))
        return 0
    if arguments.open_reads and arguments.private:
        from benchwright.core import UsageError

        raise UsageError("--open-reads and --private contradict each other; give one")
    host, port = _address(arguments)
    settings = ServerSettings(
        host=host,
        port=port,
        token=_token(arguments.token_name),
        open_reads=arguments.open_reads,
        max_body=int(arguments.max_body_mb * 1024 * 1024),
        idle_s=None if arguments.stop_when_idle is None else arguments.stop_when_idle * 60,
        tls_cert=arguments.tls_cert,
        tls_key=arguments.tls_key,
        behind_proxy=arguments.behind_proxy,
    )

    def ready(address: ServerAddress) -> None:
        if address.first is not None:
            output.note(
                f"note: this workspace is also served at {address.first}; server.json still names that server"
            )
        for line in settings.described(address.url, People(workspace).known):
            output.note(line)
        if output.as_json:
            told = {"url": address.url, "token": address.token, "workspace": str(workspace.root)}
            output.json({**told, "open_url": address.open_url})
            return
        output.line(f"serving {workspace.root} at {address.url} (Ctrl-C stops it)")
        output.line(_open_line(address.open_url))
        output.line(f"token: {address.token}")
        output.line(f"OpenAPI: {address.url}/openapi.json")

    serve(workspace, settings, runs, on_ready=ready)
    return 0


def _open_line(url: str) -> str:
    return f"open: {url} ({ONCE}; another one: benchwright serve --new-code)"


def _address(arguments: Namespace) -> tuple[str, int]:
    from benchwright.core import UsageError

    if arguments.addr is None:
        return arguments.host, arguments.port
    host, colon, port = arguments.addr.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise UsageError(
            f"--addr is {arguments.addr!r}; expected an address and a port, such as 127.0.0.1:8765"
        )
    return host.strip("[]"), int(port)


def _token(variable: str | None) -> str | None:
    import os

    from benchwright.core import UsageError

    if variable is None:
        return None
    if not os.environ.get(variable):
        raise UsageError(f"--token-name {variable}: that variable is not set (export {variable}=…)")
    return os.environ[variable]
