"""Loops of Python as loops on the device, and loops whose next items a thread makes ahead."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from .experiment_traced import is_tracing
from .safely import describe

#: A name that has no value before the loop.
NOTHING = object()
#: Shorter loops stay as they are.
_SHORTEST = 4
#: Items that are made ahead.
_AHEAD = 2


class DeviceLoops:
    """Loops that only compute values of names."""

    def __init__(self, experiment: Any) -> None:
        self._experiment = experiment
        self._clock = experiment.clock
        self._forms: dict[Any, Any] = {}
        self._off: set[Any] = set()

    def run_for(self, site: Any, body: Any, values: tuple[Any, ...], items: Any) -> tuple[Any, ...]:
        """`for i in items: values = body(i, *values)`."""
        run = None if is_tracing() else self._clock.enter(site)
        try:
            if run is None or not isinstance(items, range) or len(items) < _SHORTEST or site in self._off:
                return self._all(run, body, values, items)
            # The first one gives every name a value, of the type that it keeps.
            values = self._all(run, body, values, items[:1])
            done = self._on_device(site, body, values, items[1:])
            if done is None:
                return self._all(run, body, values, items[1:])
            return self._counted(run, done, len(items) - 1)
        finally:
            self._clock.leave(run)

    def run_while(self, site: Any, body: Any, values: tuple[Any, ...], condition: Any) -> tuple[Any, ...]:
        """`while condition(*values): values = body(*values)`."""
        run = None if is_tracing() else self._clock.enter(site)
        try:
            if run is None or site in self._off:
                while condition(*values):
                    self._clock.tick(run)
                    values = body(*values)
                return values
            if not condition(*values):
                return values
            self._clock.tick(run)
            values = body(*values)
            done = self._while_on_device(site, body, values, condition)
            if done is not None:
                return done
            while condition(*values):
                self._clock.tick(run)
                values = body(*values)
            return values
        finally:
            self._clock.leave(run)

    def _all(self, run: Any, body: Any, values: tuple[Any, ...], items: Any) -> tuple[Any, ...]:
        for item in items:
            self._clock.tick(run)
            values = body(item, *values)
        return values

    def _counted(self, run: Any, done: tuple[tuple[Any, ...], Any], iterations: int) -> tuple[Any, ...]:
        values, call = done
        self._clock.tick(run)
        values = call(values)
        self._clock.tick(run, iterations - 1)
        return values

    def _on_device(self, site: Any, body: Any, values: tuple[Any, ...], items: range) -> Any:
        jax = sys.modules["jax"]

        def form(values: Any, start: Any, stop: Any, step: int) -> Any:
            return jax.lax.fori_loop(0, stop, lambda at, carried: self._like(jax, body(start + at * step, *carried), carried), values)

        try:
            compiled = self._compiled(jax, site, form, values, (items.start, len(items), items.step), static=(3,))
        except Exception as error:  # noqa: BLE001 - the loop stays in Python
            self._leave(site, describe(error))
            return None
        self._experiment.did(f"{site[0]}:{site[1]}", len(items))
        return values, lambda values: compiled(values, items.start, len(items), items.step)

    def _while_on_device(self, site: Any, body: Any, values: tuple[Any, ...], condition: Any) -> Any:
        jax = sys.modules["jax"]

        def form(values: Any) -> Any:
            return jax.lax.while_loop(lambda carried: condition(*carried), lambda carried: self._like(jax, body(*carried), carried), values)

        try:
            compiled = self._compiled(jax, site, form, values, ())
        except Exception as error:  # noqa: BLE001 - the loop stays in Python
            self._leave(site, describe(error))
            return None
        self._experiment.did(f"{site[0]}:{site[1]}")
        return compiled(values)

    def _compiled(self, jax: Any, site: Any, form: Any, values: Any, more: tuple[Any, ...], static: tuple[int, ...] = ()) -> Any:
        leaves = jax.tree_util.tree_leaves(values)
        if not leaves or not all(isinstance(leaf, (jax.Array, float, int)) for leaf in leaves):
            raise TypeError("the loop carries values other than arrays")
        # The body closes over what is around the loop, which may differ the next time.
        key = (site, tuple((str(getattr(leaf, "dtype", type(leaf))), getattr(leaf, "shape", ())) for leaf in leaves), _around(form))
        compiled = self._forms.get(key)
        if compiled is None:
            compiled = jax.jit(form, static_argnums=static)
            with self._clock.excluded():
                compiled.lower(values, *more).compile()
            self._forms[key] = compiled
        return compiled

    def _like(self, jax: Any, new: Any, old: Any) -> Any:
        """A loop on the device carries the same types all the way."""
        return jax.tree_util.tree_map(lambda a, b: jax.numpy.asarray(a).astype(jax.numpy.asarray(b).dtype), tuple(new), tuple(old))

    def _leave(self, site: Any, why: str) -> None:
        self._off.add(site)
        self._experiment.could_not(f"{site[0]}:{site[1]}", why)


def _around(function: Any, depth: int = 3) -> tuple[Any, ...]:
    """What a function closes over: simple values by themselves, all else by identity."""
    found: list[Any] = []
    for cell in getattr(function, "__closure__", None) or ():
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        if isinstance(content, (int, float, str, bool)):
            found.append(content)
        elif depth and hasattr(content, "__code__"):
            found.append((content.__code__, _around(content, depth - 1)))
        elif not isinstance(content, DeviceLoops):
            found.append(id(content))
    return tuple(found)


def prefetched(experiment: Any, site: str, items: Iterable[Any]) -> Iterable[Any]:
    """The same items, made ahead by a thread; collections that are there already stay as they are."""
    if isinstance(items, (range, list, tuple, dict, set, str)) or is_tracing():
        return items
    if hasattr(items, "__array__") or threading.current_thread() is not threading.main_thread():
        return items
    experiment.did(site)
    return _ahead(items)


def _ahead(items: Iterable[Any]) -> Iterator[Any]:
    made: queue.Queue[tuple[str, Any]] = queue.Queue(_AHEAD)
    is_over = threading.Event()

    def make() -> None:
        try:
            for item in items:
                while not is_over.is_set():
                    try:
                        made.put(("item", item), timeout=0.1)
                        break
                    except queue.Full:
                        continue
                if is_over.is_set():
                    return
            made.put(("end", None))
        except BaseException as error:  # noqa: BLE001 - it is raised where the item would have been
            made.put(("error", error))

    threading.Thread(target=make, name="ridgeline-prefetch", daemon=True).start()
    try:
        while True:
            kind, value = made.get()
            if kind == "end":
                return
            if kind == "error":
                raise value
            yield value
    finally:
        is_over.set()
