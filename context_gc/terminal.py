"""Terminal: untrusted text as text that cannot steer a terminal: no control characters, no hidden direction marks."""

from __future__ import annotations

import re

_HIDDEN = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")


def printable(text: str) -> str:
    """Text on one line: what is not printable is shown as Python would write it, each run of blanks is a space."""
    text = " ".join(text.split())
    return text if text.isprintable() else "".join(each if each.isprintable() else _escaped(each) for each in text)


def printable_json(text: str) -> str:
    """JSON text, equal as JSON: characters that a terminal may take for an order are `\\u` escapes."""
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
