"""A support agent: it looks up customers, orders and articles, changes what was asked for, and answers."""

from __future__ import annotations

from typing import Any

from ...canonical import readable
from .script import Script

NAMES = ("Ines Prado", "Tom Okafor", "Mia Lindqvist", "Ravi Shah", "Chen Yu", "Nadia Haddad")
PROBLEMS = (
    "the parcel shows as delivered but is not here", "the invoice names the wrong company",
    "the coffee machine leaks since the second day", "the voucher was not taken off",
    "one of three boxes is missing", "the subscription was billed twice",
)  # fmt: skip
STREETS = ("Alder Row", "Canal Street", "Hill Lane", "Market Square", "Old Mill Road", "Station Avenue")
IDEAS = (
    ("Send a replacement from the nearest shop.", "the shop of {0} has none until week {1}"),
    ("Refund through the voucher account.", "vouchers above {1} EUR need a second signature, which {0} refuses"),
    ("Let the carrier search for it.", "the carrier closes searches after {1} days, and {0} has waited longer"),
)
CHOICES = (
    "a refund of {1} EUR to the card, because {0} needs the money back before the trip",
    "a new parcel by courier for {1} EUR, because {0} is at home only until Friday",
    "a corrected invoice, because {0} has to hand it in and {1} EUR of tax depend on it",
)
RULES = (
    "Refunds above {0} EUR need a second signature.",
    "Never tell a customer's address to anybody, not even to the customer: let them say it.",
    "Vouchers end after {0} days and are not renewed.",
)


