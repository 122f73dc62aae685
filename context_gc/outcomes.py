"""Outcomes: whether what an agent did failed, with which exit code and in which words, and whether two were alike.

Only what a tool says about itself counts: flags, exit codes, the header or the last line that a harness adds.
Text that merely talks about errors is no failure. Blind spots: a harness that says nothing of the kind, and
a program whose own output reads as if a harness spoke.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from .canonical import canonical
from .events import Event
from .semantics import Command, TestRun, runs_last, semantics, tool_kind
from .units import Units

PAYLOAD = ("content", "text", "output", "stdout", "stderr", "diff", "body")  #: what an act may carry of its output
_CODES = ("exit_code", "exitCode", "returncode", "returnCode")
_TOLD = ("result", "is_error", "exit_code", "passed_count", "failed_count", *PAYLOAD)
_EDGE = 500  # characters at either end of a text in which a harness speaks
_SHORT = 600  # characters at most of what a tool says instead of an answer
_HITS = 2_000  # lines at most that are looked at for one sign

_HEADER = re.compile(
    r"\s*(?:Chunk ID: .*\n|Wall time: .*\n)*(?:<returncode>|Exit code:? |Process exited with code )(-?\d{1,10})\b",
    re.IGNORECASE,
)
_OF_HEADER = re.compile(
    r"\s*(?:(?:Chunk ID|Wall time|Original token count|Total output lines|Output):|Exit code\b"
    r"|Process exited with code\b|<(?:returncode|output)>)",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"\W?(?:(?:the )?command.{0,80}? (?:exited|failed|completed|finished|executed) with (?:exit )?code:?"
    r"|exited with exit code|exit code:) (-?\d{1,10})\W{0,2}",
    re.IGNORECASE,
)
_AFTER_IT = re.compile(r"(?:\[.*\]|(?:Signal|Background PIDs|Process Group PGID): .*|</output>)?")
_SAYS_ERROR = re.compile(r"\s*(?:<tool_use_error>|<error>|(?:Error|ERROR)(?: [\w-]+){0,4}: )")
_VOLATILE = re.compile(
    r"^(?:Chunk ID|Wall time): .*$|\"duration_seconds\": ?[\d.]+|\b\d+\.\d+ ?(?:[mµn]?s|secs?|seconds?)\b|\b\d+ ?ms\b"
    r"|\b(?:with )?seed:? \d+|^\s*(?:Start at|Duration) .*$",
    re.MULTILINE,
)
_STAND_IN = re.compile(
    r"unchanged since|has not changed|content cleared|removed to save|lines? omitted|already in your context"
    r"|running in (?:the )?background|running with session id|still running",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"not found|does not exist|no such file|permission denied|not allowed|is a directory|too large|exceeds"
    r"|(?:cannot|could not|failed to) (?:be )?(?:read|open|find|found)",
    re.IGNORECASE,
)
_HARNESS_LINE = re.compile(r"\s*(?:\((?:Open file|Current directory): .*\)|bash-\$)?\s*")
_RAISED = re.compile(r"[\w.]+(?:Error|Exception|Interrupt)(?:: .*)?")
_STOPPED = re.compile(r"make(?:\[\d+\])?: \*\*\* .*(?:Error \d+|Stop\.)")
_TESTS_FAILED = re.compile(r"^(?:FAILED \((?:failures|errors)=|=+ (?:.* )?[1-9]\d* (?:failed|errors?)\b)", re.MULTILINE)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_CUT_SIGNS = ("truncated", "omitted", "clipped", "[Showing lines ", "<persisted-output>")
_CUT = re.compile(
    r"(?:\[|<|…|\.\.\.)[^\n\[\]<>]{0,60}\b(?:truncated|omitted|clipped)\b|^\[Showing lines \d|^<persisted-output>",
    re.MULTILINE,
)
_SIGNS = (
    "rror", "xception", "FAIL", "atal", "panic", "Traceback", "not ok ", "✕", "✗", "✘", "×", ") test ", "E  ",
    "No such file", "ermission denied", "not found", "undefined reference", "npm ERR",
)  # fmt: skip
_ERROR_LINE = re.compile(
    r"^\s*(?:E  +\S|Traceback \(|\*\* \(|not ok |[✕✗✘×] ?\S|\d+\) test |--- FAIL|FAIL|ERROR\b|npm err|npm ERR|fatal\b"
    r"|[\w.:]*(?:Error|Exception)$)"
    r"|\b(?:error|fatal)(?:\[\w+\]| TS\d+)?: \S|(?:Error|Exception): \S"
    r"|\b(?:ERROR|FAILED|panicked at|panic:|undefined reference)(?!\w)"
    r"|: (?:command not found|not found|No such file or directory|[Pp]ermission denied)$"
)


def failed(lead: Event, results: Sequence[Event]) -> bool:
    """Whether a call with these results, or an act that holds its own outcome, is known to have failed.

    A call without results has not. An `error` event has.
    """
    if lead["type"] == "error" or lead.get("is_error") is True or lead.get("passed") is False:
        return True
    if any(type(lead.get(key)) is int and lead[key] != 0 for key in ("exit_code", "failed_count")):
        return True
    return any(_failed(lead, result) for result in results)


def exit_code(lead: Event, results: Sequence[Event]) -> int | None:
    """The exit code of an act or of a call, as far as one is told; of several results the last one's."""
    told = [_code(lead, result) for result in reversed(results)]
    return next((code for code in [_int(lead), *told] if code is not None), None)


