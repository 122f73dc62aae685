"""The shape of the code: imports point down, third parties stay where they belong, files stay small."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import context_gc

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "context_gc"

#: from the ground up: a module imports from layers below its own, a package also from within itself
LAYERS = (
    ("errors", "canonical", "parse", "tokens", "runs", "findings", "groups", "verdicts", "passes", "credentials"),
    ("events", "windows", "context_bus", "context_dict", "atomic", "sensitive", "terminal", "collector", "recovered"),
    ("semantics", "decision", "budget", "units", "turns"),
    ("policy", "outcomes"),
    ("graph", "protection", "mutations", "render", "shown", "warnings"),
    ("walks", "meter", "guard", "clipping", "mentions", "summary", "facts"),
    ("stages", "receipts"),
    ("engine", "receipt_store"),
    ("eviction", "context"),
    ("ledger",),
    ("prompt",),
    ("compaction",),
    ("explain", "edits", "plan"),
    ("budgeted", "trace"),
    ("importers", "context_pack"),
    ("load", "reading"),
    ("session", "follow", "messages"),
    ("saved", "run_log"),
    ("compactor", "timeline", "replay"),
    ("conversation",),
    ("compact_messages", "fleet"),
    ("middleware", "benchmark", "inspector", "exporters", "mcp_server", "hook"),
    ("terminal_report",),
    ("cli_runs", "cli_convert", "cli_replay"),
    ("cli_fleet", "cli_agents"),
    ("cli",),
)
#: the parts of `importers` that formats share, from the ground up; they know no format
SHARED = ("files", "dialects", "recording", "model_calls", "provider_messages")
LAYER_OF = {name: height for height, names in enumerate(LAYERS) for name in names}

SCREEN = frozenset({"streamlit", "pyvis", "pandas", "networkx"})
THIRD_PARTIES = {
    "inspector": SCREEN,
    "app": SCREEN,
    "pages": SCREEN,
    "graph": frozenset({"networkx"}),
    "middleware": frozenset({"anthropic", "openai"}),
    "replay": frozenset({"genai_prices"}),
    "mcp_server": frozenset({"anyio", "mcp", "uvicorn"}),
    "cli_agents": frozenset({"rich"}),
    "fleet": frozenset({"dask", "distributed", "pyarrow"}),
    "importers": frozenset({"backports", "compression"}),  # the latter is Python's own from 3.14 on
}
#: import theirs inside a function, so that the core needs nothing but Python
LAZY = {"graph", "middleware", "replay", "importers", "fleet", "mcp_server", "cli_agents"}

SOURCES = [*sorted(PACKAGE.rglob("*.py")), *sorted((ROOT / "pages").glob("*.py")), ROOT / "app.py"]
SOURCES = [path for path in SOURCES if path.is_file()]
every_source = pytest.mark.parametrize("path", SOURCES, ids=[path.relative_to(ROOT).as_posix() for path in SOURCES])


def home(path: Path) -> str:
    """The module or package of the first level that a file belongs to."""
    if path.is_relative_to(PACKAGE):
        return path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """(absolute dotted name, whether it runs when the file is imported) of everything that a file imports."""
    tree = ast.parse(path.read_text("utf-8"))
    later = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    folder = ["context_gc", *path.relative_to(PACKAGE).parts[:-1]] if path.is_relative_to(PACKAGE) else []
    for node in ast.walk(tree):
        at_once = id(node) not in later
        if isinstance(node, ast.Import):
            yield from ((alias.name, at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            base = [*base, *(node.module.split(".") if node.module else [])]
            if len(base) == 1 and base[0] == "context_gc":
                yield from ((f"context_gc.{alias.name}", at_once) for alias in node.names)
            else:
                yield ".".join(base), at_once


@every_source
def test_imports_point_down(path):
    here = home(path)
    if path.is_relative_to(PACKAGE) and here != "__init__":
        assert here in LAYER_OF, f"give {here} a place in LAYERS"
        for name, _ in imports(path):
            first, _, rest = name.partition(".")
            if first == "context_gc":
                there = rest.split(".")[0]
                assert there == here or LAYER_OF[there] < LAYER_OF[here], f"{here} imports {there}"


@pytest.mark.parametrize("package", SHARED)
def test_what_importers_share_imports_down_and_knows_no_format(package):
    below = SHARED[: SHARED.index(package) + 1]
    for path in (PACKAGE / "importers" / package).glob("*.py"):
        for name, _ in imports(path):
            if name.startswith("context_gc.importers"):
                assert name.split(".")[2] in below, f"{path.name} imports {name}"


@every_source
def test_third_parties_stay_where_they_belong(path):
    here = home(path)
    for name, at_once in imports(path):
        first = name.partition(".")[0]
        if first not in sys.stdlib_module_names and first not in ("context_gc", ""):
            assert first in THIRD_PARTIES.get(here, ()), f"{here} imports {first}"
            assert not (at_once and here in LAZY), f"{here} imports {first} at once"


def test_networkx_is_imported_in_to_networkx_alone():
    tree = ast.parse((PACKAGE / "graph.py").read_text("utf-8"))
    places = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(inner, ast.Import) and inner.names[0].name == "networkx" for inner in ast.walk(node))
    }
    assert places == {"to_networkx"}


@pytest.mark.parametrize("module", ["context_gc", "context_gc.cli", "context_gc.benchmark"])
def test_the_library_needs_nothing_but_python(module):
    program = (
        f"import sys, json; sys.path[:0] = [{str(ROOT)!r}]; import {module};"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    done = subprocess.run([sys.executable, "-S", "-I", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout))
    assert loaded - set(sys.stdlib_module_names) <= {"context_gc", "__main__"}


@pytest.mark.parametrize("path", [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))], ids=lambda path: path.name)
def test_no_file_has_more_than_300_lines(path):
    assert len(path.read_text("utf-8").splitlines()) <= 300


def test_all_is_sorted_and_is_what_is_exported():
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    exported = [
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    # constants, classes, functions, each in alphabetical order, as ruff sorts it
    assert sorted(context_gc.__all__) == sorted(exported)
    kinds = [0 if name.isupper() else 1 if name[0].isupper() else 2 for name in context_gc.__all__]
    assert context_gc.__all__ == [name for _, name in sorted(zip(kinds, context_gc.__all__, strict=True))]
    assert all(hasattr(context_gc, name) for name in context_gc.__all__)


def test_every_part_of_the_root_file_is_an_import_or_all():
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    kinds = {type(node) for node in tree.body[1:]}
    assert kinds <= {ast.ImportFrom, ast.Assign}
