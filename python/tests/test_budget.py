"""What captures of a program that makes too many events may cost, with memory and times made up."""

from __future__ import annotations

import os

import pytest

from ridgeline import budget, processors
from ridgeline.budget import StepTimes, TraceBudget
from ridgeline.jax_tracer import JaxTracer
from ridgeline.torch_tracer import TorchTracer
from ridgeline.tracer import EventCosts

MEGABYTE = 1_000_000


class Memory:
    """Memory of a process, as the budget asks for it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.resident = self.allocated = 0
        monkeypatch.setattr(budget, "resident_bytes", lambda: self.resident)
        monkeypatch.setattr(budget, "allocated_bytes", lambda: self.allocated)
        monkeypatch.setattr(processors, "_counts", lambda: self.counts)
        self.counts: tuple[int, int] | None = None

    def grow(self, *, events: int = 0, data: int = 0) -> None:
        """The capture holds `events` bytes more, the program `data` bytes."""
        self.resident += events + data
        self.allocated += events


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    return Memory(monkeypatch)


def begun(most: float, costs: EventCosts = JaxTracer.event_costs) -> TraceBudget:
    made = TraceBudget(most, costs, began=0.0)
    made.window_begins()
    made.begins()
    return made


def test_a_capture_ends_when_writing_it_would_cost_more_than_there_is(memory: Memory) -> None:
    spent = begun(0.2)
    memory.grow(events=30 * MEGABYTE)
    assert not spent.is_used_up(1.0)
    memory.grow(events=30 * MEGABYTE)
    assert spent.is_used_up(1.0)
    assert not spent.is_used_up(60.0), "a program that ran for a minute may pay more"


def test_what_is_packed_after_the_program_is_paid_for_from_the_beginning(memory: Memory) -> None:
    costs = EventCosts(per_event_s=0.0, bytes_per_event=100, held_per_written=1.0, per_held_byte_s=1e-8)
    packed = EventCosts(per_event_s=1e-6, bytes_per_event=100, held_per_written=1.0, per_held_byte_s=1e-8, per_packed_byte_s=1e-8)
    memory.grow(events=0)
    written, also_packed = begun(0.2, costs), begun(0.2, packed)
    memory.grow(events=50 * MEGABYTE)
    assert not written.is_used_up(3.6)
    assert also_packed.is_used_up(3.6), "an event costs as much again to happen and to pack as to write"


def test_a_machine_that_others_use_writes_less(memory: Memory) -> None:
    spent = begun(0.2)
    memory.grow(events=30 * MEGABYTE)
    assert not spent.is_used_up(1.0)
    memory.counts = (1_000_000_000, 3_000_000_000)
    assert spent.is_used_up(1.0), "all that is written takes four times as long"
    memory.counts = (1_001_000_000, 9_000_000_000)
    assert spent.is_used_up(1.0), "a thread that hardly ran says nothing new"
    memory.counts = (2_000_000_000, 3_000_000_000)
    assert not spent.is_used_up(1.0)


def test_data_of_the_program_is_no_capture(memory: Memory) -> None:
    spent = begun(0.2)
    memory.grow(data=4000 * MEGABYTE)
    assert not spent.is_used_up(1.0)


def test_what_grew_for_other_reasons_is_written_and_goes_on(memory: Memory) -> None:
    spent = begun(0.2)
    memory.grow(events=50 * MEGABYTE)
    assert spent.is_used_up(1.0)
    spent.written(0.01, 1000)
    assert spent.goes_on(1.0)
    assert not spent.is_used_up(1.0), "the next part is larger"
    spent.written(0.5, 10 * MEGABYTE)
    assert not spent.goes_on(1.0)


def test_windows_are_paid_for_and_end(memory: Memory) -> None:
    spent, now, began = TraceBudget(0.2, JaxTracer.event_costs, began=0.0), 1.0, []
    for _ in range(10_000):
        if spent.may_resume(now):
            began.append(now)
            spent.window_begins()
            spent.begins()
            memory.grow(events=4000 * MEGABYTE)
            assert spent.is_used_up(now)
            spent.written(0.6, 1000)
        now += 0.25
    assert len(began) == 8
    # Before each but the first the program has run five times as long as recording took, and half as long again.
    assert all(now >= 6 * 0.6 * number for number, now in enumerate(began))


def test_a_program_that_makes_events_while_it_prepares_is_seen_at_work_soon(memory: Memory) -> None:
    spent = begun(0.2, TorchTracer.event_costs)
    memory.grow(events=20 * MEGABYTE)
    assert spent.is_used_up(2.0)
    spent.written(0.2, 2 * MEGABYTE)
    assert not spent.goes_on(2.0)
    assert [now for now in (2.0, 2.5, 3.0, 3.5) if spent.may_resume(now)] == [3.0, 3.5]
    spent.window_begins()
    spent.begins()
    memory.grow(events=12 * MEGABYTE)
    assert not spent.is_used_up(3.5), "the second window may cost all that is left"


def test_looks_become_rare_while_nothing_grows(memory: Memory) -> None:
    spent = begun(0.2)
    for _ in range(8):
        spent.is_used_up(1.0)
    assert spent.look_s == 0.05
    memory.grow(events=10 * MEGABYTE)
    spent.is_used_up(1.0)
    assert spent.look_s == 0.02


def test_steps_are_compared_with_and_without_a_capture() -> None:
    times, now = StepTimes(), 0.0
    for capture, length, count in [(1, 0.004, 5), (None, 0.5, 1), (0, 0.001, 5), (None, 0.5, 1), (2, 0.006, 5)]:
        for _ in range(count):
            times.begins(now, capture)
            now += length
    compared = times.compared()
    assert compared is not None
    assert (compared["recorded_steps"], compared["not_recorded_steps"]) == (8, 4)
    assert compared["recorded_s"] == pytest.approx(0.005, abs=0.002)
    assert compared["not_recorded_s"] == pytest.approx(0.001)


def test_few_steps_tell_nothing() -> None:
    times = StepTimes()
    for number in range(9):
        times.begins(float(number), 1)
    assert times.compared() is None


def test_waits_for_a_processor_are_those_of_the_main_thread_and_the_longest_other(monkeypatch: pytest.MonkeyPatch) -> None:
    main = str(os.getpid())
    # The pool's threads wait at the same time; one of them began during the capture.
    counts = iter([{main: 100_000_000, "7": 50}, {main: 400_000_000, "7": 60, "8": 200_000_000}])
    times = iter([1.0, 3.0])
    monkeypatch.setattr(processors, "_waited_ns", lambda: next(counts))
    monkeypatch.setattr(processors.time, "perf_counter", lambda: next(times))
    waits = processors.CpuWaits()
    assert waits.told() is None
    waits.begins()
    waits.ends()
    assert waits.told() == {"waited_s": 0.5, "of_s": 2.0}
