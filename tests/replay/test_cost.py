"""Bills worked out by hand, the worked example of the break-even formula, and the bills of recorded sessions."""

from __future__ import annotations

from dataclasses import replace as changed
from pathlib import Path

import pytest
from replayed import Words, says, traced, user

from context_gc import Budget, Policy, Usage, load_traces
from context_gc.passes import Pass
from context_gc.replay import replay
from context_gc.replay.baselines import FULL
from context_gc.replay.calibration import Calibration, calibrate
from context_gc.replay.calls import ModelCall
from context_gc.replay.cost import bill, paybacks, recorded_bill
from context_gc.replay.measures import Measures
from context_gc.replay.prices import Prices, prices_of
from context_gc.replay.prompts import Prompted, Replay

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real traces is not beside the checkout")

#: a dollar a token, so that a bill can be read
PLAIN = Prices("a model", 1e6, 4e6, 0.1e6, 1.25e6, min_prefix=0)


def prompt(number, tokens, common, changed=None, cold=False, window=1, passed=None, output=0):
    call = ModelCall(number, 0, 1, (0,), 0, None)
    return Prompted(call, window, tokens, tokens, common, changed, None, cold, output, 0, "", passed)


def lived(*prompts):
    return Replay("by hand", "words", tuple(prompts), Measures())


def test_the_first_call_writes_all_and_the_next_reads_what_stands():
    told = bill(lived(prompt(1, 100, 0, output=10), prompt(2, 130, 100)), PLAIN)
    first, second = told.charges
    assert (first.cached, first.written, first.prompt_cost, first.output_cost) == (0, 100, 125, 40)
    assert (second.cached, second.written) == (100, 30)
    assert second.prompt_cost == pytest.approx(100 * 0.1 + 30 * 1.25)
    assert told.total == pytest.approx(125 + 40 + 10 + 37.5)
    assert told.prompts == pytest.approx(125 + 10 + 37.5)


def test_after_a_change_ideal_keeps_what_stands_before_it_and_floor_only_the_system_prompt():
    calls = lived(prompt(1, 100, 0), prompt(2, 80, 60, changed="e3"))
    fit = Calibration(1.0, 50.0)
    ideal, floor = (bill(calls, PLAIN, how, fit).charges[1] for how in ("ideal", "floor"))
    assert (ideal.cached, ideal.written) == (110, 20)
    assert (floor.cached, floor.written) == (50, 80)


def test_a_cold_cache_is_written_anew():
    charge = bill(lived(prompt(1, 100, 0), prompt(2, 130, 100, cold=True)), PLAIN).charges[1]
    assert (charge.cached, charge.written) == (0, 130)


def test_a_prompt_that_is_too_short_is_not_cached():
    prices = changed(PLAIN, min_prefix=120)
    first, second = bill(lived(prompt(1, 100, 0), prompt(2, 130, 100)), prices).charges
    assert (first.cached, first.written, first.plain, first.prompt_cost) == (0, 0, 100, 100)
    assert (second.cached, second.written, second.plain) == (0, 130, 0)


def test_a_new_window_reads_the_system_prompt_alone():
    calls = lived(prompt(1, 100, 0), prompt(2, 40, 0, window=2))
    charge = bill(calls, PLAIN, "ideal", Calibration(1.0, 50.0)).charges[1]
    assert (charge.cached, charge.written) == (50, 40)


def test_above_a_tier_all_of_the_prompt_costs_more():
    prices = changed(PLAIN, tier_from=100, tier=2.0, tier_output=1.5)
    at, above = (bill(lived(prompt(1, tokens, 0, output=10)), prices).charges[0] for tokens in (100, 101))
    assert (at.prompt_cost, at.output_cost) == (125, 40)
    assert (above.prompt_cost, above.output_cost) == (pytest.approx(2 * 101 * 1.25), 60)


def test_a_breakpoint_that_is_neither_is_an_error():
    with pytest.raises(ValueError, match=r"'roof' \(one of ideal, floor\)"):
        bill(lived(), PLAIN, "roof")


def test_no_calls_cost_nothing():
    assert bill(lived(), PLAIN).total == 0
    assert recorded_bill(lived(), PLAIN) is None


