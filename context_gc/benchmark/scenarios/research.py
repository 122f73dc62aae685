"""A research agent: it searches, reads pages, keeps notes and figures; some sources turn out to be no good."""

from __future__ import annotations

from .script import Script

COUNTRIES = ("Norway", "Portugal", "Chile", "Japan", "Kenya", "Canada")
THEMES = (
    "grid batteries", "district heating", "rail freight", "offshore wind", "heat pumps", "desalination",
)  # fmt: skip
SITES = ("stat-office.example", "energy-review.example", "journal.example", "ministry.example", "trade-press.example")
IDEAS = (
    ("Extrapolate the {0} figures from press releases.", "the releases count plans: {1} plants were never built"),
    ("Use the vendor's map of {0} as the list of sites.", "the map shows {1} sites twice, under an old and a new name"),
    ("Convert the {0} table at one fixed rate.", "the rate moved by {1} percent within the period"),
)  # fmt: skip
CHOICES = (
    "the statistics office for {0}, because it alone counts what is in operation",
    "figures for {0} per head, because the countries differ by a factor of {1} in size",
    "the median of the sources on {0}, because {1} of them copy from each other",
)
LIMITS = (
    "Use nothing older than {0}.",
    "Give every figure with its source and its year, {0} at the earliest.",
    "At most {0} words for each country.",
)


