"""Settings: what Claude Code needs in its settings.json to call the hook."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..atomic import write_atomically
from ..errors import SessionError

HOOKS = ("PreCompact", "Stop")


def command(store: str | None = None) -> str:
    """The command line that runs the hook with this Python, for a POSIX shell."""
    more = [] if store is None else ["--store", os.path.abspath(os.path.expanduser(store))]
    return shlex.join([sys.executable, "-m", "context_gc.cli", "hook", "run", *more])


def settings(command: str) -> dict[str, Any]:
    """What settings.json needs: before a compaction, and in the background after each answer."""
    told = {"type": "command", "command": command, "timeout": 60}
    return {"hooks": {"PreCompact": [{"hooks": [told]}], "Stop": [{"hooks": [{**told, "async": True}]}]}}


def install(file: Path, command: str) -> bool:
    """Add the hooks to a settings file, made when it is not there; the version before stays beside it.

    Gives False when they are there already. Other settings, and hooks of others, stay as they are.

    Raises:
        SessionError: the file is no JSON object of settings, or cannot be written. It is left as it is.
    """
    target = file.resolve()
    try:
        text = target.read_text("utf-8-sig") if target.exists() else "{}"
        known = json.loads(text or "{}")
    except (OSError, ValueError, RecursionError) as error:
        raise SessionError(str(file), f"it cannot be read as settings: {error}", "mend it first") from None
    hooks = known.get("hooks", {}) if type(known) is dict else None
    if type(hooks) is not dict or not all(type(hooks.get(name, [])) is list for name in HOOKS):
        raise SessionError(str(file), "its hooks are not what Claude Code expects", "mend it first")
    changed = False
    for name, entries in settings(command)["hooks"].items():
        if not _calls(hooks.get(name, []), command):
            hooks[name] = [*hooks.get(name, []), *entries]
            changed = True
    if changed:
        data = json.dumps({**known, "hooks": hooks}, indent=2, ensure_ascii=False) + "\n"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, data.encode("utf-8", "surrogatepass"), _mode(target), keep_previous=True)
        except OSError as error:
            raise SessionError(str(file), f"cannot be written: {error.strerror}", "check the folder") from None
    return changed


def _calls(entries: list[Any], command: str) -> bool:
    """Whether one of a hook's entries runs a command."""
    found = [each for entry in entries if isinstance(entry, Mapping) for each in _list(entry.get("hooks"))]
    return any(isinstance(each, Mapping) and each.get("command") == command for each in found)


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def _mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o600