def test_a_report_is_billed_by_what_it_says():
    trace = traced(user("a"), says("b"), usage=[Usage("e1", 1, 2, 30, 40)])
    assert recorded_bill(replay(trace, Policy(), Words()), PLAIN) == pytest.approx(1 + 8 + 3 + 50)


# passes: K = 700k, D = 83k, r = 0.1, w = 1.25 is the worked example, whose N* is 97


def compaction(gain, kept):
    return Pass(1, "compact", 9, gain + kept, kept, ("e1",), (), 0, (), "e1", kept, None)


def test_the_worked_example_breaks_even_after_97_calls():
    assert Budget(max_tokens=1_000_000).break_even(700_000, 83_000) == pytest.approx(97, abs=0.5)
    told = paybacks(lived(prompt(1, 750_000, 0, passed=compaction(83_000, 700_000))), PLAIN)
    assert told[0].break_even == pytest.approx(97, abs=0.5)


@pytest.mark.parametrize(("later", "paid"), [(95, False), (96, True)], ids=["96 calls", "97 calls"])
def test_a_pass_pays_from_its_break_even_on(later, paid):
    after = [prompt(number, 750_000, 700_000) for number in range(2, later + 2)]
    (told,) = paybacks(lived(prompt(1, 750_000, 0, passed=compaction(83_000, 700_000)), *after), PLAIN)
    assert (told.calls, told.paid) == (later + 1, paid)


def test_what_a_pass_saves_ends_when_the_cache_goes_cold():
    calls = lived(prompt(1, 100, 50, passed=compaction(10, 50)), prompt(2, 110, 100), prompt(3, 120, 110, cold=True))
    (told,) = paybacks(calls, PLAIN)
    assert told.calls == 2
    assert told.net == pytest.approx(2 * 0.1 * 10 - 1.15 * 50)


def test_a_pass_on_a_cold_cache_costs_nothing():
    (told,) = paybacks(lived(prompt(1, 100, 50, cold=True, passed=compaction(10, 90))), PLAIN)
    assert (told.break_even, told.paid, told.net) == (0.0, True, pytest.approx(12.5))


# calibration


def reported(*pairs):
    """A replay whose calls have these (estimate, provider's count)."""
    rows = []
    for number, (estimate, true) in enumerate(pairs, 1):
        call = ModelCall(number, 0, 1, (0,), 0, Usage(f"e{number}", true, 1))
        rows.append(Prompted(call, 1, estimate, estimate, 0, None, None, False, 1, 0, "", None))
    return lived(*rows)


def test_a_line_is_found_again():
    fit = calibrate(reported(*((n, 2 * n + 500) for n in (100, 200, 300, 400, 500))))
    assert (fit.scale, fit.overhead) == (pytest.approx(2), pytest.approx(500))
    assert (fit.median_error, fit.p95_error) == (pytest.approx(0), pytest.approx(0))
    assert fit.tokens(1_000) == pytest.approx(2_500)


def test_no_prompt_is_shorter_than_its_events():
    fit = calibrate(reported(*((n, 2 * n - 50) for n in (100, 200, 300, 400, 500))))
    assert fit.overhead == 0
    assert 1.8 < fit.scale < 2


@pytest.mark.parametrize(
    "pairs", [((100, 200),) * 4, ((100, 200),) * 9, tuple((n, 1_000 - n) for n in range(100, 600, 100))],
    ids=["too few", "all alike", "the wrong way round"],
)  # fmt: skip
def test_what_cannot_be_fitted_is_left_alone(pairs):
    assert calibrate(reported(*pairs)) == Calibration()


@needs_corpus
def test_the_bill_of_real_sessions_is_met_within_two_and_a_half_percent():
    recorded = simulated = 0.0
    for path in ("pi/pi-large-session.jsonl", "pi/pi-session.jsonl"):
        trace = load_traces(CORPUS / path)[0]
        full = replay(trace, FULL, measure=False)
        prices = prices_of(trace.model)
        reported = [each for each in full.calls if each.call.usage is not None]
        told = recorded_bill(full, prices)
        assert told is not None
        recorded += told
        charges = bill(full, prices, calibration=calibrate(full)).charges
        known = {each.call.number for each in reported}
        simulated += sum(charge.cost for charge in charges if charge.call in known)
    assert recorded == pytest.approx(50.2, abs=0.3)  # what the sessions themselves say of these calls
    assert simulated == pytest.approx(recorded, rel=0.025)
