"""A server for tests, as its users have it: a process of its own, asked by the official client."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

ROOT = Path(__file__).parents[2]
FINDS_US = {**os.environ, "PYTHONPATH": str(ROOT)}
COMMAND = [sys.executable, "-m", "context_gc.cli", "mcp", "--store"]


@contextmanager
def over_stdio(directory: Path) -> Iterator[StdioServerParameters]:
    """What starts a server on stdio; the client ends it."""
    yield StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], str(directory)], env=FINDS_US)


@contextmanager
def over_http(directory: Path) -> Iterator[str]:
    """The address of a server over HTTP that runs until the block ends."""
    command = [*COMMAND, str(directory), "--http", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=FINDS_US, text=True) as process:
        assert process.stderr is not None
        try:
            yield process.stderr.readline().split()[-1]
        finally:
            process.terminate()
            process.wait(30)


TRANSPORTS = {"stdio": over_stdio, "http": over_http}


def _apart(ask: Callable[[], Awaitable[Any]]) -> Any:
    """Run it in a thread of its own: a browser test before it may have left an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, ask).result()


def asked(server: Any, *calls: tuple[str, dict[str, Any]], mode: str = "auto") -> list[tuple[str, bool]]:
    """The text of each answer, and whether it is an error."""

    async def ask() -> list[tuple[str, bool]]:
        with anyio.fail_after(120):
            async with Client(server, mode=mode) as client:
                results = [await client.call_tool(name, arguments) for name, arguments in calls]
        return [(result.content[0].text, bool(result.is_error)) for result in results]

    return _apart(ask)


def listed(server: Any, mode: str = "auto") -> list[Any]:
    """The tools of a server."""

    async def ask() -> list[Any]:
        with anyio.fail_after(120):
            async with Client(server, mode=mode) as client:
                return list((await client.list_tools()).tools)

    return _apart(ask)
