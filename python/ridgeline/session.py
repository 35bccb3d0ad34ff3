"""One process's recording: carries out what the schedule decides, and says what became of it.

Every entry is called from the program's own code and therefore guarded: `Parts` keeps exceptions in, and a lock that knows its owner
keeps a signal handler from entering while the same thread is inside.
How to start a profiler or take a snapshot is the tracer's, how to write a module is in the file named so.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import memory
from .budget import StepTimes, TraceBudget
from .imports import ImportWatch
from .limits import Limits, LimitWatch
from .live import Live
from .main_thread import call_in_main_thread
from .manifest import Piece
from .module_files import write_module
from .modules import CompiledModule
from .processors import CpuWaits
from .range_tracer import RangeTracer
from .safely import Parts
from .samples import Sampler
from .schedule import Action, Schedule
from .sizes import size_text
from .sources import Sources
from .tracer import Tracer, Written

#: Longest wait for device work before a capture stops, in seconds.
_DRAIN_LIMIT_S = 10.0

#: What is not as in other recordings where executables come from JAX's persistent compilation cache.
_FROM_CACHE = (
    "modules came from JAX's persistent compilation cache: their source lines come from the program that compiled them, their compile "
    "time is unknown, and two modules with the same name may be confused; JAX_ENABLE_COMPILATION_CACHE=false records without the cache"
)

#: How often warm-up and limits are looked at, in seconds.
_TICK_S = 0.25


class Session:
    """The recording of one process that imported a library with a profiler."""

    def __init__(self, config: dict[str, Any], piece: Piece, parts: Parts, tracer: Tracer) -> None:
        """`config` is what the recorder wrote for the harness."""
        self.schedule = Schedule(config)
        self._tracer: Any = RangeTracer(tracer) if config.get("range") else tracer
        self.parts = parts
        self.after_busy: Callable[[], None] = lambda: None
        self._config = config
        self._out = Path(config["out"])
        self._piece = piece
        self._ordinal = piece.claim_ordinal(tracer.library)
        piece.set(ordinal=self._ordinal)
        self._sources: Sources | None = None
        if config.get("sources"):
            note = lambda what, why: piece.append("notes", {"what": what, "why": why})  # noqa: E731 - one line says it
            self._sources = Sources(self._out, began_unix_s=piece.content["started_unix_s"], note=note)
        self._sampler: Sampler | None = None
        if config.get("samples"):
            self._sampler = Sampler(self._out / "samples" / f"{tracer.library}{self.suffix}.jsonl")
        self._watching_s: Callable[[], float] = lambda: 0.0
        self._live = Live(lambda: self.schedule.steps_seen)
        self._lock = threading.RLock()
        self._busy_thread: int | None = None
        self._running: Any = None
        self._limits: LimitWatch | None = None
        self._budget: TraceBudget | None = None
        self._step_times = StepTimes()
        self._cpu_waits = CpuWaits()
        self._captures = 0
        self._is_changing = self._rested = self._was_cut = False
        self._imports = ImportWatch(tracer.annotation)
        self._window_began = self._part_began = self._traced_s = 0.0
        self._first_step = 0
        self._windows = 0
        self._memory_at = set(config.get("memory_at") or ())
        self._part = 1
        self._is_idle = True
        self._is_asked = False
        self._is_over = False
        self._wake = threading.Event()
        self._ticker: threading.Thread | None = None
        self._last_compile: float | None = None
        self._forms_s = 0.0
        self._is_cache_said = False
        self._compilations = {"count": 0, "seconds": 0.0, "kept": 0, "kept_bytes": 0}

    # What the program does, in the order in which it can happen.

    def backend_ready(self) -> None:
        """The program has initialized a backend, so devices can be described and captured."""
        with self._entered() as entered:
            if entered:
                self._piece.set(state="ready", **self._tracer.environment())
                self._keep_sources()
                self._limit_cost()
                self.parts.run("live", self._live.start)
                self._act(self.schedule.ready(time.perf_counter()))
                if self.schedule.needs_ticks:
                    self._start_ticker()

    def step_begins(self) -> bool:
        """A step of the program begins; True if it started a capture."""
        running = self._captures if self._running else 0
        self._step_times.begins(time.perf_counter(), None if self._is_changing else running)
        starts = self._hear(self.schedule.step_begins)
        number = self.schedule.steps_seen - 1
        if number in self._memory_at and not self.is_busy_here:
            self._memory_at.discard(number)
            with self._entered() as entered:
                if entered:
                    self._snapshot(f"step{number}", step=number)
        return starts

    def step_ends(self) -> None:
        """A step of the program ended."""
        self._hear(self.schedule.step_ends)

    def annotation_begins(self, name: str) -> bool:
        """An annotation of the program begins; True if it started a capture."""
        return self._hear(self.schedule.annotation_begins, name)

    def annotation_ends(self, name: str) -> None:
        """An annotation of the program ended."""
        self._hear(self.schedule.annotation_ends, name)

    def module_compiled(self, module: CompiledModule) -> None:
        """A module was compiled and collected; raises OSError if it cannot be written."""
        self._last_compile = time.perf_counter()
        if module.is_from_cache and not self._is_cache_said:
            self._is_cache_said = True
            self._piece.append("notes", {"what": "compilation cache", "why": _FROM_CACHE})
        self._compilations["count"] += 1
        self._compilations["seconds"] += module.compile_s
        started = time.perf_counter()
        if self._may_keep_module():
            entry = write_module(module, self._out, prefix=f"p{self._ordinal}-" if self._ordinal else "")
            self._compilations["kept"] += 1
            self._compilations["kept_bytes"] += entry["bytes"]
            self._piece.add_module(entry)
        sources_started = time.perf_counter()
        self._keep_sources(module.after_proto or (module.after_text or "").encode())
        ended = time.perf_counter()
        write_s = ended - started
        # Without forms nothing names sources.
        self._forms_s += module.forms_s + (ended - sources_started)
        self._piece.content["module_forms_s"] = round(self._forms_s, 6)
        self._piece.add_time("modules_s", module.collect_s + write_s)

    def program_starts_trace(self) -> None:
        """The program is about to start a trace of its own, which the profiler allows only one of."""
        with self._entered() as entered:
            if entered and self._running:
                self._stop("the program started a trace of its own", is_cut_short=True)

    def program_stopped_trace(self) -> None:
        """The program's own trace is over; what it interrupted goes on."""
        with self._entered() as entered:
            if entered and self.schedule.kind == "whole" and self._windows:
                self.schedule.may_run_again()
                self._act(Action.START)

    def finish(self, how: str, *, drain: bool) -> bool:
        """End the recording; False if this thread is in the middle of starting or stopping a capture."""
        with self._entered() as entered:
            if not entered:
                return self._is_over
            if self._running:
                self._stop(how, drain=drain)
            self._live.stop()
            if self._sampler is not None:
                self.parts.run("samples", self._sampler.stop)
                self._piece.add_time("samples_s", self._sampler.cost_s)
                self._piece.add_time("watching_s", self._watching_s())
            self._say_why_nothing()
            self._keep_sources()
            self._is_over = True
            self._wake.set()
            self._say_modules_left_out()
            self._say_how_much()
            if steps := self._step_times.compared():
                self._piece.set(step_times=steps)
            if waits := self._cpu_waits.told():
                self._piece.set(cpu_waits=waits)
            self.parts.run("told_at_end", self._say_what_is_told)
            self._piece.set(
                state="ended",
                how=how,
                peak_rss_bytes=memory.peak_resident_bytes(),
                steps_seen=self.schedule.steps_seen,
                compilations=self._compilations,
            )
        return True

    def abandon(self) -> None:
        """Stop a profiler that could not be stopped in order, because it must not outlive the interpreter; never raises."""
        running, self._running = self._running, None
        with contextlib.suppress(Exception):
            self._imports.stop()
        with contextlib.suppress(Exception):
            self._live.stop()
        with contextlib.suppress(Exception):
            if self._sampler is not None:
                self._sampler.stop()
        if running is not None:
            with contextlib.suppress(Exception):
                self._tracer.abandon(running)

    def let_go(self) -> None:
        """Do nothing any more: this is a forked copy, and the recording is its parent's."""
        self._is_over = True
        self._live.let_go()
        if self._sampler is not None:
            self._sampler.let_go()
        self._piece.let_go()

    def tell_with_samples(self, told: Callable[[], dict[str, Any]], *, cost_s: Callable[[], float]) -> None:
        """Write what `told()` gives into the file of samples; finding it out took `cost_s()` seconds in all."""
        if self._sampler is not None:
            self._sampler.told = told
            self._watching_s = cost_s

    @property
    def is_tracing(self) -> bool:
        """True while a capture runs."""
        return self._running is not None

    @property
    def suffix(self) -> str:
        """What keeps this process's files apart from those of others; nothing for the first."""
        return f".process{self._ordinal + 1}" if self._ordinal else ""

    @property
    def is_busy_here(self) -> bool:
        """True if this thread is inside the session, so that what it does is the harness's own."""
        return self._busy_thread == threading.get_ident()

    # Guards.

    @contextmanager
    def _entered(self) -> Iterator[bool]:
        """Hold the session; gives False if it is over or this thread is inside already."""
        if self._is_over or self.is_busy_here:
            yield False
            return
        with self._lock:
            self._busy_thread = threading.get_ident()
            try:
                yield not self._is_over
            finally:
                self._busy_thread = None
        self.after_busy()

    def _hear(self, event: Callable[..., Action], *args: Any) -> bool:
        """Act on what the schedule says of `event`; True if a capture was started."""
        if self._is_over or self.is_busy_here:
            return False
        action = self.parts.run("schedule", event, *args)
        if action in (None, Action.NOTHING):
            return False
        with self._entered() as entered:
            if entered:
                self._act(action)
            return action is Action.START and self._running is not None

    # Windows.

    def _act(self, action: Action | None) -> None:
        if action is Action.START and not self._running:
            self._start()
        elif action is Action.STOP and self._running:
            self._stop("the window ended", drain=True)

    def _limit_cost(self) -> None:
        """Capture a part of a program that makes too many events, where the whole of it is wanted and nothing else was said."""
        most, costs = self._config.get("max_overhead_pct"), self._tracer.event_costs
        # A profiler of allocations belongs to one thread, which is seldom the one that would begin the next window.
        is_bound = (self._config.get("torch") or {}).get("allocations")
        may_rest = costs is not None and not is_bound and self._config.get("rotate_s") is None
        if most is not None and self.schedule.kind == "whole" and may_rest:
            ran_s = max(time.time() - self._piece.content["started_unix_s"], 0.0)
            self._budget = TraceBudget(most / 100, costs, began=time.perf_counter() - ran_s)

    def _start(self) -> None:
        self._snapshot("before")
        if not self._start_tracer():
            return
        if self.schedule.kind == "whole" and self.schedule.has_open_step and not self._windows:
            # A range leaves an event only if it was opened after the profiler was.
            why = "the capture began inside a step, with the first use of a device: that step is not in it"
            self._piece.append("notes", {"what": "steps", "why": why})
        self.schedule.started()
        self._windows += 1
        self._part = 1
        if self._budget is not None:
            self._budget.window_begins()
        began = time.perf_counter()
        self._window_began, self._first_step = began, self.schedule.steps_seen - 1
        config = self._config
        limits = Limits(config["max_trace_s"], config["max_trace_bytes"], config.get("rotate_s"))
        growth_tells = self._tracer.growth_tells
        self._limits = self.parts.run("limits", LimitWatch, limits, began=began, growth_tells=growth_tells)
        self._start_ticker()

    def _start_tracer(self) -> bool:
        with self._piece.timed("start_trace_s"):
            self._running = self.parts.run("trace_start", self._tracer.start, self._config)
        if self._running is None:
            return False
        self._captures += 1
        if self._budget is not None:
            self._budget.begins()
        self.parts.run("cpu_waits", self._cpu_waits.begins)
        self._part_began = time.perf_counter()
        self.parts.run("imports", self._imports.start)
        if self._sampler is not None:
            self.parts.run("samples", self._sampler.start)
        self._piece.set(state="tracing")
        return True

    def _stop(self, why: str, *, drain: bool = False, is_cut_short: bool = False) -> None:
        if drain:
            with self._piece.timed("drain_s"):
                self.parts.run("drain", self._tracer.drain, time.perf_counter() + _DRAIN_LIMIT_S)
        self._stop_tracer(why)
        self._window_is_over(why, is_cut_short=is_cut_short)

    def _stop_tracer(self, why: str) -> Written | None:
        """Stop the profiler and write what it has; the entry is in the piece."""
        running, self._running = self._running, None
        self.parts.run("imports", self._imports.stop)
        # Of a whole program the rest is worth a look, too, where recording all of it would cost too much.
        if self._sampler is not None and self.schedule.kind != "whole":
            self.parts.run("samples", self._sampler.stop)
        stopped = time.perf_counter()
        self._traced_s = stopped - self._part_began
        self.parts.run("cpu_waits", self._cpu_waits.ends)
        self._piece.set(state="writing", writing_since_unix_s=time.time())
        self._is_changing = True
        with self._piece.timed("stop_trace_s"):
            written = self.parts.run("trace_stop", self._write_trace, running)
        self._is_changing = False
        if written is not None and (costs := self._tracer.event_costs):
            self._piece.add_time("events_s", written.bytes / costs.bytes_per_event * costs.per_event_s)
        if self._budget is not None and written is not None:
            self._budget.written(time.perf_counter() - stopped, written.bytes)
        if not self.parts.is_on("trace_stop"):
            self._running = running
            self.abandon()
        if written is not None:
            self._piece.append("traces", self._entry(written, why))
        return written

    def _entry(self, written: Written, why: str) -> dict[str, Any]:
        entry = {"path": str(written.path.relative_to(self._out)), "bytes": written.bytes, "window": self._windows}
        entry |= {"part": self._part, "traced_s": round(self._traced_s, 6), "ended_because": why}
        if self.schedule.counts_steps:
            entry["steps"] = [self._first_step, self.schedule.steps_seen]
        return entry

    def _window_is_over(self, why: str, *, is_cut_short: bool) -> None:
        self.schedule.stopped()
        self._snapshot("after")
        if is_cut_short:
            after_s = self._part_began - self._window_began + self._traced_s
            self._piece.append("missing", {"what": f"trace after {after_s:.3g} s", "why": f"capture stopped: {why}"})
        self._piece.set(state="stopped")

    def _next_part(self) -> None:
        """Write what there is and go on, unless that is too much already."""
        written = self._stop_tracer("the next part follows")
        now = time.perf_counter()
        bytes_written = written.bytes if written else 0
        why = self._limits.exceeded(now, written=bytes_written) if self._limits else None
        if why is not None:
            self._window_is_over(why, is_cut_short=True)
        elif not self.parts.is_on("trace_stop") or not self._start_tracer():
            self._window_is_over("the next part could not begin", is_cut_short=True)
        else:
            self._part += 1
            self._limits.part_begins(now, written=bytes_written)

    def _rest(self) -> None:
        """Write what there is, and stop for a while where it cost as much as it may."""
        budget = self._budget
        if budget is None:
            return
        written = self._stop_tracer("the program makes more events than can be recorded without slowing it down")
        now = time.perf_counter()
        if budget.goes_on(now) and self.parts.is_on("trace_stop") and self._start_tracer():
            self._part += 1
            if self._limits is not None:
                self._limits.part_begins(now, written=written.bytes if written else 0)
            return
        self._window_is_over("", is_cut_short=False)
        self._rested = self._was_cut = True

    def _resume(self) -> None:
        """Begin another window of a program whose whole life is too much."""
        self.schedule.may_run_again()
        self._start()

    def _write_trace(self, running: Any) -> Written | None:
        if running is None:
            raise RuntimeError("expected a running profiler, found none")
        part = f".part{self._part}" if self._part > 1 else ""
        path = self._tracer.path(self._out, self._suffix() + part)
        written = self._tracer.stop(running, path, keep_hostnames=bool(self._config.get("keep_hostnames")))
        self._is_idle = self._is_idle and written is None
        return written

    def _snapshot(self, when: str, *, step: int | None = None) -> None:
        """A profile "before" or "after" a window, or before `step`, which need not be captured."""
        if not self._config.get("memory_profiles"):
            return
        with self._piece.timed("memory_s"):
            number = self._windows + (when == "before")
            name = when + (self._suffix(number) if step is None else self.suffix)
            entry = self.parts.run("memory_profile", self._tracer.snapshot, self._out, name, when=when)
        if entry is not None:
            self._piece.append("memory", {"when": when} | ({"window": number} if step is None else {"step": step}) | entry)

    def _suffix(self, window: int | None = None) -> str:
        """What keeps this process's and window's files apart; nothing for the first of each."""
        window = window or self._windows
        return self.suffix + (f".window{window}" if window > 1 else "")

    def _keep_sources(self, module: bytes = b"") -> None:
        if self._sources is not None:
            self.parts.run("sources", self._sources.keep_imported)
            self.parts.run("sources", self._sources.keep_named, module)

    def _say_why_nothing(self) -> None:
        """Say why there is no capture: because the library was not used, which may be as it should, or because none began."""
        why = self.schedule.why_nothing()
        if self._windows and self._config.get("range"):
            return  # The profiler around the program has it.
        if self._windows and self._is_idle and self.parts.is_on("trace_stop"):
            self._piece.set(idle=f"{self._tracer.library} was imported, but nothing that it can capture ran")
        elif why is not None and not self.schedule.was_ready:
            self._piece.set(idle=self._tracer.why_unused)
        elif why is not None and self.parts.is_on("trace_start"):
            self._piece.append("missing", {"what": "trace", "why": why})

    def _may_keep_module(self) -> bool:
        kept = self._compilations
        return kept["kept"] < self._config["max_modules"] and kept["kept_bytes"] < self._config["max_module_bytes"]

    def _say_how_much(self) -> None:
        """Say how much of the program's life the captures have, where a limit left some out."""
        if self._budget is None or not self._was_cut:
            return
        traced = sum(trace["traced_s"] for trace in self._piece.content["traces"])
        life = time.time() - self._piece.content["started_unix_s"]
        why = (
            f"{traced:.3g} s of {life:.3g} s were recorded, in {self._windows} {'window' if self._windows == 1 else 'windows'}: the program "
            f"makes so many events that recording all would slow it down by more than {self._config['max_overhead_pct']}% "
            "(--max-overhead)"
        )
        self._piece.append("notes", {"what": "capture", "why": why})

    def _say_what_is_told(self) -> None:
        for note in self._tracer.told_at_end():
            self._piece.append("notes", note)

    def _say_modules_left_out(self) -> None:
        left_out = self._compilations["count"] - self._compilations["kept"]
        if left_out and self.parts.is_on("modules"):
            most = f"{self._config['max_modules']} modules (--max-modules) or {size_text(self._config['max_module_bytes'])} (--max-module-size)"
            why = f"{left_out} modules beyond the limit of {most}"
            self._piece.append("missing", {"what": "compiled modules", "why": why})

    # Time.

    def _start_ticker(self) -> None:
        if self._ticker is None or not self._ticker.is_alive():
            self._wake.clear()
            self._ticker = threading.Thread(target=self._tick_until_over, name="ridgeline", daemon=True)
            self.parts.run("ticker", self._ticker.start)

    @property
    def _tick_s(self) -> float:
        return self._budget.look_s if self._budget is not None and self._running else _TICK_S

    def _tick_until_over(self) -> None:
        while not self._wake.wait(self._tick_s) and (self._running or self._rested or self.schedule.needs_ticks):
            with self._entered() as entered:
                if entered:
                    self.parts.run("ticker", self._tick)

    def _tick(self) -> None:
        now = time.perf_counter()
        self._act(self.schedule.tick(now, self._last_compile))
        if self._running is None and self._rested and self._budget is not None and self._budget.may_resume(now):
            self._rested = False
            self._resume()
        if self._running is None or self._limits is None:
            return
        if self._budget is not None and self.parts.run("limits", self._budget.is_used_up, now):
            self._in_its_thread(self._rest)
        elif why := self.parts.run("limits", self._limits.exceeded, now):
            self._in_its_thread(lambda: self._stop(why, is_cut_short=True))
        elif self.parts.run("limits", self._limits.part_is_due, now):
            self._in_its_thread(self._next_part)

    def _in_its_thread(self, work: Callable[[], None]) -> None:
        """Call `work` from the ticker's thread; where the profiler belongs to the main thread, have that do it."""
        if self._running is None or self._tracer.may_stop_here(self._running):
            work()
        elif not self._is_asked:
            self._is_asked = True
            call_in_main_thread(lambda: self._was_asked(work))

    def _was_asked(self, work: Callable[[], None]) -> None:
        self._is_asked = False
        with self._entered() as entered:
            if entered and self._running is not None and self._tracer.may_stop_here(self._running):
                work()
