"""A coding agent: it searches, reads, edits and tests; some approaches are given up, some failures repaired."""

from __future__ import annotations

from collections.abc import Callable

from .script import Script

PACKAGES = ("orders", "billing", "catalog", "shipping", "search", "accounts")
GOALS = (
    ("{0}: invoices are made twice when a webhook comes again", "every event is handled once"),
    ("{0}: the nightly export takes four hours", "the export ends within 20 minutes"),
    ("{0}: totals are off by a cent for some currencies", "totals agree with the ledger to the cent"),
    ("{0}: customers see prices of another region", "a price is always of the customer's own region"),
    ("{0}: the importer stops at rows with odd dates", "odd rows are reported, the others are imported"),
    ("{0}: a search for two words finds too much", "all words have to match"),
)
RULES = (
    "Never change a migration that is already on main.",
    "Public functions keep their names until release {0}.",
    "No query may run longer than {0} ms on the replica.",
    "Log no customer's address, not even in debug builds.",
    "Every retry waits at least {0} seconds.",
    "Use the clock of the database, never that of the process.",
)
IDEAS = (
    ("Keep what was handled in the memory of the process.", "production runs {0} workers, and none shares its memory"),
    ("Take a lock in the cache for each key.", "the cache drops a lock after {0} ms, long before a request ends"),
    ("Let a background job clean up later.", "customers get the mail before the job has run, every {0} minutes"),
    ("Round at each step to keep figures small.", "errors add up to {0} cents over one statement"),
    ("Read the whole table once and filter in Python.", "the table has {0} million rows; the worker is killed"),
    ("Patch the vendor's client.", "version {0} of the client comes with the next image and undoes it"),
)
CHOICES = (
    "a unique key in the same transaction, because the database alone sees all workers",
    "one pass with a cursor of {0} rows, because memory stays flat",
    "whole cents up to the last line, because only the sum is rounded",
    "the region from the account, because the request's header may be forged",
    "a report of bad rows next to the file, because the supplier asks for line numbers",
    "the index that is there, because a new one takes {0} minutes to build",
)


