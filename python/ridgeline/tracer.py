"""What a library's profiler can do, so that one `Session` records any of them.

A tracer knows how: how to start, stop, wait and describe. When to is the session's and the schedule's.
Every method is called inside a guarded part, so it may raise.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class Written:
    """A capture on disk: where, how many bytes, and whether host names were taken out of it."""

    path: Path
    bytes: int
    hostnames_removed: bool


@dataclass(frozen=True)
class EventCosts:
    """What the events of a profiler cost, so that a capture of too many of them ends in time. Times are in seconds.

    A part of a capture that was written tells better what the next one costs to write.
    """

    #: When it happens.
    per_event_s: float
    #: Of its file, after it was written.
    bytes_per_event: float
    #: What the events hold in memory, as a multiple of what they have in the file.
    held_per_written: float
    #: To write it, for each byte that it holds in memory.
    per_held_byte_s: float
    #: To pack it after the program has ended, for each byte of its file.
    per_packed_byte_s: float = 0.0
    #: The part of what the first window may cost that it does cost: below 1 where programs make most events while they prepare what
    #: they work on, so that a second window can follow soon.
    first_part: float = 1.0

    @property
    def per_written_byte_s(self) -> float:
        """What each byte of the file costs besides being written: when its event happened, and to pack it."""
        return self.per_event_s / self.bytes_per_event + self.per_packed_byte_s


class Tracer(Protocol):
    """The profiler of one library."""

    #: The library's name, as imported.
    library: str
    #: Why a program that imported the library may leave nothing to capture.
    why_unused: str
    #: True if it is known what a running capture holds in main memory for each byte of its file, as `limits` has it.
    growth_tells: bool
    #: None where the cost of events is not known: the capture then goes on whatever it costs.
    event_costs: EventCosts | None

    def environment(self) -> dict[str, Any]:
        """Versions, devices and processor, as the manifest wants them."""

    def start(self, config: dict[str, Any]) -> Any:
        """Start the profiler; returns what the other methods take as `running`."""

    def path(self, out: Path, suffix: str) -> Path:
        """The file of a capture in the folder `out`; `suffix` tells a window, part or process from the first."""

    def stop(self, running: Any, path: Path, *, keep_hostnames: bool) -> Written | None:
        """Stop it and write the capture to `path`; None if the library did nothing that could be captured."""

    def abandon(self, running: Any) -> None:
        """Stop it and lose the capture."""

    def may_stop_here(self, running: Any) -> bool:
        """False if the profiler belongs to another thread, which alone can stop it."""

    def annotation(self, name: str) -> AbstractContextManager[Any]:
        """A range in the capture; one that leaves nothing where the library has none that is cheap."""

    def drain(self, deadline: float) -> None:
        """Wait for device work, until `deadline` of `time.perf_counter` at the latest."""

    def snapshot(self, out: Path, name: str, *, when: str) -> dict[str, Any] | None:
        """Write a snapshot of device memory for a moment, "before" or "after" a window or at a step; its manifest entry."""

    def told_at_end(self) -> list[dict[str, str]]:
        """Notes for the manifest that the library has when the program ends."""

    def process_index(self) -> int:
        """Number of this process among those of a distributed program."""
