"""Server: the tools over the Model Context Protocol, by the official SDK, on stdio or on HTTP for this machine only.

Over HTTP any program of this machine can ask; requests that a web page sends are refused by their origin.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from threading import Lock
from typing import Any

from ..errors import ContextGCError, StoreError
from .arguments import schema
from .pages import sendable
from .shelf import Shelf
from .tools import TOOLS, call

HOST = "127.0.0.1"
INSTRUCTIONS = (
    "Parts of this conversation were cut to save context. A line [RECEIPT id] stands for what was there:"
    " recover_receipt gives it back, search_receipts finds by words what was cut. Recover before you read or run"
    " something again."
)


def serve(directory: str | os.PathLike[str], port: int | None = None) -> None:
    """Serve until the client goes away or, over HTTP, until interrupted. Port 0 takes one that is free.

    Raises:
        StoreError: there is nothing to serve, the port is taken, or the extra `mcp` is not installed.
    """
    shelf = Shelf(directory)
    try:
        import anyio
        from mcp.server.lowlevel import Server
    except ImportError as error:
        what = f"the package mcp, version 2, is needed: {error}"
        raise StoreError("context-gc mcp", what, "install context-gc[mcp]") from None
    server: Any = _server(shelf, Server)
    if port is None:
        anyio.run(_over_stdio, server)
    else:
        anyio.run(_over_http, server, _bound(port))


class Answers:
    """Calls one tool at a time: a shelf keeps what it has loaded."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf, self._lock = shelf, Lock()

    def __call__(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """(the text, whether it is an error). Never raises."""
        try:
            with self._lock:
                return call(self._shelf, name, arguments), False
        except ContextGCError as error:
            return sendable(str(error)), True
        except Exception as error:  # the client is told, and the server goes on
            return f"{name[:80]!r}: the tool failed: {type(error).__name__} (report it)", True


def _server(shelf: Shelf, make: Any) -> Any:
    from anyio import to_thread
    from mcp import types

    answers = Answers(shelf)
    described = [
        types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.about,
            input_schema=schema(tool.parameters),
            annotations=types.ToolAnnotations(
                title=tool.title,
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=False,
            ),
        )
        for tool in TOOLS
    ]

    async def listed(_: Any, __: Any) -> Any:
        return types.ListToolsResult(tools=described)

    async def called(_: Any, params: Any) -> Any:
        text, failed = await to_thread.run_sync(answers, params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    return make(
        "context-gc",
        title="What was cut from the context",
        version=_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=listed,
        on_call_tool=called,
    )


async def _over_stdio(server: Any) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def _over_http(server: Any, listening: socket.socket) -> None:
    import uvicorn

    port = listening.getsockname()[1]
    app = server.streamable_http_app(host=HOST)
    running = uvicorn.Server(uvicorn.Config(app, host=HOST, port=port, log_level="warning"))
    print(f"context-gc: serving http://{HOST}:{port}/mcp", file=sys.stderr, flush=True)
    await running.serve(sockets=[listening])


def _bound(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise StoreError(f"port {port}", f"it cannot be opened: {reason}", "give another --http PORT") from None


def _version() -> str:
    try:
        return version("context-gc")
    except PackageNotFoundError:
        return ""