def coding(script: Script, size: int) -> None:
    """Tasks one after the other until the session is as long as asked; the last one is left open."""
    script.system("You are a coding agent in the repository shop. Run the tests before every commit. Answer briefly.")
    files = {f"{package}/{script.name()}.py": _module(script) for package in PACKAGES for _ in range(3)}
    budget = max(size // (6 if size > 200 else 2 if size > 50 else 1), 20)
    number = 0
    while len(script.events) + budget * 0.6 < size or not number:
        _task(script, files, number, min(len(script.events) + budget, size))
        number += 1
    _open_end(script, files, number)
    _ask_about_files(script)


def _ask_about_files(script: Script) -> None:
    """A line of each file whose text was seen last in full and not changed since: an agent has to quote it."""
    seen: dict[str, str] = {}
    for call, result in script.calls_with_results():
        path = call["arguments"].get("path")
        if call["tool_name"] == "read_file" and "offset" not in call["arguments"]:
            seen[path] = result["result"]
        elif call["tool_name"] in ("edit_file", "write_file"):
            seen.pop(path, None)
    for path, text in seen.items():
        lines = text.split("\n")
        script.ask("recall", f"Which text stands in the middle of {path}?", "\n".join(lines[len(lines) // 2 :][:2]))


def _task(script: Script, files: dict[str, list[str]], number: int, until: int) -> None:
    package = PACKAGES[number % len(PACKAGES)]
    own = [path for path in files if path.startswith(package)]
    problem, wanted = GOALS[number % len(GOALS)]
    wish = f"{problem.format(package)}. {wanted[0].upper()}{wanted[1:]}."
    script.user(wish)
    script.ask("recall", "What did the person ask for?", wish)
    if number % 2 == 0:
        rule = RULES[number % len(RULES)].format(10 + script.draw(900))
        script.user(rule)
        script.ask("recall", "Which rule was given?", rule)
    steps = [f"Find where {package} goes wrong", f"Fix {own[0]}", f"Tests for {wanted}", "Check the callers", "Commit"]
    script.plan(steps, 0)
    script.var("task.status", f"looking at {package}")
    _search(script, files, package)
    for path in own[: 3 if until - len(script.events) > 30 else 1]:
        _read(script, files, path)
    if number % 2 == 0:
        _dead_end(script, files, own, number, until)
    choice = CHOICES[number % len(CHOICES)].format(100 + script.draw(900))
    script.decides(f"For {package} I choose {choice}.", f"What was chosen for {package}, and why?")
    script.plan(steps, 1)
    script.var("task.status", f"changing {package}")
    script.var(f"{package}.limit", 100 + script.draw(900))
    works: tuple[Callable[[], None], ...] = (
        lambda: _edit(script, files, script.one(own)),
        lambda: _look_again(script, files, own),
        lambda: _edit(script, files, script.one(own)),
        lambda: _tests(script, package, failing=True),
        lambda: _edit(script, files, script.one(own)),
        lambda: _edit(script, files, script.one(own)),
        lambda: _search(script, files, package),
        lambda: _rewrite(script, files, own[0]),
        lambda: _tests(script, package, failing=False),
        lambda: script.var(f"{package}.limit", 100 + script.draw(900)),
        lambda: _build(script),
        lambda: _edit(script, files, f"tests/test_{package}.py"),
        lambda: _tests(script, package, failing=False),
        lambda: script.plan(steps, 2 + (at > len(works))),
        lambda: _repair(script, package) if at > len(works) else _build(script),
    )
    at = 0
    while len(script.events) < until - 6:
        works[at % len(works)]()
        at += 1
    commit = f"{script.draw(16**10):010x}"
    script.add("git_commit", commit_hash=commit, message=f"{package}: {wanted}")
    script.ask("recall", f"Which commit holds the change to {package}?", f"COMMIT {commit[:8]}: {package}: {wanted}")
    script.var("task.status", f"{package} done")


def _dead_end(script: Script, files: dict[str, list[str]], own: list[str], number: int, until: int) -> None:
    idea, reason = IDEAS[number % len(IDEAS)]
    with script.branch(f"Approach: {idea}", reason.format(2 + script.draw(90))):
        _edit(script, files, own[-1], kept=False)
        if until - len(script.events) > 30:
            _read(script, files, own[-1])
            _edit(script, files, own[0], kept=False)
            _read(script, files, script.one([path for path in files if path not in own]))
            log = _log(script, 12)
            script.call("bash", log, command=f"git log --oneline -12 -- {own[-1]}")
            script.ask("aside", f"What did the log of {own[-1]} begin with?", log.split("\n")[0])
        script.tests(*_outcome(script, own[0].split("/")[0], True))


def _open_end(script: Script, files: dict[str, list[str]], number: int) -> None:
    package = PACKAGES[number % len(PACKAGES)]
    follow_up = f"And {package}: one shop reports that order {100_000 + script.draw(900_000)} was shipped twice."
    script.user(follow_up)
    script.ask("recall", "Which order is the newest report about?", follow_up)
    script.plan([f"Reproduce the report for {package}", "Find the second caller", "Fix it", "Tell the shop"], 1)
    _tests(script, package, failing=True)
    error = f"{package}/signals.py line {20 + script.draw(300)} sends {script.name()} outside of the transaction"
    script.add("error", message=error)
    script.ask("continuation", "Which error is not resolved?", f"ERROR: {error}")
    script.var("task.status", f"looking for the second caller in {package}")
    query = script.name()
    script.add("tool_call", tool_name="grep", arguments={"pattern": query, "path": package})
    script.ask("continuation", "Which call has no result yet?", f'CALL grep({{"pattern": "{query}"')


# what an agent does


def _read(script: Script, files: dict[str, list[str]], path: str) -> None:
    script.file("read_file", path, "\n".join(f"{at:5}\t{text}" for at, text in enumerate(files[path], 1)))


def _look_again(script: Script, files: dict[str, list[str]], own: list[str]) -> None:
    """After edits most agents read again; part of the time only a range, or a file that nobody changed."""
    path = script.one(own)
    if script.draw(3) == 0:
        start = script.draw(max(len(files[path]) - 40, 1)) + 1
        text = "\n".join(f"{at:5}\t{files[path][at - 1]}" for at in range(start, min(start + 40, len(files[path]) + 1)))
        script.file("read_file", path, text, offset=start, limit=40)
    else:
        _read(script, files, path)


def _edit(script: Script, files: dict[str, list[str]], path: str, kept: bool = True) -> None:
    lines = files.setdefault(path, _module(script))
    size = 3 + script.draw(6)
    at = script.draw(max(len(lines) - size, 1))
    old = "\n".join(lines[at : at + size])
    added = [
        f"    if {script.name()} is None:\n        return {script.name()}({script.draw(100)})" for _ in range(size)
    ]
    new = "\n".join([old, *added[: 1 + script.draw(size)]])
    if script.draw(3):
        script.says(f"{script.name()} can be None here, so {script.words(14)}; I guard it in {path}.")
    if script.draw(20) == 0:
        script.file("edit_file", path, "Error: old_text was not found in the file", failed=True, old_text=old[1:])
    script.file("edit_file", path, f"Edited {path}", old_text=old, new_text=new)
    if kept:
        lines[at : at + size] = new.split("\n")


def _rewrite(script: Script, files: dict[str, list[str]], path: str) -> None:
    files[path] = _module(script)
    script.says(f"{path} has grown crooked; I write it anew.")
    script.file("write_file", path, f"Wrote {path}", content="\n".join(files[path]))


def _search(script: Script, files: dict[str, list[str]], package: str) -> None:
    word = script.name() if script.draw(3) else script.one(("transaction", "on_event", "round_total"))
    found = [
        f"{path}:{at}:{text}"
        for path, lines in files.items()
        for at, text in enumerate(lines, 1)
        if at % 37 == len(word) and (path.startswith(package) or at % 2)
    ]
    script.call("grep", "\n".join(found[:40]), pattern=word, path=package)


def _tests(script: Script, package: str, failing: bool) -> None:
    script.tests(*_outcome(script, package, failing))


def _outcome(script: Script, package: str, failing: bool) -> tuple[str, str, str, bool]:
    count, took = 12 + script.draw(80), f"{script.draw(900) / 100 + 1:.2f}"
    chosen = f" -k {script.name()}" if script.draw(3) else ""
    command = f"python -m pytest tests/test_{package}.py -q{chosen}"
    lines = [f"tests/test_{package}.py::test_{script.name()} PASSED" for _ in range(6 + script.draw(16))]
    outcome = f"{count} passed in {took}s"
    if failing:
        wrong = f"test_{script.name()}"
        lines += [
            f"____ {wrong} ____", f"    def {wrong}(client, order):", f"        body = {script.name()}(order)",
            f">       assert total(body) == {script.draw(900)}",
            f"E       assert {script.draw(900)} == {script.draw(900)}",
            f"tests/test_{package}.py:{20 + script.draw(200)}: AssertionError",
        ]  # fmt: skip
        outcome = f"1 failed, {outcome}"
    return command, "\n".join([*lines, outcome]), outcome, failing


def _repair(script: Script, package: str) -> None:
    """A command that fails the same way again and again, until the environment is right."""
    command = f"make fixtures-{package}"
    error = f"psql: error: connection to server on port 5432 failed: fixtures of {package} cannot be loaded"
    for _ in range(1 + script.draw(3)):
        script.call("bash", error, failed=True, command=command)
    script.call("bash", "docker start shop-db\nshop-db", command="docker start shop-db")
    script.call("bash", f"loaded {1_000 + script.draw(9_000)} rows", command=command)


def _build(script: Script) -> None:
    lines = [
        f"[{at:4}/1200] compiled {script.one(PACKAGES)}/{script.name()}.py -> build/{script.name()}.pyc"
        f"{' (warning: unused ' + script.name() + ')' if at % 9 == 0 else ''}"
        for at in range(1, 40 + script.draw(120))
    ]
    script.call("bash", "\n".join([*lines, "build finished"]), command="make build")


def _log(script: Script, count: int) -> str:
    return "\n".join(f"{script.draw(16**7):07x} {script.one(PACKAGES)}: {script.words(6)}" for _ in range(count))


def _module(script: Script) -> list[str]:
    """A Python file of 40 to 250 lines."""
    lines = ['"""' + script.words(7).capitalize() + '."""', "", "from __future__ import annotations", ""]
    lines += [f"from {script.one(PACKAGES)}.{script.one(PACKAGES)} import {script.name()}" for _ in range(4)]
    for _ in range(4 + script.draw(20)):
        lines += ["", "", f"def {script.name()}({script.name()}: int, {script.name()}: str) -> int:"]
        lines += [f'    """{script.words(9).capitalize()}."""']
        lines += [f"    {script.name()} = {script.name()}({script.name()}, {script.draw(1000)})" for _ in range(2)]
        lines += [f"    for {script.name()} in {script.name()}:", f"        {script.name()}({script.name()})"]
        lines += [f"    return {script.name()} + {script.draw(100)}"]
    return lines