def research(script: Script, size: int) -> None:
    """Questions one after the other until the session is as long as asked; the last one is left open."""
    script.system("You are a research assistant. Keep notes in files. Never state a figure without its source.")
    pages: dict[str, str] = {}
    notes: dict[str, list[str]] = {}
    budget = max(size // (6 if size > 200 else 2 if size > 50 else 1), 20)
    number = 0
    while len(script.events) + budget * 0.6 < size or not number:
        _question(script, pages, notes, number, min(len(script.events) + budget, size))
        number += 1
    _open_end(script, number)
    seen = {
        call["arguments"]["url"]: result["result"]
        for call, result in script.calls_with_results()
        if "url" in call["arguments"]
    }
    for url, text in seen.items():
        parts = text.split("\n\n")
        if len(parts) > 1:
            script.ask("recall", f"What does {url} say in its middle?", parts[(len(parts) + 1) // 2])


def _question(script: Script, pages: dict[str, str], notes: dict[str, list[str]], number: int, until: int) -> None:
    theme, country = THEMES[number % len(THEMES)], COUNTRIES[number % len(COUNTRIES)]
    wish = f"How much {theme} does {country} have, how fast does it grow, and what does it cost?"
    script.user(wish)
    script.ask("recall", "What did the person ask?", wish)
    if number % 2 == 0:
        limit = LIMITS[number // 2 % len(LIMITS)].format(2_010 + script.draw(14))
        script.user(limit)
        script.ask("recall", "Which limit was set?", limit)
    steps = [f"Sources on {theme}", f"Capacity in {country}", "Growth", "Cost", f"Write up {country}"]
    key = f"{country.lower()}.{theme.split()[-1]}"
    path = f"notes/{country.lower()}.md"
    script.plan(steps, 0)
    script.var("task.status", f"{theme} in {country}")
    urls = _search(script, f"{theme} {country} capacity statistics")
    for url in urls[: 2 if until - len(script.events) > 30 else 1]:
        _page(script, pages, url, theme, country, key)
    if number % 2 == 0:
        idea, reason = IDEAS[number // 2 % len(IDEAS)]
        told = reason.format(theme, 3 + script.draw(80))
        with script.branch(idea.format(theme), told):
            for url in _search(script, f"{theme} {country} press release")[
                : 2 if until - len(script.events) > 40 else 1
            ]:
                _page(script, pages, url, theme, country, key)
            script.ask("aside", f"What did {url} say first?", pages[url].split("\n\n")[1])
            script.var(f"{key}.capacity", f"{script.draw(900)} MW planned")
    choice = CHOICES[number % len(CHOICES)].format(theme, 2 + script.draw(8))
    script.decides(f"For {country} I take {choice}.", f"Which source was chosen for {country}, and why?")
    script.plan(steps, 1)
    turn = 0
    while len(script.events) < until - 6:
        _step(script, pages, notes, turn, (theme, country, key, path, urls[0]), steps)
        turn += 1
    _write(script, notes, path, f"{theme} in {country}")
    script.var("task.status", f"{country} written up")


def _step(
    script: Script, pages: dict[str, str], notes: dict[str, list[str]], turn: int,
    about: tuple[str, str, str, str, str], steps: list[str],
) -> None:  # fmt: skip
    theme, country, key, path, first = about
    match turn % 10:
        case 0 | 5:
            url = _search(script, f"{theme} {country} {script.words(2)}")[0]
            _page(script, pages, url, theme, country, key)
        case 1:
            _write(script, notes, path, f"{theme} in {country}")
        case 2:
            _unreachable(script, pages, theme, country)
        case 3:
            script.file("read_file", path, "\n".join(notes.get(path, [])))
        case 4:
            _write(script, notes, path, f"{theme} in {country}")
            script.plan(steps, 2 + (turn > 10))
        case 6:
            _note(script, notes, path, f"- {script.words(8)}: {script.draw(9_000)} (source: {script.one(SITES)})")
        case 7:
            _page(script, pages, first, theme, country, key)  # looked up once more
        case 8:
            script.var(f"{key}.cost", f"{100 + script.draw(900)} USD/kW")
            table = f"tables/{country.lower()}.csv"
            rows = [f"{2_000 + at},{script.draw(9_000)},{script.one(SITES)}" for at in range(4 + script.draw(20))]
            script.file("write_file", table, f"Wrote {table}", content="\n".join(["year,value,source", *rows]))
        case _:
            year = 2_000 + script.draw(25)
            found = f"{country}: the figure of {script.one(SITES)} for {year} counts {script.words(3)} twice"
            script.says(found)
            script.ask("recall", f"What is wrong with a source on {country}?", found)


def _open_end(script: Script, number: int) -> None:
    country, theme = COUNTRIES[number % len(COUNTRIES)], THEMES[number % len(THEMES)]
    wish = f"Now {country}: is {theme} there cheaper than {script.draw(900) + 100} USD/kW?"
    script.user(wish)
    script.ask("recall", "What is the newest question?", wish)
    script.plan([f"Prices of {theme} in {country}", "Compare with the others", "Answer in one paragraph"], 0)
    error = f"the price list of {country} names {3 + script.draw(40)} plants that no other source knows"
    script.add("error", message=error)
    script.ask("continuation", "Which contradiction is not resolved?", f"ERROR: {error}")
    script.var("task.status", f"prices of {theme} in {country}")
    query = f"{theme} {country} price list {2_000 + script.draw(25)}"
    script.add("tool_call", tool_name="web_search", arguments={"query": query})
    script.ask("continuation", "Which search has no answer yet?", f'CALL web_search({{"query": "{query}"')


# what an agent does


def _search(script: Script, query: str) -> list[str]:
    if script.draw(2):
        script.says(f"I look for {query}: {script.words(24)}.")
    urls = [f"https://{script.one(SITES)}/{script.name()}/{script.draw(9_000)}" for _ in range(5)]
    found = [f"{at}. {script.words(7).capitalize()}\n   {url}\n   {script.words(22)}" for at, url in enumerate(urls, 1)]
    script.call("web_search", "\n".join(found), query=query)
    return urls


def _page(script: Script, pages: dict[str, str], url: str, theme: str, country: str, key: str) -> None:
    known = url in pages
    if not known:
        parts = [
            f"{script.words(12).capitalize()} in {2_000 + script.draw(25)}: {script.draw(9_000)} MW,"
            f" {script.draw(100)}.{script.draw(10)} percent of {script.words(6)}. {script.words(26).capitalize()}."
            for _ in range(6 + script.draw(30) + (60 if script.draw(6) == 0 and len(pages) > 2 else 0))
        ]
        pages[url] = f"# {theme} in {country}\n\n" + "\n\n".join(parts)
    script.call("web_fetch", pages[url], url=url)
    if not known:
        script.var(f"{key}.capacity", f"{200 + script.draw(9_000)} MW")


def _unreachable(script: Script, pages: dict[str, str], theme: str, country: str) -> None:
    """A page that answers only after some tries."""
    url = f"https://{script.one(SITES)}/{script.name()}/{script.draw(9_000)}"
    for _ in range(1 + script.draw(2)):
        script.call("web_fetch", f"Error: {url} timed out after 30 s", failed=True, url=url)
    pages[url] = f"# {theme} in {country}\n\n" + "\n\n".join(script.words(40).capitalize() + "." for _ in range(12))
    script.call("web_fetch", pages[url], url=url)


def _note(script: Script, notes: dict[str, list[str]], path: str, text: str) -> None:
    lines = notes.setdefault(path, ["# Notes"])
    script.file("edit_file", path, f"Edited {path}", old_text=lines[-1], new_text=f"{lines[-1]}\n{text}")
    lines.append(text)


def _write(script: Script, notes: dict[str, list[str]], path: str, title: str) -> None:
    lines = notes.setdefault(path, [f"# {title}"])
    lines += [f"{script.words(24).capitalize()} ({script.one(SITES)}, {2_000 + script.draw(25)})." for _ in range(4)]
    script.file("write_file", path, f"Wrote {path}", content="\n".join(lines))
