"""What shell commands read, write and may change, by their text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_gc import semantics
from context_gc.semantics import ANYTHING, Build, Command, FileEdit, FileRead, changes, is_snapshot, looks_only

naive = settings(deadline=None, max_examples=300)


def call(tool: str, asked: Any, **more: Any) -> dict[str, Any]:
    return {"id": "c", "type": "tool_call", "timestamp": 1, "tool_name": tool, "arguments": asked, **more}


def fact(tool: str, **asked: Any) -> object:
    return semantics.semantics({"type": "tool_call", "tool_name": tool, "arguments": asked})


@pytest.mark.parametrize(
    "command",
    [
        "cat a", "cat /a /b", "cat /a > /b", "cat /a | head", "cat /*.py", "cat -", "cat", "cat $X", "cat '/a",
        "sed -n '1,2p;5p' /a", "sed -n '0,2p' /a", "head /a", "head 20 /a", "head -n -5 /a",
        "head -c 5 /a", "nl -ba /a | sed -i '1,3p'", "nl -ba /a | sed -n '1,3p' /b", "cat /a; rm /a", "cat /a\nrm /a",
    ],
)  # fmt: skip
def test_any_other_command_is_no_read(command):
    assert fact("Bash", command=command) == Command(command)


@pytest.mark.parametrize(
    ("command", "cwd", "known"),
    [
        ("cat a.py", "/r", FileRead("a.py")),
        ("cd src && cat a.py", "/r", FileRead("src/a.py")),
        ("cd /src; sed -n '3,9p' a.py", "", FileRead("/src/a.py", 3, 7)),
        ("cd /src\nnl -ba a.py | sed -n '3,9p'", "", FileRead("/src/a.py", 3, 7)),
        ("cat -n a.py | head -20 2>/dev/null", "/r", FileRead("a.py", 1, 20)),
        ("sed -n '3,$p' a.py", "/r", FileRead("a.py", 3)),
        ("cat > a.py << 'EOF'\nx = $1\nEOF\n", "/r", FileEdit("a.py", whole=True)),
        ("cd src && cat <<EOF > a.py\nx = 1\nEOF", "/r", FileEdit("src/a.py", whole=True)),
        ("tee a.py <<'EOF'\nx\nEOF", "/r", FileEdit("a.py", whole=True)),
        ("cat >> a.py <<'EOF'\nx\nEOF", "/r", FileEdit("a.py")),
        ("cat > a.py <<EOF\nx = $HOME\nEOF", "/r", FileEdit("a.py")),
        ("tee -a a.py <<'EOF'\nx\nEOF", "/r", FileEdit("a.py")),
        ("sed -i 's/a/b/' a.py", "/r", FileEdit("a.py")),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.py\n@@\nEOF", "/r", FileEdit("a.py")),
        ("apply_patch <<'EOF'\n*** Add File: a.py\n+x\nEOF", "/r", FileEdit("a.py", whole=True)),
    ],
)
def test_what_a_shell_command_did_with_its_one_file(command, cwd, known):
    assert semantics.semantics(call("bash", {"command": command}, cwd=cwd)) == known


@pytest.mark.parametrize(
    "command",
    [
        "cat a.py", "cd src && cat a.py", "cd $X && cat /a.py", "cat /a.py && cat /b.py", "cat /a.py | grep x",
        "cat /a.py | tail -3", "cat < /a.py", "cat /a.py `ls`", 'cat "$(ls)"', "cat /a.py &", "(cat /a.py)",
        "cat > /a.py <<'EOF'\nx\nEOF\npython /a.py", "cat > /a.py <<'EOF'\nx", "cat /b > /a.py",
        "tee /a /b <<'E'\nx\nE",
        "sed -i s/a/b/ /a /b", "if true; then cat /a.py; fi", "tail -5 /a.py", "cat '/a.py", "cat /a.py |",
        "apply_patch <<'E'\n*** Add File: /a\n*** Add File: /b\nE", "sed -n '1,2p' /a | sed -n '1,2p'",
    ],
)  # fmt: skip
def test_a_command_that_does_more_or_that_is_not_understood_is_left_a_command(command):
    assert semantics.semantics(call("bash", {"command": command})) == Command(command)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("ls -la | grep x && git status", set()),
        ("cd src && rg -n foo", set()),
        ("find . -name '*.py' | head", set()),
        ("sed -n '1,5p' a.py", set()),
        ("echo hi 2>/dev/null", set()),
        ("sed -i 's/x/y/' a.py", {"s/x/y/", "a.py"}),
        ("echo hi > a.txt; echo ho >> b.txt", {"a.txt", "b.txt"}),
        ("cat > a.py <<'EOF'\nx\nEOF", {"a.py"}),
        ("cat a | tee b.log", {"b.log"}),
        ("apply_patch <<'E'\n*** Update File: a\n*** Move to: b\n*** Delete File: c\nE", {"a", "b", "c"}),
    ],
)
def test_which_files_a_command_may_change(command, files):
    assert changes(call("bash", {"command": command})) == files
    assert looks_only(command) == (not files)


@pytest.mark.parametrize(
    "command",
    [
        "python x.py", "make", "git checkout a", "git stash", "git reset --hard", "mv a b", "rm a", "cp a b",
        "find . -delete", "find . -exec rm {} ;", "sed 'w out' a", "sort -o a a", "echo $(rm a)",
        "for f in *; do ls; done",
        "echo x > $F", "sed -i s/a/b/ *.py", "git branch new", "npm test", "ls | xargs rm", "cat a > b; ./run",
    ],
)  # fmt: skip
def test_what_is_not_understood_may_have_changed_anything(command):
    assert changes(call("bash", {"command": command})) is ANYTHING
    assert not looks_only(command)


@pytest.mark.parametrize("command", ["git status", "cd /r && git status --short", "ls -la src", "pwd", "git branch"])
def test_commands_that_list_a_state(command):
    assert is_snapshot(command)


@pytest.mark.parametrize(
    "command", ["git diff", "ls > a", "ls && rm a", "git branch new", "cat a", "ls; ls", "git", "echo $(ls)"]
)
def test_other_commands_list_no_state(command):
    assert not is_snapshot(command)


@pytest.mark.parametrize(
    "command", ["npm run check 2>&1", "cd a && npm run lint", "npx tsc --noEmit", "mix credo", "ruff check .", "mypy x"]
)
def test_type_checks_and_linters_are_builds(command):
    assert isinstance(semantics.semantics(call("bash", {"command": command})), Build)


SHELLS = st.lists(
    st.sampled_from(
        ("cat", " ", "/a", "&&", "|", ";", "\n", "'", '"', "\\", "<<E", "E\n", ">", "$(", "`", "2>&1", "#", "(", "x")
    ),
    max_size=14,
).map("".join)


@naive
@given(SHELLS | st.text(max_size=40))
def test_no_command_is_too_odd_to_be_looked_at(command):
    event = call("bash", {"command": command}, cwd="/r")
    assert semantics.semantics(event) == semantics.semantics(event)
    assert changes(event) == changes(event)
    assert changes(call("exec", {"input": "tools." + command})) == changes(call("exec", {"input": "tools." + command}))
