"""Steps of ATIF from the events of a trace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ..canonical import readable
from ..events import Event
from ..messages.dialect import block_of, count, kind_of_block
from ..parse import parse
from ..render import line
from ..trace import Trace, Usage, Window

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_IMAGES = frozenset(("image/jpeg", "image/png", "image/gif", "image/webp"))
_THINKING, _TEXT, _CALL, _RESULT = range(4)  # the order that a step holds them in
_NOTICE = ("compact", "summar", "handoff", "hand-off")  # words that a reader may take for a compaction's notice

Step = dict[str, Any]


class Steps:
    """Makes the steps of one trace; `lost` counts what they cannot hold."""

    def __init__(self, lost: dict[str, int]) -> None:
        self._lost = lost
        self._steps: list[Step] = []
        self._rank = -1  # of what the open step holds last; -1: no step of the agent is open
        self._time = 0
        self._message: Any = None
        self._homes: dict[str, Step] = {}  # event id of a call -> its step
        self._totals = [0, 0, 0]

    def of(self, trace: Trace) -> list[Step]:
        """The steps, numbered from 1."""
        usage: dict[str, list[Usage]] = {}
        for report in trace.usage:
            usage.setdefault(report.event_id, []).append(report)
        for number, window in enumerate(trace.windows):
            if number:
                self._boundary(window)
            for event in trace.events[window.start : window.stop]:
                self._add(event)
                for report in usage.get(event["id"], ()):
                    self._used(report)
        return [{"step_id": number, **step} for number, step in enumerate(self._steps, 1)]

    @property
    def metrics(self) -> dict[str, int]:
        """The sums over all steps; {} when nothing was reported."""
        names = ("total_prompt_tokens", "total_completion_tokens", "total_cached_tokens")
        return dict(zip(names, self._totals, strict=True)) if any(self._totals) else {}

    def _boundary(self, window: Window) -> None:
        told: dict[str, Any] = {"type": "compaction", "trigger": window.opened_by, "carried": True}
        told |= {} if window.tokens_before is None else {"tokens_before": window.tokens_before}
        self._rank = -1
        step = {"source": "system", "message": "Context compaction", "extra": {"context_management": told}}
        self._steps.append(step)

    def _add(self, event: Event) -> None:
        kind, tags = event["type"], event.get("tags", ())
        if kind == "abandon":
            count(self._lost, "abandons (their branches stand among the others)")
        elif kind == "tool_call":
            self._call(event)
        elif kind == "tool_result":
            self._result(event)
        elif kind in ("requirement", "constraint"):
            self._say("user" if kind == "requirement" else "system", event)
        elif kind == "decision" and "summary" in tags:
            self._say("user", event)
            self._steps[-1]["is_copied_context"] = True
        elif kind == "decision" and "thinking" in tags:
            self._think(event)
        elif kind == "decision" and "observation" not in tags:
            self._speak(event)
        else:
            if kind != "decision":
                count(self._lost, "native events (their lines stay)")
            self._open("system", event)
            content = event["content"] if kind == "decision" else line(event)
            self._steps[-1]["observation"] = {"results": [{"content": content}]}
            self._rank = -1

    def _say(self, source: str, event: Event) -> None:
        step = self._open(source, event)
        step["message"] = self._content(event)
        if source == "system" and any(word in event["content"][:200].lower() for word in _NOTICE):
            step["extra"] = {"context_management": {"type": "none"}}
        self._rank = -1

    def _think(self, event: Event) -> None:
        step = self._agent(event, _THINKING)
        if "opaque" in event.get("tags", ()) or "signature" in event:
            count(self._lost, "signatures of thinking")
        step["reasoning_content"] = event["content"]

    def _speak(self, event: Event) -> None:
        step, content = self._agent(event, _TEXT), self._content(event)
        before = step["message"]
        if before:
            before = before if type(before) is list else [{"type": "text", "text": before}]
            content = [*before, *(content if type(content) is list else [{"type": "text", "text": content}])]
        step["message"] = content

    def _call(self, event: Event) -> None:
        step, given = self._agent(event, _CALL), event["arguments"]
        extra = _late(event, step)
        if type(given) is str:
            try:
                found = parse(given)
            except ValueError:
                found = None
            given = found if type(found) is dict else given
        if type(given) is not dict:
            given, extra = {"input": given}, {**extra, "wrapped_arguments": True}
        made = {"tool_call_id": event["id"], "function_name": event["tool_name"], "arguments": given}
        step.setdefault("tool_calls", []).append(made | ({"extra": extra} if extra else {}))
        self._homes[event["id"]] = step

    def _result(self, event: Event) -> None:
        call = event["call_id"]
        home = self._homes.get(call)
        if home is None:
            count(self._lost, "links from results to calls that are not there")
            home = self._open("system", event)
        elif home is self._steps[-1]:
            self._rank = _RESULT
        extra = _late(event, home) | {key: event[key] for key in ("is_error", "exit_code") if key in event}
        made: dict[str, Any] = {"source_call_id": call, "content": self._seen(event["result"])}
        if type(event.get("agent_id")) is str:
            made["subagent_trajectory_ref"] = [{"trajectory_id": event["agent_id"]}]
        made |= {"extra": extra} if extra else {}
        home.setdefault("observation", {"results": []})["results"].append(made)

    def _used(self, report: Usage) -> None:
        step = self._steps[-1] if self._steps else {}
        if step.get("source") != "agent" or "metrics" in step:
            count(self._lost, "usage reports")
            return
        prompt = report.input_tokens + report.cache_read + report.cache_write
        step["metrics"] = {"prompt_tokens": prompt, "completion_tokens": report.output_tokens}
        step["metrics"]["cached_tokens"] = report.cache_read
        if report.cache_write:
            step["metrics"]["extra"] = {"cache_creation_input_tokens": report.cache_write}
        for place, tokens in enumerate((prompt, report.output_tokens, report.cache_read)):
            self._totals[place] += tokens
        self._rank = max(self._rank, _CALL)  # what comes now may only be results: the model call has ended
        self._message = None

    # steps

    def _agent(self, event: Event, rank: int) -> Step:
        """The open step of the agent where it can take this, else a new one."""
        same = event.get("message_id") == self._message
        fits = rank > self._rank or (rank == self._rank and rank != _THINKING)
        timely = rank == _CALL or event["timestamp"] == self._time
        copied = bool(self._steps) and ("is_copied_context" in self._steps[-1]) == ("repeats" in event)
        ended = bool(self._steps) and "metrics" in self._steps[-1]
        if self._rank < 0 or not (same and fits and timely and copied) or ended:
            self._open("agent", event)
            self._message = event.get("message_id")
        self._rank = rank
        return self._steps[-1]

    def _open(self, source: str, event: Event) -> Step:
        step: Step = {"source": source, "message": ""}
        self._time = event["timestamp"]
        if (time := _iso(event["timestamp"])) is not None:
            step["timestamp"] = time
        elif event["timestamp"]:
            count(self._lost, "times after the year 9999")
        if "repeats" in event:
            step["is_copied_context"] = True
        self._steps.append(step)
        return step

    # contents

    def _content(self, event: Event) -> Any:
        part = self._part(event.get("block")) if "block" in event else None
        if "block" in event and (part is None or part["type"] == "text"):
            count(self._lost, "images, files and opaque blocks (their placeholders stay)")
        return event["content"] if part is None or part["type"] == "text" else [part]

    def _seen(self, result: Any) -> Any:
        if type(result) is str:
            return result
        if type(result) is not list or not result or not all(map(kind_of_block, result)):
            count(self._lost, "structured results (their JSON stays)")
            return readable(result)
        return [self._part(block) or {"type": "text", "text": readable(block)} for block in result]

    def _part(self, block: Any) -> dict[str, Any] | None:
        """A block as ATIF knows it: text, or an image with the address or the data of it; None for others."""
        held, kind = block_of(block), kind_of_block(block)
        if type(held.get("text")) is str and "image" not in kind:
            return {"type": "text", "text": held["text"]}
        source, url = block_of(held.get("source")), held.get("image_url")
        url = url if type(url) is str else block_of(url).get("url")
        media, address = source.get("media_type"), source.get("path") or source.get("url") or url
        if type(source.get("data")) is str:
            address = f"data:{media};base64,{source['data']}"
        if type(address) is str and address.startswith("data:"):
            media = media or address[5:].partition(";")[0]
        if "image" not in kind or type(address) is not str or media not in _IMAGES:
            return None
        return {"type": "image", "source": {"media_type": media, "path": address}}


def _late(event: Event, step: Step) -> dict[str, Any]:
    """The time of an event where it is not its step's."""
    time = _iso(event["timestamp"])
    return {} if time is None or time == step.get("timestamp") else {"timestamp": time}


def _iso(time: int) -> str | None:
    """Milliseconds as ISO 8601 text in UTC; None for 0, which stands for no time, and for what has no date."""
    try:
        moment = _EPOCH + timedelta(milliseconds=time)
    except OverflowError:
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z") if time else None
