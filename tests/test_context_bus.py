"""ContextBus: who hears what, in which order, and what a handler that misbehaves cannot do."""

from __future__ import annotations

import threading

import pytest

from context_gc.context_bus import ContextBus
from context_gc.errors import InvalidEvent


@pytest.fixture
def bus():
    return ContextBus()


@pytest.fixture
def heard():
    return []


def test_a_handler_hears_the_type_it_subscribed_to_and_no_other(bus, heard):
    bus.subscribe("task.ended", heard.append)
    bus.publish("task.ended", {"run_id": "r"})
    bus.publish("session.ended", {"run_id": "r"})
    assert heard == [{"run_id": "r"}]


def test_an_event_that_nobody_hears_is_no_error(bus):
    bus.publish("task.ended", {})


def test_handlers_run_in_the_order_of_subscription_whatever_they_subscribed_to(bus, heard):
    for kind, name in (("a", 1), ("*", 2), ("a", 3), ("*", 4)):
        bus.subscribe(kind, lambda data, name=name: heard.append(name))
    bus.publish("a", {})
    assert heard == [1, 2, 3, 4]


def test_a_handler_of_everything_is_told_the_type_and_the_publisher_cannot_forge_it(bus, heard):
    bus.subscribe("*", heard.append)
    bus.publish("event.added", {"event_id": "e1"})
    bus.publish("b", {"event_type": "session.ended"})
    assert heard == [{"event_id": "e1", "event_type": "event.added"}, {"event_type": "b"}]


def test_each_handler_has_its_own_copy(bus, heard):
    data = {"x": 1}
    bus.subscribe("a", lambda told: told.clear())
    bus.subscribe("a", lambda told: data.update(x=2))
    bus.subscribe("a", heard.append)
    bus.publish("a", data)
    assert heard == [{"x": 1}]


def test_a_handler_that_raises_does_not_keep_the_others_from_running(bus, heard):
    def broken(data):
        raise ValueError("no")

    def also_broken(data):
        raise OSError("nor this")

    for handler in (broken, heard.append, also_broken, heard.append):
        bus.subscribe("a", handler)
    with pytest.raises(ExceptionGroup, match="'a'") as caught:
        bus.publish("a", {})
    assert [type(each) for each in caught.value.exceptions] == [ValueError, OSError]
    assert heard == [{}, {}]


def test_an_interrupt_ends_a_publish_at_once(bus, heard):
    def interrupted(data):
        raise KeyboardInterrupt

    bus.subscribe("a", interrupted)
    bus.subscribe("a", heard.append)
    with pytest.raises(KeyboardInterrupt):
        bus.publish("a", {})
    assert heard == []


def test_handlers_that_publish_to_each_other_without_end_are_stopped_once(bus):
    calls = []
    for _ in range(3):  # would be 3 ** depth calls, were each to go on after the end of the stack
        bus.subscribe("a", lambda data: (calls.append(1), bus.publish("a", data)))
    with pytest.raises(RecursionError):
        bus.publish("a", {})
    assert len(calls) < 10_000


def test_a_subscription_made_while_an_event_is_delivered_hears_the_next_one(bus, heard):
    bus.subscribe("a", lambda data: bus.subscribe("a", heard.append))
    bus.publish("a", {"n": 1})
    assert heard == []
    bus.publish("a", {"n": 2})
    assert heard == [{"n": 2}]


def test_a_handler_unsubscribed_before_its_turn_is_not_called(bus, heard):
    bus.subscribe("a", lambda data: bus.unsubscribe("a", heard.append))
    bus.subscribe("a", heard.append)
    bus.publish("a", {})
    assert heard == []


def test_a_handler_may_unsubscribe_itself_and_the_next_one_still_runs(bus, heard):
    def once(data):
        heard.append("once")
        bus.unsubscribe("a", once)

    bus.subscribe("a", once)
    bus.subscribe("a", lambda data: heard.append("next"))
    bus.publish("a", {})
    bus.publish("a", {})
    assert heard == ["once", "next", "next"]