def support(script: Script, size: int) -> None:
    """Cases one after the other until the session is as long as asked; the last one is left open."""
    script.system("You are a support agent of a shop. Follow the rules. Write to customers in plain words.")
    budget = max(size // (6 if size > 200 else 2 if size > 50 else 1), 20)
    number = 0
    while len(script.events) + budget * 0.6 < size or not number:
        _case(script, number, min(len(script.events) + budget, size))
        number += 1
    _open_end(script, number)
    for call, result in script.calls_with_results():
        if call["tool_name"] == "get_orders" or (call["tool_name"] == "search_kb" and script.draw(2)):
            middle = len(result["result"]) // 2
            script.ask(
                "recall", f"What did {readable(call['arguments'])} find?", result["result"][middle : middle + 60]
            )


def _case(script: Script, number: int, until: int) -> None:
    name, ticket = NAMES[number % len(NAMES)], 4_000 + 10 * number + script.draw(10)
    order = f"ORD-{10_000 + script.draw(90_000)}"
    wish = f"Ticket {ticket}, {name}, {order}: {PROBLEMS[number % len(PROBLEMS)]}."
    script.user(wish)
    script.ask("recall", "What is the case?", wish)
    if number % 2 == 0:
        rule = RULES[number // 2 % len(RULES)].format(20 + script.draw(200))
        script.system(rule)
        script.ask("recall", "Which rule holds?", rule)
    steps = [f"Look up {order}", "Find the article", "Choose with the customer", "Do it", f"Answer ticket {ticket}"]
    record = _order(script, order, name)
    script.plan(steps, 0)
    script.var("ticket.status", f"{ticket}: looking it up")
    script.call("get_order", record, order_id=order)
    article = _article(script)
    script.call("search_kb", article, query=PROBLEMS[number % len(PROBLEMS)])
    if number % 2 == 0:
        idea, reason = IDEAS[number // 2 % len(IDEAS)]
        with script.branch(f"{idea} ({order})", reason.format(name, 20 + script.draw(30))):
            stock = _stock(script)
            script.call("get_stock", stock, sku=record["lines"][0]["sku"])
            script.ask("aside", f"Which shop came first for {order}?", readable(stock["shops"][0]))
            if until - len(script.events) > 30:
                script.call("search_kb", _article(script), query=idea)
                script.call("list_shops", _stock(script), near=record["address"])
                script.call("search_kb", _article(script), query="second signature")
            script.var(f"{order}.remedy", "replacement")
    choice = CHOICES[number % len(CHOICES)].format(name, 20 + script.draw(300))
    script.decides(f"For ticket {ticket} I choose {choice}.", f"What was chosen for ticket {ticket}, and why?")
    script.plan(steps, 2)
    turn = 0
    while len(script.events) < until - 6:
        _step(script, turn, (name, order, str(ticket), article), record, steps)
        turn += 1
    _draft(script, f"drafts/{ticket}.md", name, order)
    script.call("send_reply", {"ticket": ticket, "sent": True, "id": script.draw(10**6)}, ticket=ticket)
    script.var("ticket.status", f"{ticket}: answered")


def _step(
    script: Script, turn: int, about: tuple[str, str, str, str], record: dict[str, Any], steps: list[str]
) -> None:
    name, order, ticket, article = about
    match turn % 9:
        case 0:
            address = f"{1 + script.draw(200)} {script.one(STREETS)}"
            told = f"{name} writes: please send it to {address} instead."
            script.user(told)
            script.ask("recall", f"What did {name} write about the address?", told)
            script.var(f"{order}.address", address)
            record["address"] = address
            script.call("update_order", {"ok": True, "order_id": order}, order_id=order, address=address)
            script.call("get_order", record, order_id=order)
        case 1:
            script.call("search_kb", article if turn < 9 else _article(script), query=f"{order} {script.words(2)}")
            _draft(script, f"drafts/{ticket}.md", name, order)
        case 2:
            for state in ("queued", "in transit")[turn % 2 :]:
                script.call("get_status", {"order_id": order, "state": state, "at": script.draw(10**6)}, order_id=order)
        case 3:
            for _ in range(1 + script.draw(2)):
                script.call("get_customer", "Error: the customer service did not answer (503)", failed=True, name=name)
            script.call("get_customer", _customer(script, name), name=name)
        case 4:
            script.file("read_file", f"drafts/{ticket}.md", _letter(script, name, order))
        case 5:
            script.says(
                f"{name} asks for {script.words(12)}; I look for what we tell in such cases: {script.words(14)}."
            )
            script.call("search_kb", _article(script), query=script.words(3))
            if turn % 2:
                script.plan(steps, 3 + (turn > 9))
        case 6:
            script.call("get_orders", _customer(script, name), customer=name, year=2_010 + script.draw(15))
            script.var(f"{order}.refund", f"{20 + script.draw(300)}.{script.draw(90) + 10} EUR")
        case 7:
            again = f"{order} {name}" if turn % 2 else f"{name} {script.words(2)}"
            script.call("search_kb", article, query=again)  # looked up once more
        case _:
            found = (
                f"{name} bought the same item in week {1 + script.draw(52)} and sent back {1 + script.draw(4)} of it"
            )
            script.says(found)
            script.ask("recall", f"What is known of what {name} bought before?", found)


def _open_end(script: Script, number: int) -> None:
    name, ticket = NAMES[number % len(NAMES)], 4_000 + 10 * number + script.draw(10)
    order = f"ORD-{10_000 + script.draw(90_000)}"
    wish = f"Ticket {ticket}, {name}: where are the {2 + script.draw(7)} spare parts of {order}?"
    script.user(wish)
    script.ask("recall", "What is the newest case?", wish)
    script.plan(["Look up the order", "Ask the warehouse", f"Answer ticket {ticket}"], 1)
    error = f"the warehouse knows no shipment {script.draw(10**8):08} of ticket {ticket}"
    script.add("error", message=error)
    script.ask("continuation", "What is not resolved?", f"ERROR: {error}")
    script.var("ticket.status", f"{ticket}: waiting for the warehouse")
    order = f"WH-{script.draw(10**6):06}"
    script.add("tool_call", tool_name="ask_warehouse", arguments={"reference": order})
    script.ask("continuation", "Which question has no answer yet?", f'CALL ask_warehouse({{"reference": "{order}"')


# what an agent does


def _order(script: Script, order: str, name: str) -> dict[str, Any]:
    lines = [
        {"sku": f"SKU-{script.draw(10**6):06}", "title": script.words(5), "price": f"{script.draw(300)}.90", "count": 1}
        for _ in range(2 + script.draw(6))
    ]
    address = f"{1 + script.draw(200)} {script.one(STREETS)}"
    return {"order_id": order, "customer": name, "address": address, "state": "delivered", "lines": lines}


def _customer(script: Script, name: str) -> dict[str, Any]:
    orders = [f"ORD-{10_000 + script.draw(90_000)}" for _ in range(3 + script.draw(8))]
    return {"name": name, "since": 2_010 + script.draw(15), "orders": orders, "notes": script.words(40)}


def _stock(script: Script) -> dict[str, Any]:
    shops = [{"shop": script.one(STREETS), "count": script.draw(9), "next": script.words(4)} for _ in range(12)]
    return {"shops": shops, "asked": script.draw(10**6)}


def _article(script: Script) -> str:
    parts = [f"{at}. {script.words(30).capitalize()}." for at in range(1, 8 + script.draw(20))]
    return f"# {script.words(5).capitalize()}\n" + "\n".join(
        parts + ([script.words(1_800)] if script.draw(7) == 0 else [])
    )


def _letter(script: Script, name: str, order: str) -> str:
    return (
        f"Dear {name},\n\n{script.words(110).capitalize()}.\n\nYour order {order} {script.words(20)}.\n\nKind regards"
    )


def _draft(script: Script, path: str, name: str, order: str) -> None:
    script.file("write_file", path, f"Wrote {path}", content=_letter(script, name, order))
