"""Time the conversions of lists to tensors: a thread that looks at the program's stacks cannot, because they keep the interpreter's lock.

`torch.tensor` and `torch.as_tensor` are called through wrappers, which only time calls with a list or tuple.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .own_files import stands_for
from .torch_functions import is_compiling, put_in_place

#: Calls of each function that are timed, and calls from one place that are told.
_MOST_CALLS, _FEWEST = 1 << 16, 8


@dataclass
class _Place:
    """Conversions at one place of the program."""

    frame: list[Any] | None
    of: str
    calls: int = 0
    seconds: float = 0.0
    first: float = 0.0
    last: float = 0.0


class TorchConversions:
    """Times the functions that convert lists."""

    def __init__(self, torch: Any, frame: Callable[[], list[Any] | None]) -> None:
        """`frame` tells the program's own place of a call."""
        self._torch, self._frame = torch, frame
        self._places: dict[tuple[Any, ...], _Place] = {}

    def start(self) -> None:
        """Put the wrappers in the functions' places."""
        for name in ("tensor", "as_tensor"):
            self._hear(name)

    def told(self) -> list[dict[str, Any]]:
        """The conversions by place, with the part that they took of the time from the first to the last; the longest first."""
        found = [
            {
                "of": place.of,
                "calls": place.calls,
                "part": round(min(place.seconds / (place.last - place.first), 1.0), 4),
                "frame": place.frame,
            }
            for place in sorted(self._places.values(), key=lambda place: -place.seconds)
            if place.calls >= _FEWEST and place.last > place.first
        ]
        return found[:8]

    def _hear(self, name: str) -> None:
        torch, function = self._torch, getattr(self._torch, name)
        calls = 0

        @stands_for(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            if is_compiling(torch) or not args or type(args[0]) not in (list, tuple) or not args[0]:
                return function(*args, **kwargs)
            calls += 1
            if calls > _MOST_CALLS and getattr(torch, name, None) is called:
                setattr(torch, name, function)
            began = time.perf_counter()
            result = function(*args, **kwargs)
            self._took(name, args[0], began, time.perf_counter())
            return result

        put_in_place(torch, torch, name, called)

    def _took(self, name: str, value: Any, began: float, ended: float) -> None:
        # The caller tells one place from another; whose it is takes a walk up the stack, once.
        caller = sys._getframe(2)
        key = (name, caller.f_code, caller.f_lasti)
        place = self._places.get(key)
        if place is None:
            frame, first = self._frame(), value[0]
            kind = "NumPy arrays" if type(first).__name__ == "ndarray" else f"{type(first).__name__}s"
            place = self._places[key] = _Place(frame, f"`torch.{name}` of a {type(value).__name__} of {kind}", first=began)
        place.calls += 1
        place.seconds += ended - began
        place.last = ended
