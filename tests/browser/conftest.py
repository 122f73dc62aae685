"""A real server and a real browser. Without a browser these tests are skipped; where CI is set they fail."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = (
    "--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--disable-quic",
)  # fmt: skip
PATIENCE = 20_000  #: milliseconds that a condition may take to come true

try:
    from playwright.sync_api import Browser, Page, expect, sync_playwright
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("playwright is not installed: pip install 'context-gc[test]'", allow_module_level=True)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium: the system's, else the one that playwright installed."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        system = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        try:
            chromium = playwright.chromium.launch(executable_path=system, args=list(FLAGS))
        except Exception as error:  # playwright tells a missing browser only by text
            if os.environ.get("CI"):
                raise
            pytest.skip(f"no browser: {str(error).splitlines()[0]}")
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a browser session of its own, 1440 × 900."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[str], str]]:
    """Start an inspector on a file or folder ("" for samples only); gives its address. It stops with the session."""
    with ExitStack() as running:
        yield lambda target: running.enter_context(inspector(target))


@pytest.fixture(scope="session")
def server(serve: Callable[[str], str]) -> str:
    """The address of an inspector that offers the samples."""
    return serve("")


@contextmanager
def inspector(target: str) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = {**os.environ, "CONTEXT_GC_OPEN": target, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    told = []
    for line in process.stdout:
        told.append(line)
        if "URL:" in line:
            break
    else:
        pytest.fail("the server did not start:\n" + "".join(told))
    drain = Thread(target=process.stdout.read, daemon=True)
    drain.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)
        drain.join(timeout=20)
        process.stdout.close()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
