"""Logs of Inspect AI in short: messages, events, samples, logs and .eval archives."""

from __future__ import annotations

import io
import json
import zipfile

from importer_checks import accounted, check

from context_gc.importers import inspect_ai
from context_gc.importers.files.decode import decode


def user(words, **more):
    return {"role": "user", "content": words, **more}


def says(words="", *calls, **more):
    """An answer; calls as "id:function"."""
    made = [{"id": call.split(":")[0], "function": call.split(":")[1], "arguments": {"x": 1}} for call in calls]
    return {"role": "assistant", "content": words, **({"tool_calls": made} if made else {}), **more}


def result(call, words="ok", **more):
    return {"role": "tool", "tool_call_id": call, "content": words, "function": "f", **more}


def event(kind, second=0, **more):
    return {"event": kind, "timestamp": f"2026-01-01T00:00:{second:02d}+00:00", "working_start": float(second), **more}


def model(second, prompt, answer, **more):
    choices = [{"message": answer, "stop_reason": "stop"}] if answer else []
    output = {"model": "m", "choices": choices, "usage": {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}}
    return event("model", second, model="p/m", input=prompt, output=output) | more


def tool(second, call, function="f", **more):
    return event("tool", second, type="function", id=call, function=function, arguments={"x": 1}, **more)


def sample(events=(), final=(), number=1, epoch=1, **more):
    return {
        "id": number,
        "epoch": epoch,
        "input": "q",
        "target": "t",
        "messages": list(final),
        "events": list(events),
    } | more


def log(*samples, **more):
    about = {"task": "bench", "run_id": "r", "model": "p/m"}
    return {"version": 2, "status": "success", "eval": about, "samples": list(samples), **more}


def archive(*samples, compression=zipfile.ZIP_DEFLATED, header=True, extra=()):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as zipped:
        head = log() | {"samples": None}
        zipped.writestr("_journal/start.json", json.dumps(head))
        for each in samples:
            zipped.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
        for name, data in extra:
            zipped.writestr(name, data)
        zipped.writestr("summaries.json", "[]")
        if header:
            zipped.writestr("header.json", json.dumps(head))
    return buffer.getvalue()


def read(value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    document = decode(data, "log")
    assert inspect_ai.sniff(document.head)
    traces = inspect_ai.read(document)
    check(traces)
    return traces


def only(*events, final=(), **more):
    """The trace of a log of one sample, all of whose records are accounted for."""
    (trace,) = read(log(sample(events, final, **more)))
    assert accounted([trace]) == len(events) + bool(final)
    return trace
