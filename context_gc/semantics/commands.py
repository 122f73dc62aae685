"""Commands: what a shell command reads, writes and may change, and whether it tests, builds or commits.

A command is a read only where it does nothing but print one file, or a range of its lines; it is an edit only
where it does nothing but write one file. What is not known to leave files alone may have changed any of them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from .facts import Build, Command, Commit, FileEdit, FileRead, TestRun
from .patches import patched
from .shell import Simple, simple_commands

_LEAD = re.compile(r"\s*(?:cd\s+\S+\s*(?:&&|;)\s*|[A-Z_][A-Z0-9_]*=\S*\s+|timeout\s+\S+\s+|env\s+|sudo\s+|time\s+)*")
_TESTS = re.compile(
    r"(?:python\S*\s+-m\s+)?(?:pytest|unittest|tox|nox)\b|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test"
    r"|(?:npx\s+)?(?:jest|vitest|mocha)\b|cargo\s+(?:\w+\s+)?(?:test|nextest)|go\s+test|mvn\s.*\btest"
    r"|(?:\./)?gradlew?\s.*\btest|make\s+(?:\S+\s+)*test|ctest|rspec|mix\s+test|dotnet\s+test"
    r"|python\S*\s+(?:\./)?(?:tests/)?runtests\.py|python\S*\s+(?:\./)?manage\.py\s+test"
)
_BUILDS = re.compile(
    r"(?:npm|pnpm|yarn|bun)\s+run\s+(?:build|check|lint|typecheck|type-check|compile)\b"
    r"|cargo\s+(?:build|check|clippy)|go\s+(?:build|vet)|make\b|cmake\b|ninja\b|(?:npx\s+)?(?:tsc|tsgo|eslint)\b"
    r"|mvn\s.*\b(?:package|compile|install)|(?:\./)?gradlew?\s.*\b(?:build|assemble)|python\S*\s+-m\s+build"
    r"|dotnet\s+build|mix\s+(?:compile|credo)\b|(?:python\S*\s+-m\s+)?(?:mypy|pyright|flake8|pylint)\b|ruff\s+check\b"
)
_PRINT = re.compile(r"(\d{1,9})(?:,(\d{0,9}))?p")
_COUNT = re.compile(r"(?:-n|--lines=)?(\d{1,9})")
_LOOKS = frozenset(
    "ls cat head tail nl wc grep egrep fgrep rg ag cut uniq tr diff cmp file stat du df pwd echo printf true false"
    " test [ which type whoami id date uname ps tree basename dirname realpath readlink md5sum sha256sum jq column"
    " less more sleep cd sort find sed mkdir chmod free uptime nvidia-smi".split()
)  #: programs that leave the contents of files alone, apart from what `_HARMS` says
_HARMS = {
    "find": re.compile(r"-(?:exec|execdir|ok|okdir|delete|f\w+)"),
    "sed": re.compile(r"-[a-zA-Z]*i.*|--in-place.*|.*[wWe].*"),
    "sort": re.compile(r"-[a-zA-Z]*o.*|--output.*"),
}
_GIT_LOOKS = frozenset("status diff log show blame ls-files rev-parse describe grep shortlog cat-file ls-tree".split())
_SNAPSHOTS = (
    ("git", "status"), ("git", "branch"), ("git", "stash", "list"), ("docker", "ps"), ("kubectl", "get"), ("ls",),
    ("pwd",), ("ps",), ("df",), ("free",), ("uptime",), ("nvidia-smi",),
)  # fmt: skip
_BARE = frozenset((("git", "branch"),))  # changes something as soon as it is told more


def of_command(text: str, exit_code: int | None = None) -> Command:
    """Tests, a build, a commit, or any other command."""
    body = text[_LEAD.match(text).end() :]  # type: ignore[union-attr]  # every part of it is optional
    if _TESTS.match(body):
        return TestRun(text, exit_code)
    if _BUILDS.match(body):
        return Build(text, exit_code)
    if re.match(r"git\s+(?:-\S+\s+)*commit\b", body):
        return Commit(text, exit_code)
    return Command(text, exit_code)


def of_shell(text: str, base: str, known: bool) -> FileRead | FileEdit | None:
    """A read or an edit of one file, where the whole command is nothing else.

    `base` is the folder that the call names, `known`: whether a relative path means something.
    """
    parts = simple_commands(text) if _may_be_one(text) else None
    if parts is None:
        return None
    while len(parts) > 1 and parts[0].name == "cd" and parts[1].joined in ("&&", ";"):
        if len(parts[0].words) != 2 or parts[0].vague or parts[0].targets:
            return None
        base, parts = posixpath.join(base, parts[0].words[1]), parts[1:]
    if any(each.joined != "|" for each in parts[1:]):
        return None
    fact = _read(parts) if not any(_writes(each) for each in parts) else _written(parts)
    if fact is None or not (known or posixpath.join(base, fact.path).startswith(("/", "~"))):
        return None
    path = posixpath.join(base, fact.path)
    return FileEdit(path, fact.whole) if isinstance(fact, FileEdit) else FileRead(path, fact.offset, fact.limit)


def touched_by(text: str) -> frozenset[str] | None:
    """The files whose contents a command may change, as it spells them; None: any."""
    parts = simple_commands(text)
    if parts is None:
        return None
    found: set[str] = set()
    for each in parts:
        for operator, target, known in each.targets:
            if ">" in operator and target != "/dev/null":
                if not known:
                    return None
                found.add(target)
        if each.name in ("tee", "touch") or (each.name == "sed" and _in_place(each)):
            if each.vague:
                return None
            found.update(word for word in each.words[1:] if not word.startswith("-"))
        elif each.name == "apply_patch" and (files := patched("\n".join([*each.words, each.heredoc or ""]))):
            found.update(files)
        elif not _looks(each):
            return None
    return frozenset(found)


def looks_only(text: str) -> bool:
    """Whether all of a command is known to leave the contents of files alone."""
    return touched_by(text) == frozenset()


def runs_last(text: str) -> str:
    """The program whose success is the command's; "" where that is not known."""
    parts = simple_commands(text)
    return "" if parts is None or _looks(parts[-1]) else parts[-1].name


