"""Windows: the context window of a model by its name, for those that are known; never a silent default."""

from __future__ import annotations

import re

from .errors import InvalidPolicy

#: when these figures were taken from the providers' published lists
AS_OF = "2026-11"

_MILLION = re.compile(r"\[1m\]$")
#: name pattern -> window in tokens; the first that matches counts
_WINDOWS: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern), tokens)
    for pattern, tokens in (
        (r"claude-(fable|mythos)", 1_000_000),
        (r"claude-(opus|sonnet)-(4[-.][6-9](?!\d)|[5-9])|claude-haiku-5", 1_000_000),
        (r"claude-(instant|1|v1)", 100_000),
        (r"claude", 200_000),
        (r"gpt-4\.1", 1_000_000),
        (r"gpt-4o|gpt-4-turbo", 128_000),
        (r"gpt-5(\.[0-3])?(-codex|-mini|-nano|-pro|$|-20)|gpt-5\.4-(mini|nano)", 400_000),
        (r"gpt-5\.[4-9]|gpt-6", 1_000_000),
        (r"gpt-oss", 131_072),
        (r"(^|/)o1-(mini|preview)", 128_000),
        (r"(^|/)o[134](-|$)", 200_000),
        (r"gemini-(2\.[05]|3|3\.\d|4)-(pro|flash|argon)", 1_000_000),
        (r"deepseek-v4|deepseek-flash", 1_000_000),
        (r"deepseek-v3", 128_000),
        (r"kimi-k2-0711", 131_072),
        (r"kimi-k2", 262_144),
        (r"kimi-k3", 1_000_000),
    )
)


def window_of(model: str) -> int:
    """The context window of a model, in tokens.

    A name that ends with `[1m]`, as Claude Code writes it, means one million. Raises InvalidPolicy for a model
    that is not known here.
    """
    name = model.lower().strip()
    if _MILLION.search(name):
        return 1_000_000
    for pattern, tokens in _WINDOWS:
        if pattern.search(name):
            return tokens
    raise InvalidPolicy("budget", f"the context window of {model!r} is not known", "give max_tokens")
