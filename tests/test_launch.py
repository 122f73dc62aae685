"""Launch: the inspector is a server on this machine alone, which ends when it is told to."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Timer
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "sample_traces" / "tour.json"
PATIENCE = 40  #: seconds until a server that does not start, or does not end, is given up


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


@pytest.fixture
def server(tmp_path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A running `inspect --headless` and its port; it runs in a folder that is no checkout."""
    port = free_port()
    command = [sys.executable, "-m", "context_gc.cli", "inspect", str(SAMPLE), "--headless", "--port", str(port)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "HOME": str(tmp_path)}
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    guard = Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))
    guard.start()
    try:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if "http://" in line:
                break
        else:
            pytest.fail("the server ended before it listened:\n" + "".join(said))
        guard.cancel()
        yield process, port
    finally:
        guard.cancel()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_the_inspector_answers_on_this_machine_only_and_ends_with_its_command(server):
    process, port = server
    with urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=30) as answer:
        assert (answer.status, answer.read()) == (200, b"ok")
    assert not answers("127.0.0.2", port)  # a server that listens on all addresses would answer here
    assert not answers("::1", port)
    process.terminate()
    process.communicate(timeout=PATIENCE)  # its output ends when the last process that writes to it does
    assert not answers("127.0.0.1", port)


def test_the_first_start_on_a_machine_asks_for_no_address_and_reports_nothing():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["server"]["showEmailPrompt"] is False  # else it waits for one before it serves
    assert config["browser"]["gatherUsageStats"] is False


@pytest.mark.parametrize("name", ["gone.jsonl", "gone/"])
def test_a_file_that_is_not_there_ends_with_2_and_one_line(name):
    command = [sys.executable, "-m", "context_gc.cli", "inspect", name, "--headless"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert (told.returncode, told.stdout) == (2, b"")
    assert told.stderr.decode() == f"context-gc: {name}: there is no such file or folder (check the path)\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--follow"], "inspect: there is nothing to follow (name a trace or a folder: inspect --follow FILE)"),
        (["gone/a.jsonl", "--follow"], "gone/a.jsonl: there is no such file or folder (check the path)"),
        (["sample_traces/tour.json", "--format", "x"], "inspect: 'x' is no format (known formats: native, "),
    ],
)
def test_what_cannot_be_followed_or_read_so_ends_with_2_and_one_line(arguments, told):
    command = [sys.executable, "-m", "context_gc.cli", "inspect", "--headless", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"context-gc: {told}")
    assert done.stderr.count(b"\n") == 1


def test_a_file_that_is_not_there_yet_can_be_followed_and_ctrl_c_ends_it(tmp_path):
    command = [sys.executable, "-m", "context_gc.cli", "inspect", "--follow", "--headless", "--format", "native"]
    command += ["--port", str(port := free_port()), str(tmp_path / "later.jsonl")]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "HOME": str(tmp_path)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, start_new_session=True, **pipes)
    guard = Timer(PATIENCE, process.kill)
    guard.start()
    try:
        assert any("http://" in line for line in process.stdout)
        assert answers("127.0.0.1", port)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        assert not answers("127.0.0.1", port)
    finally:
        guard.cancel()
        process.kill()
        process.communicate()


@pytest.mark.parametrize(("host", "status"), [("127.0.0.1", 101), ("localhost", 101), ("evil.example", 403)])
def test_only_pages_of_this_machine_may_talk_to_the_server(server, host, status):
    _, port = server
    request = (
        f"GET /_stcore/stream HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: http://{host}:{port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request.encode())
        assert connection.recv(64).split()[1] == str(status).encode()
