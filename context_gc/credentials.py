"""Credentials in text: keys, tokens and passwords, found by their form or by what they are assigned to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain

PLACEHOLDER = "[left out]"  #: what stands where a credential stood

Spans = Iterator[tuple[int, int]]

#: what a text must hold for a pattern to be tried, and the pattern; its last group is what goes.
#: Every pattern looks ahead for a bounded length only, so that a search is linear.
_FORMS: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (tuple(needles.split()), re.compile(pattern))
    for needles, pattern in (
        ("sk- sk_ rk_", r"\b[sr]k[-_](?=[\w-]{0,40}\d)[\w-]{20,}"),
        ("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat-", r"\b(?:gh[pousr]_|github_pat_|glpat-)[\w-]{16,}"),
        ("xox xapp-", r"\bx(?:ox[a-z]|app)-[A-Za-z0-9-]{10,}"),
        ("AKIA ASIA", r"\bA(?:K|S)IA[A-Z0-9]{16}\b"),
        ("AIza", r"\bAIza[\w-]{30,}"),
        ("npm_ pypi- hf_", r"\b(?:npm_|pypi-|hf_)(?=[\w-]{0,40}\d)[\w-]{24,}"),
        ("eyJ", r"(?<!\w)eyJ[\w-]{8,1000}\.[\w-]{8,65536}\.[\w-]{4,}"),
        ("earer", r"\b[Bb]earer[ \t]{1,4}((?=[\w.~+/=-]{0,60}\d)[\w.~+/=-]{16,})"),
        ("://", r"://[^\s/:@\"'<>]{0,100}:([^\s/@\"'<>]{1,200})@"),
    )
)
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")

_HINT = re.compile("key|secret|token|passw|passphrase|credential|authorization|cookie|_pwd")
_QUOTE = r"""(\\{0,3}["'`])?"""
_VALUE = r"""([^\s"'`\\,;&<>(){}\[\]]{0,256})"""
#: the rest of the name, a quote that ends it, a quote that begins the value, the value
_ASSIGNED = re.compile(
    rf"([\w-]{{0,40}}){_QUOTE}\]?[ \t]{{0,4}}(?:=>|:=|[:=])[ \t]{{0,4}}{_QUOTE}(?:(?:Bearer|Basic|Token)[ \t])?{_VALUE}"
)
_FLAG = re.compile(rf"([\w-]{{0,40}})()[ \t]{{1,4}}{_QUOTE}(?!-){_VALUE}")
_REST = re.compile(r"""[^\s"'`\\,;&<>(){}\[\]]*""")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_LONGEST = 4_096  # characters of a quoted value


def without_credentials(text: str, is_sensitive: Callable[[str], bool]) -> str:
    """The text with each credential in it replaced by PLACEHOLDER; itself when there is none.

    Found are the usual forms (provider keys, JWTs, private keys, bearer tokens, passwords in URLs) and what
    is assigned to a name that `is_sensitive`, as in `API_TOKEN=…`, `"password": "…"` or `--secret …`: quoted
    with its name anything, else what has letters and digits. Blind spots: a password in prose, a credential
    that is encoded or cut in two.
    """
    spans = sorted(chain(_formed(text), _private_keys(text), _assigned(text, is_sensitive)))
    parts: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done:
            parts += (text[done:start], PLACEHOLDER)
        done = max(done, end)
    return "".join((*parts, text[done:])) if spans else text


def _formed(text: str) -> Spans:
    for needles, pattern in _FORMS:
        if any(needle in text for needle in needles):
            for found in pattern.finditer(text):
                yield found.span(pattern.groups)


def _private_keys(text: str) -> Spans:
    """From each BEGIN line to its END line, or to the end of a text that was cut."""
    at = 0
    while begin := _PEM.search(text, at):
        end = _PEM_END.search(text, begin.end())
        at = end.end() if end else len(text)
        yield begin.start(), at


def _assigned(text: str, is_sensitive: Callable[[str], bool]) -> Spans:
    lowered = text.replace("\u0130", "I").lower()  # without the one character that gets longer
    at = 0
    while hint := _HINT.search(lowered, at):
        at = hint.end()
        start = _start_of_name(text, hint.start())
        found = _ASSIGNED.match(text, at)
        if found is None and text.startswith("--", start):
            found = _FLAG.match(text, at)
        if found is None:
            continue
        begin, end = found.start(4), found.end(4)
        if found[3]:
            closed = text.find(found[3][-1], begin, begin + _LONGEST)
            end = max(begin + len(text[begin:closed].rstrip("\\")), end) if closed >= 0 else end
        name = text[start : found.end(1)].strip("-.")
        both_quoted = bool(found[2] and found[3]) and name.lower() != "key" and begin < end
        if is_sensitive(name) and (both_quoted or _is_mixed(name, text[begin:end], text[end : end + 1])):
            rest = _REST.match(text, end)
            at = rest.end() if rest else end
            yield begin, at


def _start_of_name(text: str, at: int) -> int:
    least = max(at - 60, 0)
    while at > least and (text[at - 1].isalnum() or text[at - 1] in "_.-"):
        at -= 1
    return at


def _is_mixed(name: str, value: str, after: str) -> bool:
    """Whether a value has both letters and digits, as credentials have and words, numbers and calls have not."""
    least = 24 if name.lower() == "key" else 8
    if len(value) < least or after in ("(", "["):
        return False
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None