def is_snapshot(text: str) -> bool:
    """Whether a command does nothing but list a state that goes on, such as `git status`."""
    parts = simple_commands(text)
    if parts is None:
        return False
    while len(parts) > 1 and parts[0].name == "cd":
        parts = parts[1:]
    if len(parts) != 1 or _writes(parts[0]):
        return False
    words = tuple(parts[0].words)
    return any(words == each if each in _BARE else words[: len(each)] == each for each in _SNAPSHOTS)


def _may_be_one(text: str) -> bool:
    return re.match(r"\s*(?:cd |cat\b|nl |head |sed |tee |apply_patch\b)", text) is not None


def _writes(each: Simple) -> bool:
    if any(">" in operator and target != "/dev/null" for operator, target, _ in each.targets):
        return True
    return each.name in ("tee", "apply_patch") or (each.name == "sed" and _in_place(each))


def _in_place(each: Simple) -> bool:
    return any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in each.words[1:])


def _read(parts: Sequence[Simple]) -> FileRead | None:
    """`cat f`, `nl f`, `head -n 5 f`, `sed -n 1,5p f`, and the first two through the last two."""
    if not 1 <= len(parts) <= 2 or any(each.vague or each.heredoc is not None for each in parts):
        return None
    if any("<" in operator for each in parts for operator, _, _ in each.targets):
        return None
    words = parts[0].words
    span, path = _span(words[:-1]), words[-1]
    if len(parts) == 2:
        span = _span(parts[1].words) if span == "1,p" and len(parts[1].words) > 1 else None
    lines = _PRINT.fullmatch(span or "")
    if lines is None or lines[1] == "0" or path.startswith("-") or len(words) < 2:
        return None
    if lines[2] == "":
        return FileRead(path) if lines[1] == "1" else FileRead(path, int(lines[1]))
    return FileRead(path, int(lines[1]), max(int(lines[2] or lines[1]) - int(lines[1]), 0) + 1)


def _span(words: Sequence[str]) -> str | None:
    """Which lines a program prints, as `sed` says it."""
    match list(words):
        case ["cat"] | ["cat", "-n"] | ["nl"] | ["nl", "-ba"] | ["nl", "-b", "a"]:
            return "1,p"
        case ["head", "-n", count] if count.isdecimal():
            return f"1,{count}p"
        case ["head", count] if (found := _COUNT.fullmatch(count.removeprefix("-"))) and count.startswith("-"):
            return f"1,{found[1]}p"
        case ["sed", "-n", span]:
            return span.replace(",$p", ",p") if span.endswith(",$p") else span
    return None


def _written(parts: Sequence[Simple]) -> FileEdit | None:
    """`cat > f <<'EOF'`, `tee f <<'EOF'`, `sed -i … f`, and a patch of one file."""
    if len(parts) != 1:
        return None
    each = parts[0]
    if each.name == "apply_patch":
        files = patched("\n".join([*each.words, each.heredoc or ""]))
        return _of_patch(files)
    if each.vague:
        return None
    files_written = [target for target in each.targets if ">" in target[0] and target[1] != "/dev/null"]
    if each.words == ["cat"] and len(files_written) == 1 and each.heredoc is not None:
        operator, path, known = files_written[0]
        return FileEdit(path, operator == ">" and each.literal) if known and operator in (">", ">>") else None
    if each.name == "tee" and each.heredoc is not None and not files_written:
        paths = [word for word in each.words[1:] if not word.startswith("-")]
        return FileEdit(paths[0], each.literal and len(each.words) == 2) if len(paths) == 1 else None
    if each.name == "sed" and not each.targets and len(each.words) == 4 and each.words[1] == "-i":
        return FileEdit(each.words[3])
    return None


def _of_patch(files: dict[str, str]) -> FileEdit | None:
    if len(files) != 1:
        return None
    [(path, what)] = files.items()
    return FileEdit(path, whole=what == "Add File")


def of_patch(text: str) -> FileEdit | None:
    """An edit, where a patch is about one file; whole where it adds it."""
    return _of_patch(patched(text))


def _looks(each: Simple) -> bool:
    if each.vague and 0 in each.vague:
        return False
    if not each.words:
        return True
    if each.name == "git":
        return len(each.words) > 1 and each.words[1] in _GIT_LOOKS
    harm = _HARMS.get(each.name)
    if each.name == "sed" and each.words[1:2] == ["-n"] and len(each.words) > 2:
        return _PRINT.fullmatch(each.words[2].replace("$", "")) is not None
    return each.name in _LOOKS and not (harm and any(harm.fullmatch(word) for word in each.words[1:]))
