"""A local server that speaks the APIs of OpenAI and Anthropic: it checks each request as they would, and answers."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from message_checks import call_ids, faults

OPENAI, ANTHROPIC = "openai-chat", "anthropic-messages"
PATHS = {"/v1/chat/completions": OPENAI, "/v1/messages": ANTHROPIC}


@dataclass
class Says:
    """What the model answers: texts, calls (name, arguments), thinking, or an HTTP status with an error."""

    texts: tuple = ()
    calls: tuple = ()
    thinks: bool = False
    stop: str = ""
    refusal: str = ""
    status: int = 200
    headers: dict = field(default_factory=dict)
    waits: threading.Event | None = None  #: what it waits for before it answers
    breaks: bool = False  #: the stream ends in the middle


class Provider:
    """Answers with `model(messages)`, which gets the messages of a request in the order of their places."""

    def __init__(self, model, window=10**9):
        self.model, self.window = model, window
        self.requests, self.refused, self.signed = [], [], {}
        self.calls = 0

    def answer(self, name, body):
        """(status, headers, the answer) to a request."""
        said = self.model(body["messages"])
        if said.waits is not None:
            said.waits.wait(20)
        if said.status != 200:
            return said, error(name, said.status, "made up")
        wrong = self.faults(name, body)
        self.requests.append(body)
        if wrong:
            self.refused.append(wrong)
            return Says(status=400), error(name, 400, "; ".join(wrong))
        return said, (self.openai if name == OPENAI else self.anthropic)(said, body)

    def faults(self, name, body):
        """What the provider would refuse."""
        messages = body["messages"]
        found = faults(messages, name, body.get("system"))
        waits = set(call_ids(messages[-1])) if messages[-1]["role"] == "assistant" else set()
        found += [f"calls without results at the end: {waits}"] if waits else []
        found += ["a private field"] if "\0" in json.dumps(body) or "\\u0000" in json.dumps(body) else []
        names = [each.get("name") or each["function"]["name"] for each in body.get("tools", ())]
        found += ["one tool twice"] if len(set(names)) != len(names) else []
        found += ["calls, but no tools"] if any(map(call_ids, messages)) and not names else []
        marks = json.dumps(body).count('"cache_control"')
        found += [f"{marks} cache marks"] if marks > 4 else []
        asked = [each for message in messages for each in call_ids(message)]
        found += ["an id of a call twice"] if len(set(asked)) != len(asked) else []
        for message in messages if name == ANTHROPIC else ():
            blocks = message["content"] if isinstance(message["content"], list) else []
            for block in blocks:
                if block["type"] == "thinking":
                    was = self.signed.get(block["signature"])
                    now = [{k: v for k, v in each.items() if k != "cache_control"} for each in blocks]
                    found += ["a signed message that was changed"] if was != now else []
        if self.size(body) > self.window:
            found.append(f"{self.size(body)} tokens, more than {self.window}")
        return found

    def size(self, body):
        seen = {key: body.get(key) for key in ("system", "tools", "messages")}
        return len(json.dumps(seen, ensure_ascii=False)) // 4

    def name(self):
        self.calls += 1
        return f"{self.calls:06}"

    def openai(self, said, body):
        calls = [
            {
                "id": f"call_{self.name()}",
                "type": "function",
                "function": {"name": tool, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for tool, given in said.calls
        ]
        message = {"role": "assistant", "content": "".join(said.texts) or None, "refusal": said.refusal or None}
        message |= {"annotations": []} | ({"tool_calls": calls} if calls else {})
        size = self.size(body)
        cached = size // 2
        usage = {
            "prompt_tokens": size,
            "completion_tokens": 7,
            "total_tokens": size + 7,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        stop = said.stop or ("tool_calls" if calls else "stop")
        choice = {"index": 0, "message": message, "finish_reason": stop, "logprobs": None}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [choice],
            "usage": usage,
        }

    def anthropic(self, said, body):
        content = []
        if said.thinks:
            content.append({"type": "thinking", "thinking": "hm " * 20, "signature": f"SIG{self.name()}"})
        content += [{"type": "text", "text": text} for text in said.texts]
        content += [
            {"type": "tool_use", "id": f"toolu_{self.name()}", "name": tool, "input": given}
            for tool, given in said.calls
        ]
        if said.thinks:
            self.signed[content[0]["signature"]] = content
        size = self.size(body)
        usage = {
            "input_tokens": size - size // 2,
            "output_tokens": 7,
            "cache_read_input_tokens": size // 4,
            "cache_creation_input_tokens": size // 2 - size // 4,
        }
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": said.stop or ("tool_use" if said.calls else "end_turn"),
            "stop_sequence": None,
            "usage": usage,
        }


def error(name, status, text):
    if name == OPENAI:
        return {"error": {"message": text, "type": "invalid_request_error", "code": None, "param": None}}
    kind = {429: "rate_limit_error", 500: "api_error"}.get(status, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": text}}


# streams


def openai_events(answer, wants_usage):
    (choice,) = answer["choices"]
    message, head = choice["message"], {key: answer[key] for key in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"

    def chunk(delta, finish=None):
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield "", chunk({"role": "assistant", "content": ""})
    text = message["content"] or ""
    yield from (("", chunk({"content": text[at : at + 3]})) for at in range(0, len(text), 3))
    if message["refusal"]:
        yield "", chunk({"refusal": message["refusal"]})
    for place, call in enumerate(message.get("tool_calls", ())):
        asked = call["function"]
        first = {"index": place, "id": call["id"], "type": "function"}
        yield "", chunk({"tool_calls": [first | {"function": {"name": asked["name"], "arguments": ""}}]})
        for at in range(0, len(asked["arguments"]), 5):
            part = {"index": place, "function": {"arguments": asked["arguments"][at : at + 5]}}
            yield "", chunk({"tool_calls": [part]})
    yield "", chunk({}, choice["finish_reason"])
    if wants_usage:
        yield "", head | {"choices": [], "usage": answer["usage"]}


def anthropic_events(answer):
    begun = answer | {"content": [], "stop_reason": None, "usage": answer["usage"] | {"output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": begun}
    for place, block in enumerate(answer["content"]):
        kind = block["type"]
        empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}[kind]
        yield (
            "content_block_start",
            {"type": "content_block_start", "index": place, "content_block": {**block, **empty}},
        )
        text = json.dumps(block["input"]) if kind == "tool_use" else block[kind]
        field_name = "partial_json" if kind == "tool_use" else kind
        name = {"text": "text_delta", "thinking": "thinking_delta", "tool_use": "input_json_delta"}[kind]
        deltas = [{"type": name, field_name: text[at : at + 9]} for at in range(0, len(text), 9)]
        deltas += [{"type": "signature_delta", "signature": block["signature"]}] if kind == "thinking" else []
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": place, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": place}
    stop = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 7}}
    yield "message_stop", {"type": "message_stop"}


def handler(provider):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name = PATHS[self.path.partition("?")[0]]
            said, answer = provider.answer(name, body)
            try:
                self.send(name, body, said, answer)
            except OSError:  # the client went away
                self.close_connection = True

        def send(self, name, body, said, answer):
            self.send_response(said.status)
            for key, value in said.headers.items():
                self.send_header(key, value)
            if said.status != 200 or not body.get("stream"):
                data = json.dumps(answer).encode()
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                return
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            wants = (body.get("stream_options") or {}).get("include_usage")
            events = list(openai_events(answer, wants) if name == OPENAI else anthropic_events(answer))
            for kind, event in events[: len(events) // 2] if said.breaks else events:
                self.wfile.write(f"event: {kind}\n".encode() * bool(kind) + f"data: {json.dumps(event)}\n\n".encode())
            if name == OPENAI and not said.breaks:
                self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_):
            pass

    return Handler


@contextmanager
def serving(provider):
    """The address of a server for a provider."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(provider))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
