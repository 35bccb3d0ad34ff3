"""Decide when to capture: a state machine that hears what the program does and answers start, stop or nothing.

It knows no profiler and no clock: times are handed in, in seconds of any monotonic clock.
"""

from __future__ import annotations

from enum import Enum
from typing import Any


class Action(Enum):
    """What to do now."""

    NOTHING = "nothing"
    START = "start"
    STOP = "stop"


class Schedule:
    """When to capture, as `ridgeline record` was told.

    A capture is a *window*; whoever carries out an action says so with `started` and `stopped`.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        """`config` has `window`, `warm_up` and `max_windows` as the recorder writes them.

        The window `none` never begins: a profiler around the program has what this one would capture.
        """
        window = config.get("window") or {"kind": "whole"}
        warm_up = config.get("warm_up") or {"kind": "none"}
        self.kind: str = window["kind"]
        self._first: int = window.get("first", 0)
        self._end: int = window.get("end", 0)
        self._name: str = window.get("name", "")
        self._warm_up: str = warm_up["kind"]
        self._warm_up_s: float = float(warm_up.get("s", 0.0))
        self._max_windows: int = config.get("max_windows", 1) if self.kind == "annotation" else 1
        self._ready_at: float | None = None
        self._depth = 0
        self._runs = False
        self._windows = 0
        self.steps_seen = 0
        self._steps_ended = 0
        #: What a step is, for a reader who finds none.
        self.what_counts = "steps are StepTraceAnnotation ranges, or the calls of a jitted function named with --step-function"

    @property
    def counts_steps(self) -> bool:
        """True if steps decide."""
        return self.kind == "steps"

    @property
    def has_open_step(self) -> bool:
        """True inside a step."""
        return self.steps_seen > self._steps_ended

    @property
    def followed_annotation(self) -> str | None:
        """Name of the annotation that decides, if one does."""
        return self._name if self.kind == "annotation" else None

    @property
    def was_ready(self) -> bool:
        """True once a device could be used."""
        return self._ready_at is not None

    @property
    def needs_ticks(self) -> bool:
        """True while only the passing of time can start a capture."""
        return self.kind == "whole" and self._warm_up != "none" and self._may_start

    @property
    def _may_start(self) -> bool:
        return not self._runs and self._windows < self._max_windows

    def started(self) -> None:
        """A capture began."""
        self._runs = True
        self._windows += 1

    def stopped(self) -> None:
        """The capture ended, for whatever reason."""
        self._runs = False

    def may_run_again(self) -> None:
        """Allow one more capture, after one that the program itself cut short."""
        self._max_windows += 1

    def ready(self, now: float) -> Action:
        """A device can be used from now on."""
        if self._ready_at is None:
            self._ready_at = now
        if self.kind == "whole" and self._warm_up == "none" and self._may_start:
            return Action.START
        return Action.NOTHING

    def tick(self, now: float, last_compile: float | None) -> Action:
        """Time has passed; the last compilation ended at `last_compile`."""
        if self._ready_at is None or not self.needs_ticks:
            return Action.NOTHING
        since = self._ready_at
        if self._warm_up == "quiet" and last_compile is not None:
            since = max(since, last_compile)
        return Action.START if now - since >= self._warm_up_s else Action.NOTHING

    def step_begins(self) -> Action:
        """The next step begins."""
        number = self.steps_seen
        self.steps_seen += 1
        if not self.counts_steps:
            return Action.NOTHING
        if self._runs and number >= self._end:
            return Action.STOP
        return Action.START if self._may_start and self._first <= number < self._end else Action.NOTHING

    def step_ends(self) -> Action:
        """A step ended."""
        self._steps_ended += 1
        return Action.STOP if self.counts_steps and self._runs and self.steps_seen >= self._end else Action.NOTHING

    def annotation_begins(self, name: str) -> Action:
        """An annotation named `name` begins."""
        if self.kind != "annotation" or name != self._name:
            return Action.NOTHING
        self._depth += 1
        return Action.START if self._depth == 1 and self._may_start else Action.NOTHING

    def annotation_ends(self, name: str) -> Action:
        """An annotation named `name` ends."""
        if self.kind != "annotation" or name != self._name or self._depth == 0:
            return Action.NOTHING
        self._depth -= 1
        return Action.STOP if self._depth == 0 and self._runs else Action.NOTHING

    def why_nothing(self) -> str | None:
        """Why no capture began, None if one did."""
        if self._windows or self.kind == "none":
            return None
        if self._ready_at is None:
            return "the program used no device"
        if self.kind == "steps":
            return f"expected steps {self._first}..{self._end}, found {self._steps_ended}; {self.what_counts}"
        if self.kind == "annotation":
            return f"no annotation named {self._name!r} began"
        return f"the program ended before the warm-up ({self._warm_up} {self._warm_up_s:g} s) was over"