def text_of(event: Event) -> str:
    """What a result says, or what an act printed, as far as it is text; images are placeholders.

    The text is taken out of the envelope that some agents put it in: `{"output": …, "metadata": …}`.
    """
    if event["type"] == "tool_result":
        envelope = _envelope(event["result"])
        return _text(event["result"] if envelope is None else envelope)
    return "\n".join(text for key in PAYLOAD if (text := _text(event.get(key))))


def first_error_line(text: str, limit: int = 120) -> str:
    """The first line that tells of an error, else the first that says anything: printable, `limit` characters."""
    start, end = next(error_lines(text), (0, 0))
    line = text[start : min(end, start + 8 * limit)]
    if not line:
        head = text[: 8 * limit]
        line = next((each for each in head.split("\n") if each.strip() and not _OF_HEADER.match(each)), head)
    flat = " ".join("".join(c if c.isprintable() else " " for c in line).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def error_lines(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Where the lines begin and end that tell of an error or a failing test, in order. Linear in the text."""
    end = len(text) if end is None else end
    found: dict[int, int] = {}
    for sign in _SIGNS:
        at = text.find(sign, start, end)
        for _ in range(_HITS):
            if at < 0:
                break
            first, last = text.rfind("\n", start, at) + 1 or start, text.find("\n", at, end)
            found[first] = end if last < 0 else last
            at = text.find(sign, found[first], end)
    for first, last in sorted(found.items()):
        if _ERROR_LINE.search(text[first : min(last, first + _EDGE)].rstrip()):
            yield first, last


def same_outcome(first: Event, second: Event) -> bool:
    """Whether two results (or two acts) tell the same, apart from chunk ids and measured times."""
    return all(_same(first.get(key), second.get(key)) for key in _TOLD)


def is_stand_in(text: str) -> bool:
    """Whether a tool answered with a notice alone: that a file is unchanged, was removed, or that it goes on."""
    short = text.strip()
    if short.startswith("<system-reminder>") and short.endswith("</system-reminder>"):
        return not _REMINDER.sub("", short).strip()
    return len(short) <= _SHORT and _STAND_IN.search(short) is not None


def is_refusal(text: str) -> bool:
    """Whether a text is so short, and so worded, that it may tell why there is nothing to show."""
    return len(text) <= _SHORT and _REFUSAL.search(text) is not None


def is_cut_short(text: str) -> bool:
    """Whether a tool says in a text that it left something out."""
    return any(sign in text for sign in _CUT_SIGNS) and _CUT.search(text) is not None


def answered_by(seq: int, units: Units) -> int | None:
    """The place of the call that the result at `seq` is the first answer to.

    None for another answer to the same call, and for one whose call had not come.
    """
    call = units.lead(seq)
    return call if call != seq and units.results(call)[0] == seq else None


def is_only_answer(seq: int, before: int, units: Units) -> bool:
    """Whether no second answer to the same call had come when the event at `before` came."""
    results = units.results(units.lead(seq))
    return len(results) < 2 or results[1] > before


def _failed(lead: Event, result: Event) -> bool:
    value = result.get("result")
    if result.get("is_error") is True:
        return True
    if type(value) is dict and (value.get("isError") is True or value.get("success") is False):
        return True
    if (_code(lead, result) or 0) != 0:
        return True
    kind = tool_kind(lead["tool_name"]) if lead["type"] == "tool_call" else None
    text = value if type(value) is str else text_of(result)
    if kind == "shell" and _code(lead, result) is None:
        return text.lstrip().startswith("<tool_use_error>") or _ended_badly(lead, text)
    if not _SAYS_ERROR.match(text):
        return False
    return text.lstrip()[:5] == "<tool" or (kind != "shell" and len(text) <= 4 * _SHORT)


def _ended_badly(lead: Event, text: str) -> bool:
    """Whether a command that no exit code is told for ended as only a failure ends.

    With `make` giving up, a traceback, or a count of failed tests at the end, and not after a program that
    only prints what others wrote.
    """
    fact = semantics(lead)
    if not isinstance(fact, Command):
        return False
    tail = text[-4 * _EDGE :]
    if isinstance(fact, TestRun) and _TESTS_FAILED.search(tail):
        return runs_last(fact.text) != ""
    last = next((line for line in reversed(tail.split("\n")) if not _HARNESS_LINE.fullmatch(line)), "").strip()
    raised = _RAISED.fullmatch(last) and "Traceback (most recent call last):" in text
    return bool(raised or _STOPPED.fullmatch(last)) and runs_last(fact.text) != ""


def _code(lead: Event, result: Event) -> int | None:
    told = _int(result)
    if told is not None:
        return told
    if lead["type"] == "tool_call" and tool_kind(lead["tool_name"]) in ("read", "search", "status"):
        return None
    envelope = _envelope(result.get("result"))
    for holder in (envelope, (envelope or {}).get("metadata"), (envelope or {}).get("extra")):
        if type(holder) is dict and (told := _int(holder)) is not None:
            return told
    text = text_of(result)
    header = _HEADER.match(text[:_EDGE])
    if header is not None:
        return int(header[1])
    for line in reversed(text[-_EDGE:].split("\n")):
        if (trailer := _TRAILER.fullmatch(line.strip())) is not None:
            return int(trailer[1])
        if not _AFTER_IT.fullmatch(line.strip()):
            break
    return None


def _int(holder: dict[str, Any]) -> int | None:
    return next((holder[key] for key in _CODES if type(holder.get(key)) is int), None)


def _envelope(value: Any) -> dict[str, Any] | None:
    """What a shell's answer is wrapped in, as a dict or as JSON text: an output beside its exit code."""
    if type(value) is str:
        if value[:1] != "{" or '"output"' not in value or not any(f'"{key}"' in value for key in _CODES):
            return None
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if type(value) is dict else None


def _text(value: Any, depth: int = 3) -> str:
    if type(value) is str or not depth:
        return value if type(value) is str else ""
    if type(value) is list:
        return "\n".join(text for part in value if (text := _text(part, depth - 1)))
    if type(value) is not dict:
        return ""
    if value.get("type") in ("image", "input_image", "image_url"):
        return "[image]"
    found = (_text(value.get(key), depth - 1) for key in (*PAYLOAD, "error", "message"))
    return "\n".join(text for text in found if text)


def _same(first: Any, second: Any) -> bool:
    if first is second:
        return True
    one, other = (value if type(value) is str else canonical(value) for value in (first, second))
    if type(first) is not type(second) or abs(len(one) - len(other)) > _EDGE:
        return False
    return one == other or _VOLATILE.sub("", one) == _VOLATILE.sub("", other)
