"""Every file of the corpus against `corpus_table.txt`: who claims it, what it gives, and that no record is lost."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from importer_checks import CORPUS, claimants, needs_corpus, own, paired
from raw_counts import COUNTS, of_folder
from raw_json import Raw

from context_gc import load_traces
from context_gc.errors import ContextGCError
from context_gc.importers.files.decode import decode
from context_gc.turns import model_calls

pytestmark = needs_corpus

TABLE = Path(__file__).with_name("corpus_table.txt")
COLUMNS = "traces model tools paired given_up windows problems records read ignored reported".split()
_BUT = re.compile(r"by hand, but ([^:]+): .+")
_NAMES = {"records": "records", "model calls": "model_calls", "tool calls": "tool_calls", "results": "results"}
_NAMES |= {"boundaries": "boundaries"}


@dataclass
class Row:
    """A line of the table. `told` holds its numbers, or what the error says; `kinds` what was ignored."""

    path: str
    claim: str
    told: list[int] | str
    checked: str = ""
    kinds: dict[str, int] = field(default_factory=dict)

    @property
    def differs(self) -> dict[str, int]:
        """The numbers in which a count by hand is another, for the reason that the table gives."""
        found = _BUT.fullmatch(self.checked)
        pairs = re.findall(r"(\d+) ([a-z ]+?)(?:, |$)", found[1]) if found else []
        return {_NAMES[name]: int(number) for number, name in pairs}


def table():
    rows = []
    for line in TABLE.read_text("utf-8").splitlines():
        if line.startswith("    ignored: "):
            rows[-1].kinds = {
                kind: int(number) for number, kind in re.findall(r"(\d+) (.+?)(?:, |$)", line.partition(": ")[2])
            }
        elif line and not line.startswith(("#", "path")):
            path, claim, *rest = line.split(maxsplit=2 + len(COLUMNS))
            if rest[0].isdecimal():
                numbers, checked = rest[: len(COLUMNS)], " ".join(rest[len(COLUMNS) :])
                rows.append(Row(path, claim, list(map(int, numbers)), checked))
            else:
                rows.append(Row(path, claim, line.split(maxsplit=2)[2]))
    return rows


ROWS = table()
every_row = pytest.mark.parametrize("row", ROWS, ids=[row.path for row in ROWS])
every_trace = pytest.mark.parametrize(
    "row", [row for row in ROWS if type(row.told) is list], ids=[row.path for row in ROWS if type(row.told) is list]
)


def paths(row):
    """What a row stands for: one file or folder, or several files of which all of it is true."""
    found = sorted(CORPUS.glob(row.path)) if "*" in row.path else [CORPUS / row.path]
    assert found
    return found


@cache
def traces(path):
    return load_traces(path)


def numbers(found):
    """The columns of the table, and what was ignored by kind."""
    ignored = Counter()
    for trace in found:
        ignored.update(trace.ignored)
    read, left = sum(trace.records_read for trace in found), sum(ignored.values())
    reported = sum(problem.records for trace in found for problem in trace.problems)
    told = [
        len(found),
        sum(model_calls(trace.events) for trace in found),
        sum(event["type"] == "tool_call" for trace in found for event in own(trace)),
        sum(map(paired, found)),
        sum(event["type"] == "abandon" for trace in found for event in own(trace)),
        sum(len(trace.windows) - 1 for trace in found),
        sum(len(trace.problems) for trace in found),
        *(read + left + reported, read, left, reported),
    ]
    return told, dict(ignored)


def counted(path, importer):
    """The same by `raw_counts`."""
    if path.is_dir():
        return of_folder(path, importer)
    data = path.read_bytes()
    return COUNTS[importer](gzip.decompress(data) if path.suffix == ".gz" else data)


def test_every_file_stands_in_the_table_once():
    listed = Counter(path for row in ROWS for path in paths(row))
    files = {path for path in CORPUS.rglob("*") if path.is_file() and path.parent != CORPUS}
    assert {path: count for path, count in listed.items() if count > 1} == {}
    assert {path for path in listed if path.is_file()} == files


@every_row
def test_one_importer_claims_a_file_or_it_is_the_error_that_the_table_names(row):
    for path in paths(row):
        if type(row.told) is str:
            with pytest.raises(ContextGCError, match=re.escape(row.told)) as raised:
                load_traces(path)
            assert type(raised.value).__name__ == row.claim
        elif path.is_dir():
            assert {trace.format for trace in traces(path)} == {row.claim}
        else:
            assert claimants(decode(path.read_bytes(), path.name).head) == {row.claim}


@every_trace
def test_a_file_gives_what_the_table_says(row):
    for path in paths(row):
        told, kinds = numbers(traces(path))
        assert dict(zip(COLUMNS, told, strict=True)) == dict(zip(COLUMNS, row.told, strict=True))
        assert kinds == row.kinds


@every_trace
def test_what_the_table_says_is_what_the_raw_file_holds(row):
    """Every record is read, ignored by kind or reported; where the rest differs the table gives the reason."""
    assert row.checked.startswith("by hand")
    for path in paths(row):
        told = dict(zip(COLUMNS, row.told, strict=True))
        ours = Raw(*(told[key] for key in ("records", "model", "tools", "paired", "windows")))
        raw = counted(path, row.claim)
        assert {key: getattr(raw, key) for key in Raw._fields} == ours._asdict() | row.differs
        assert all(getattr(raw, key) != getattr(ours, key) for key in row.differs)