def test_clear_ends_all_subscriptions_also_from_inside_a_handler(bus, heard):
    bus.subscribe("a", lambda data: bus.clear())
    bus.subscribe("a", heard.append)
    bus.subscribe("*", heard.append)
    bus.publish("a", {})
    bus.publish("a", {})
    assert heard == []


def test_who_clears_and_subscribes_again_hears_the_next_event_only(bus, heard):
    def again(data):
        bus.clear()
        bus.subscribe("a", heard.append)

    bus.subscribe("a", again)
    bus.publish("a", {"n": 1})
    bus.publish("a", {"n": 2})
    assert heard == [{"n": 2}]


def test_the_same_handler_twice_is_called_twice_and_unsubscribe_undoes_the_latest(bus, heard):
    def first(data):
        heard.append("first")

    bus.subscribe("a", first)
    bus.subscribe("a", lambda data: heard.append("middle"))
    bus.subscribe("a", first)
    bus.publish("a", {})
    bus.unsubscribe("a", first)
    bus.publish("a", {})
    assert heard == ["first", "middle", "first", "first", "middle"]


def test_unsubscribing_what_was_never_subscribed_does_nothing(bus, heard):
    bus.subscribe("a", heard.append)
    bus.unsubscribe("a", print)
    bus.unsubscribe("b", heard.append)
    bus.unsubscribe("*", heard.append)
    bus.publish("a", {})
    assert heard == [{}]


def test_a_bound_method_is_the_same_each_time_it_is_taken(bus):
    class Counter:
        count = 0

        def hear(self, data):
            self.count += 1

    one, other = Counter(), Counter()
    bus.subscribe("a", one.hear)
    bus.subscribe("a", other.hear)
    bus.unsubscribe("a", one.hear)
    bus.publish("a", {})
    assert (one.count, other.count) == (0, 1)


def test_an_event_published_by_a_handler_is_delivered_before_the_next_handler_runs(bus, heard):
    bus.subscribe("outer", lambda data: bus.publish("inner", {}))
    bus.subscribe("inner", lambda data: heard.append("inner"))
    bus.subscribe("outer", lambda data: heard.append("outer"))
    bus.publish("outer", {})
    assert heard == ["inner", "outer"]


def test_errors_of_an_inner_publish_are_a_group_in_the_outer_group(bus):
    bus.subscribe("outer", lambda data: bus.publish("inner", {}))
    bus.subscribe("inner", lambda data: 1 / 0)
    with pytest.raises(ExceptionGroup) as caught:
        bus.publish("outer", {})
    assert caught.group_contains(ZeroDivisionError, depth=2)


def test_no_lock_is_held_while_handlers_run(bus, heard):
    def subscribes_elsewhere(data):
        other = threading.Thread(target=bus.subscribe, args=("a", heard.append))
        other.start()
        other.join(timeout=10)
        assert not other.is_alive()

    bus.subscribe("a", subscribes_elsewhere)
    bus.publish("a", {})


def test_threads_that_subscribe_publish_and_unsubscribe_lose_nothing(bus):
    counts = [0] * 8
    start = threading.Barrier(8)

    def work(number):
        def hear(data):
            if data["from"] == number:
                counts[number] += 1

        start.wait()
        for _ in range(200):
            bus.subscribe("a", hear)
            bus.publish("a", {"from": number})
            bus.unsubscribe("a", hear)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [200] * 8
    late = []
    bus.subscribe("a", late.append)
    bus.publish("a", {"from": None})
    assert late == [{"from": None}]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda bus: bus.publish("", {}), "non-empty string"),
        (lambda bus: bus.publish(None, {}), "None"),
        (lambda bus: bus.publish("*", {}), "'*'"),
        (lambda bus: bus.publish("a", None), "NoneType"),
        (lambda bus: bus.publish("a", [("k", 1)]), "list"),
        (lambda bus: bus.subscribe(7, print), "7"),
        (lambda bus: bus.subscribe("a", None), "NoneType"),
    ],
)
def test_what_makes_no_sense_is_refused(bus, call, says):
    with pytest.raises(InvalidEvent, match=r"^bus: ") as caught:
        call(bus)
    assert says in str(caught.value)
