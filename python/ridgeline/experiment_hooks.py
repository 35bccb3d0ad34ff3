"""What rewritten code calls; each hook gives what the original code would have given.

A hook that cannot make its change says why, once per place, and does what the code said.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .experiment_clock import Run
from .experiment_donate import donating
from .experiment_kept import Kept
from .experiment_late import LateValues
from .experiment_loops import NOTHING, DeviceLoops, prefetched
from .experiment_traced import Traced, is_tracing
from .safely import describe

Site = tuple[str, int]


def named(site: Site) -> str:
    """A place as text."""
    return f"{site[0]}:{site[1]}"


class Hooks:
    """The hooks of one process."""

    NOTHING = NOTHING

    def __init__(self, experiment: Any) -> None:
        self._experiment = experiment
        self._clock = experiment.clock
        self._kept: dict[Site, Kept] = {}
        self._traced: dict[Site, Traced] = {}
        self._late = LateValues(experiment)
        self._loops = DeviceLoops(experiment)

    def module(self, names: dict[str, Any]) -> None:
        """A module of the user's begins."""

    def each(self, site: Site, items: Iterable[Any]) -> Iterator[Any]:
        """The items of a loop, counted."""
        return self._clock.each(site, items)

    def enter(self, site: Site) -> Run | None:
        """A `while` loop begins."""
        return self._clock.enter(site)

    def tick(self, run: Run | None) -> None:
        """An iteration of it begins."""
        self._clock.tick(run)

    def leave(self, run: Run | None) -> None:
        """It ends."""
        self._clock.leave(run)

    def late(self, site: Site, kind: Any, value: Any) -> Any:
        """`float(value)`, `int(value)` or `value.item()`, which may wait until it is used."""
        return self._late.value(named(site), kind, value)

    def print(self, site: Site, *args: Any, **kwargs: Any) -> None:
        """`print`, which may wait until the loop has ended."""
        self._late.print(named(site), *args, **kwargs)

    def donating(self, site: Site, places: tuple[int, ...], function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A call that may have the arguments at `places`, because what it gives is assigned to the same names."""
        return donating(self._experiment, named(site), places, function, args, kwargs)

    def kept(self, site: Site, function: Callable[..., Any], values: tuple[Any, ...], parts: Callable[..., Any]) -> Any:
        """A value that is made again only where what it is made from has changed."""
        if not self._clock.is_inside() or is_tracing():
            return function(*values)
        kept = self._kept.get(site)
        if kept is None:
            kept = self._kept[site] = Kept(self._experiment, named(site))
        return kept.value(function, values, parts)

    def traced(self, site: Site, function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        """An expression as one compiled function."""
        if not self._clock.is_inside() or is_tracing():
            return function(*values)
        traced = self._traced.get(site)
        if traced is None:
            traced = self._traced[site] = Traced(self._experiment, named(site))
        return traced.call(function, values, {})

    def traced_def(self, site: Site) -> Callable[[Any], Any]:
        """A decorator that compiles the function as a whole where it is called outside of any other."""
        return Traced(self._experiment, named(site)).decorate

    def twice(self, site: Site, function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        """The expression, computed twice; the second result is thrown away, and counts."""
        first = function(*values)
        jax = sys.modules.get("jax")
        try:
            if jax is None or not is_tracing():
                function(*values)
            else:
                first = _doubled(jax, function, values, first)
            self._experiment.did(named(site))
        except Exception as error:  # noqa: BLE001 - the first result stands
            self._experiment.could_not(named(site), describe(error))
        return first

    def prefetched(self, site: Site, items: Iterable[Any]) -> Iterable[Any]:
        """The items of a loop, made ahead by a thread."""
        return prefetched(self._experiment, named(site), items)

    def for_on_device(self, site: Site, body: Any, before: tuple[Any, ...], items: Any) -> tuple[Any, ...]:
        """A `for` loop over a range as one loop on the device."""
        return self._loops.run_for(site, body, before, items)

    def while_on_device(self, site: Site, body: Any, before: tuple[Any, ...], condition: Any) -> tuple[Any, ...]:
        """A `while` loop as one loop on the device."""
        return self._loops.run_while(site, body, before, condition)


def _doubled(jax: Any, function: Callable[..., Any], values: tuple[Any, ...], first: Any) -> Any:
    """`first`, which is not there before `function` has been computed a second time.

    A compiler that sees that both are the same, or that one is not used, computes one. So the second has inputs that differ by a zero
    which only running tells, and a choice that only running tells is made between the results.
    """
    lax, numpy = jax.lax, jax.numpy
    is_real = lambda value: isinstance(value, jax.core.Tracer) and numpy.issubdtype(value.dtype, numpy.floating) and value.size  # noqa: E731
    known = [leaf for leaf in jax.tree_util.tree_leaves(values) if is_real(leaf)]
    if not known:
        raise TypeError("the line reads no floating-point array")
    some = lax.stop_gradient(known[0]).reshape(-1)[0]
    # True for every number, and for what is none; equality alone would not be.
    always = (some == some) | (some != some)  # noqa: PLR0124 - see above

    def apart(leaf: Any) -> Any:
        return leaf + numpy.where(always, 0, 1).astype(leaf.dtype) if is_real(leaf) else leaf

    second = function(*jax.tree_util.tree_map(apart, values))

    def both(one: Any, other: Any) -> Any:
        return lax.select(numpy.broadcast_to(always, one.shape), one, other) if isinstance(one, jax.core.Tracer) else one

    return jax.tree_util.tree_map(both, first, second)
