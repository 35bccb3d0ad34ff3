"""The user's functions and expressions, traced and compiled from outside.

Arrays and floating-point numbers are arguments of the compiled function; everything else is part of what it is compiled for, and a
change of it compiles anew.
A function that cannot be traced runs as it is.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from .safely import describe

#: A function that is compiled for more than this is left alone.
_MOST_FORMS = 12
_SIMPLE = (int, bool, str, bytes, type(None), complex)


def is_tracing() -> bool:
    """Whether a function of JAX is traced right now, or nothing of JAX is there."""
    jax = sys.modules.get("jax")
    core = sys.modules.get("jax._src.core")
    if jax is None or core is None:
        return False
    return not core.trace_state_clean()


class Traced:
    """One function or expression of the user's."""

    def __init__(self, experiment: Any, site: str) -> None:
        self._experiment = experiment
        self._site = site
        self._forms: dict[Any, Any] = {}
        self._is_off = False

    def decorate(self, function: Any) -> Any:
        """`function`, compiled where it is called outside of any other."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self.call(function, args, kwargs)

        return call

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What `function` gives."""
        jax = sys.modules.get("jax")
        if self._is_off or jax is None or is_tracing():
            return function(*args, **kwargs)
        try:
            form, values = self._form(jax, function, args, kwargs)
        except Exception as error:  # noqa: BLE001 - it runs as it is
            self._off(describe(error))
            form = None
        if form is None:
            return function(*args, **kwargs)
        self._experiment.did(self._site)
        return form(*values)

    def _off(self, why: str) -> None:
        self._is_off = True
        self._experiment.could_not(self._site, why)

    def _form(self, jax: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        places = [at for at, leaf in enumerate(leaves) if _is_value(jax, leaf)]
        if not any(isinstance(leaves[at], jax.Array) for at in places):
            return None, []
        others = tuple(_key(leaf) for at, leaf in enumerate(leaves) if at not in places)
        values = [leaves[at] for at in places]
        shapes = tuple((getattr(value, "shape", ()), str(getattr(value, "dtype", "float"))) for value in values)
        key = (tree, tuple(places), others, shapes, _globals_of(jax, function))
        form = self._forms.get(key)
        if form is None:
            if len(self._forms) >= _MOST_FORMS:
                self._off(f"it would be compiled for more than {_MOST_FORMS} kinds of arguments")
                return None, []
            form = self._forms[key] = self._compiled(jax, function, leaves, tree, places, values)
        return form, values

    def _compiled(self, jax: Any, function: Any, leaves: list[Any], tree: Any, places: list[int], values: list[Any]) -> Any:
        fixed = [None if at in set(places) else leaf for at, leaf in enumerate(leaves)]

        def whole(*values: Any) -> Any:
            filled = list(fixed)
            for at, value in zip(places, values):
                filled[at] = value
            args, kwargs = jax.tree_util.tree_unflatten(tree, filled)
            return function(*args, **kwargs)

        form = jax.jit(whole)
        with self._experiment.clock.excluded():
            form.lower(*values).compile()
            form(*values)
        return form


def _is_value(jax: Any, leaf: Any) -> bool:
    if isinstance(leaf, (jax.Array, float)):
        return True
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(leaf, (numpy.ndarray, numpy.generic)) and leaf.dtype.kind in "fciub"


def _key(leaf: Any) -> Any:
    if isinstance(leaf, _SIMPLE):
        return (type(leaf), leaf)
    # What an object holds may be replaced while it stays the same object.
    inside = getattr(leaf, "__dict__", None)
    holds = tuple(sorted((name, id(value)) for name, value in inside.items())) if isinstance(inside, dict) else ()
    return (id(leaf), holds if len(holds) < 100 else ())


def _globals_of(jax: Any, function: Any) -> tuple[Any, ...]:
    """Arrays that a function reads from around it: compiled into it, so another array is another function."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ()
    around = getattr(function, "__globals__", {})
    found = [id(around[name]) for name in code.co_names if isinstance(around.get(name), jax.Array)]
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        found.append(id(content) if not isinstance(content, _SIMPLE) else hash(content))
    return tuple(found)
