"""The MCP server as a process: the official client starts it, lists its tools and calls them."""

from __future__ import annotations

import http.client
import json
import random
import subprocess
from urllib.parse import urlsplit

import pytest
from shelves import SECRET, receipts_file, saved

pytest.importorskip("mcp.client.client", reason="the extra mcp is not installed")

from served import COMMAND, FINDS_US, TRANSPORTS, asked, listed, over_http, over_stdio

NAMES = ["recover_receipt", "search_receipts", "explain_event", "list_receipts", "context_report"]
CALLS = (
    ("recover_receipt", {"receipt_id": "v1", "page": 1}),
    ("search_receipts", {"words": "old value", "limit": 5}),
    ("explain_event", {"event_id": "v1"}),
    ("list_receipts", {"page": 1}),
    ("context_report", {}),
)
every_transport = pytest.mark.parametrize("transport", TRANSPORTS)


@every_transport
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_lists_and_calls_every_tool(tmp_path, transport, mode):
    saved(tmp_path)
    with TRANSPORTS[transport](tmp_path) as server:
        tools = listed(server, mode)
        answers = asked(server, *CALLS, mode=mode)
    assert [tool.name for tool in tools] == NAMES == [name for name, _ in CALLS]
    for tool in tools:
        assert tool.annotations.read_only_hint is True
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert all(each["type"] in ("string", "integer") for each in tool.input_schema["properties"].values())
    assert [failed for _, failed in answers] == [False] * 5
    assert all(text.strip() for text, _ in answers)
    assert SECRET in answers[0][0]
    assert "v1 | run main" in answers[1][0]


@every_transport
def test_a_receipt_of_one_process_is_recovered_by_another_after_a_restart(tmp_path, transport):
    original = saved(tmp_path).expand_receipt("v1")
    for _ in range(2):
        with TRANSPORTS[transport](tmp_path) as server:
            ((text, failed),) = asked(server, ("recover_receipt", {"receipt_id": "v1", "form": "json"}))
        assert not failed
        assert json.loads(text.partition("\n---\n")[2]) == original[0]


@every_transport
def test_errors_are_errors_of_the_tool(tmp_path, transport):
    receipts_file(tmp_path / "mine.db")
    with TRANSPORTS[transport](tmp_path / "mine.db") as server:
        answers = asked(
            server, ("recover_receipt", {"receipt_id": "v9"}), ("erase", {}), ("list_receipts", {"page": "x"})
        )
    assert [failed for _, failed in answers] == [True] * 3
    assert answers[0][0].startswith("receipt 'v9': there is none with this id in 1 run (")
    assert not any("Traceback" in text for text, _ in answers)


@every_transport
def test_fuzzed_arguments_never_stop_the_server(tmp_path, transport):
    saved(tmp_path)
    chance = random.Random(7)
    values = [None, True, -1, 0, 10**9, 1.5, "", "v1", "../x", "é☃", "a" * 5_000, [], [[]], {"a": 1}, "\x00", "\u202e"]
    keys = ["receipt_id", "event_id", "words", "page", "limit", "run", "form", "more"]
    calls = [
        (
            chance.choice([*NAMES, "nope"]),
            {chance.choice(keys): chance.choice(values) for _ in range(chance.randrange(4))},
        )
        for _ in range(120)
    ]
    with TRANSPORTS[transport](tmp_path) as server:
        answers = asked(server, *calls, *CALLS)
    assert [failed for _, failed in answers[-5:]] == [False] * 5
    assert not any("Traceback" in text or "report it" in text for text, _ in answers)


def test_two_clients_share_a_server_over_http(tmp_path):
    saved(tmp_path)
    with over_http(tmp_path) as server:
        assert asked(server, *CALLS)[1:] == asked(server, *CALLS)[1:]


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
def test_requests_of_web_pages_are_refused(tmp_path, headers):
    saved(tmp_path)
    with over_http(tmp_path) as server:
        address = urlsplit(server)
        assert address.hostname == "127.0.0.1"
        for sent, expected in ((headers, range(400, 500)), ({}, range(200, 300))):
            connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
            ask = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            if not sent:
                info = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "t", "version": "1"},
                }
                ask |= {"method": "initialize", "params": info}
            accepts = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
            connection.request("POST", address.path, json.dumps(ask), accepts | sent)
            assert connection.getresponse().status in expected
            connection.close()


def test_garbage_on_standard_input_does_not_stop_it(tmp_path):
    saved(tmp_path)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        "no json",
        "{}",
        "[1, 2]",
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "context_report"}}),
    ]
    with subprocess.Popen(
        [*COMMAND, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=FINDS_US
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join([*lines, ""]).encode())
        process.stdin.flush()
        told = {}
        while 2 not in told:
            answer = json.loads(process.stdout.readline())
            told[answer.get("id")] = answer
        process.stdin.close()
        assert process.wait(60) == 0
    assert "1 run, the newest first" in told[2]["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["missing"], "it cannot be opened"), ([".", "--http", "99999"], "port 99999: it cannot be opened")],
)
def test_what_cannot_be_served_is_told_on_one_line(tmp_path, arguments, told):
    done = subprocess.run(
        [*COMMAND, str(tmp_path / arguments[0]), *arguments[1:]],
        capture_output=True,
        env=FINDS_US,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert (told in done.stderr, done.stderr.count("\n"), done.stdout) == (True, 1, "")


def test_a_port_that_is_taken_is_told(tmp_path):
    saved(tmp_path)
    with over_http(tmp_path) as server:
        taken = str(urlsplit(server).port)
        done = subprocess.run(
            [*COMMAND, str(tmp_path), "--http", taken], capture_output=True, env=FINDS_US, text=True, check=False
        )
    assert (done.returncode, done.stderr.startswith(f"context-gc: port {taken}: it cannot be opened")) == (2, True)


def test_the_server_ends_with_its_client(tmp_path):
    saved(tmp_path)
    with over_stdio(tmp_path) as server:
        assert not asked(server, ("context_report", {}))[0][1]
    done = subprocess.run(
        [*COMMAND, str(tmp_path)], input=b"", capture_output=True, env=FINDS_US, check=False, timeout=60
    )
    assert done.returncode == 0
