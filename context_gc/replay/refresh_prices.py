"""Make prices.json anew from the package `genai-prices` (extra `prices`): python -m context_gc.replay.refresh_prices.

What that package does not hold (how long a prefix stays cached and how long it has to be) stands here, from
the providers' documentation as of 2026-11.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from typing import Any

from .prices import TABLE

MODELS = {
    "anthropic": (
        "claude-3-5-haiku-latest claude-3-7-sonnet-latest claude-opus-4-1 claude-sonnet-4-0 claude-haiku-4-5"
        " claude-sonnet-4-5 claude-opus-4-5 claude-opus-4-6 claude-sonnet-4-6 claude-opus-4-7 claude-opus-4-8"
        " claude-sonnet-5 claude-opus-5 claude-haiku-5-5 claude-sonnet-5-5 claude-opus-5-5 claude-fable-5"
        " claude-fable-5-1"
    ),
    "openai": (
        "gpt-4o gpt-4o-mini gpt-4.1 gpt-4.1-mini o3 o4-mini gpt-5 gpt-5-mini gpt-5.1 gpt-5.2 gpt-5.3 gpt-5.4 gpt-5.5"
        " gpt-5.6-sol gpt-6-sol"
    ),
    "google": "gemini-2.5-pro gemini-2.5-flash gemini-3-pro-preview gemini-3-flash-preview gemini-3.1-pro-preview",
    "deepseek": "deepseek-chat deepseek-v4-flash deepseek-v4-pro",
    "moonshotai": "kimi-k2.5 kimi-k2.6 kimi-k3",
    "x-ai": "grok-4-0709 grok-code-fast-1 grok-4.5",
}
ALSO = {"gpt-5.6-sol": "gpt-5.6", "gpt-6-sol": "gpt-6", "grok-4-0709": "grok-4"}  #: names that people use
LEAST = {  #: tokens of the shortest prefix that is cached
    "claude-opus-4-5": 4_096, "claude-opus-4-6": 4_096, "claude-haiku-4-5": 4_096, "claude-opus-4-7": 2_048,
    "claude-opus-5": 512, "claude-opus-5-5": 512, "claude-sonnet-5-5": 512, "claude-fable-5-1": 512,
    "claude-3-5-haiku-latest": 2_048,
}  # fmt: skip
KEPT = {"google": 3_600.0}  #: seconds; elsewhere 300, which the providers promise at least


def main() -> None:
    """Write the table and say which models were not found."""
    from genai_prices import data_snapshot

    found: dict[str, dict[str, Any]] = {}
    snapshot = data_snapshot.get_snapshot()
    for provider, names in MODELS.items():
        for name in names.split():
            try:
                _, model = snapshot.find_provider_model(name, None, provider, None)
            except LookupError as error:
                print(f"{name}: {error}")
                continue
            told = _told(model) | {"min_prefix": LEAST.get(name, 1_024), "ttl": KEPT.get(provider, 300.0)}
            found[name.removesuffix("-latest")] = told
            if name in ALSO:
                found[ALSO[name]] = told
    package = f"genai-prices {version('genai-prices')}"
    table = {"as_of": datetime.now(UTC).strftime("%Y-%m"), "source": package, "models": dict(sorted(found.items()))}
    TABLE.write_text(json.dumps(table, indent=1) + "\n", "utf-8")
    print(f"{len(found)} models from {package}")


def _told(model: Any) -> dict[str, Any]:
    prices = model.get_prices(datetime.now(UTC).replace(hour=12, minute=0))  # some cost less at night
    told: dict[str, Any] = {"input": _base(prices.input_mtok), "output": _base(prices.output_mtok)}
    told["cache_read"] = _base(prices.cache_read_mtok) or told["input"]
    told["cache_write"] = _base(prices.cache_write_mtok) or told["input"]
    hour = _base(getattr(prices, "cache_write_1h_mtok", None))
    if hour:
        told["cache_write_1h"] = hour
    if model.context_window:
        told["window"] = model.context_window
    tiers = getattr(prices.input_mtok, "tiers", None)
    if tiers:
        told["tier_from"], told["tier"] = tiers[0].start, float(tiers[0].price) / told["input"]
        above = getattr(prices.output_mtok, "tiers", None)
        told["tier_output"] = float(above[0].price) / told["output"] if above else 1.0
    return told


def _base(price: Any) -> float | None:
    if price is None:
        return None
    return float(price) if isinstance(price, Decimal) else float(price.base)


if __name__ == "__main__":
    main()
