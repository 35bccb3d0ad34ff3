"""Calls of jitted functions with other arguments: numbers that are traced, arrays that are padded.

Also whether two functions are the same code over the same values, so that one compiled form serves both.
"""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any

from .experiment_traced import is_tracing
from .safely import describe

_SIMPLE = (int, float, bool, str, bytes, complex, type(None))


def equal_function(some: Any, other: Any, depth: int = 6) -> bool:
    """Whether two functions compute the same: one code, and what is around it is the same or equal."""
    if some is other:
        return True
    if depth == 0 or type(some) is not type(other):
        return False
    if isinstance(some, functools.partial):
        some, other = _of_partial(some), _of_partial(other)
    if isinstance(some, _SIMPLE):
        return bool(some == other)
    if isinstance(some, (list, tuple)):
        return len(some) == len(other) and all(equal_function(a, b, depth - 1) for a, b in zip(some, other))
    if isinstance(some, dict):
        return some.keys() == other.keys() and all(equal_function(some[name], other[name], depth - 1) for name in some)
    code = getattr(some, "__code__", None)
    if code is None or code is not getattr(other, "__code__", None) and code != other.__code__:
        return False
    around = lambda function: [cell.cell_contents for cell in function.__closure__ or ()]  # noqa: E731 - one line says it
    try:
        return (
            some.__globals__ is other.__globals__
            and equal_function(some.__defaults__, other.__defaults__, depth - 1)
            and equal_function(some.__kwdefaults__, other.__kwdefaults__, depth - 1)
            and equal_function(around(some), around(other), depth - 1)
        )
    except ValueError:
        # A cell without a value.
        return False


def _of_partial(function: Any) -> list[Any]:
    return [function.func, function.args, function.keywords]


class ChangingJit:
    """A jitted function whose calls are changed; all else of it is as it is."""

    def __init__(self, kind: str, experiment: Any, made: Any, function: Any, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function, updated=())
        self._call = self._traced_numbers if kind == "traced-numbers" else self._padded
        self._experiment = experiment
        self._made = made
        self._function = function
        self._options = options
        self._site = getattr(function, "__qualname__", "jit")
        self._is_off = False
        self._others: dict[Any, Any] = {}
        self._largest: dict[Any, tuple[int, ...]] = {}
        self._shapes: dict[Any, Any] = {}
        self._seen: dict[str, set[Any]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._is_off or is_tracing():
            return self._made(*args, **kwargs)
        return self._call(args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    def _off(self, why: str) -> None:
        self._is_off = True
        self._experiment.could_not(self._site, why)

    # Numbers that are static and change.

    def _traced_numbers(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            bound = inspect.signature(self._function).bind(*args, **kwargs)
            statics = self._statics(list(bound.signature.parameters))
        except (TypeError, ValueError) as error:
            self._off(describe(error))
            return self._made(*args, **kwargs)
        changing = []
        for name in statics:
            value = bound.arguments.get(name)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                seen = self._seen.setdefault(name, set())
                if len(seen) < 8:
                    seen.add(value)
                if len(seen) > 1:
                    changing.append(name)
        key = tuple(changing)
        if not changing or self._others.get(key, True) is None:
            return self._made(*args, **kwargs)
        if key not in self._others:
            rest = [name for name in statics if name not in changing]
            options = {name: value for name, value in self._options.items() if not name.startswith("static_")}
            other = self._experiment.plain_jit(self._function, **options, static_argnames=rest)
            try:
                with self._experiment.clock.excluded():
                    other.lower(*args, **kwargs).compile()
            except Exception as error:  # noqa: BLE001 - it stays static
                self._experiment.could_not(self._site, describe(error))
                self._others[key] = None
                return self._made(*args, **kwargs)
            self._others[key] = other
        self._experiment.did(self._site)
        return self._others[key](*args, **kwargs)

    def _statics(self, parameters: list[str]) -> list[str]:
        names = self._options.get("static_argnames") or ()
        numbers = self._options.get("static_argnums")
        numbers = () if numbers is None else ((numbers,) if isinstance(numbers, int) else tuple(numbers))
        return [*((names,) if isinstance(names, str) else tuple(names)), *(parameters[at] for at in numbers)]

    # Arrays of changing shape.

    def _padded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        jax = sys.modules["jax"]
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        places = [at for at, leaf in enumerate(leaves) if getattr(leaf, "ndim", 0) > 0]
        shapes = {at: tuple(leaves[at].shape) for at in places}
        larger: dict[int, tuple[int, ...]] = {}
        for at, shape in shapes.items():
            known = self._largest.get((at, len(shape)), shape)
            self._largest[at, len(shape)] = larger[at] = tuple(max(a, b) for a, b in zip(known, shape))
        if larger == shapes:
            return self._made(*args, **kwargs)
        try:
            expected = self._expected(jax, tuple(shapes.values()), args, kwargs)
            with_zeros = list(leaves)
            for at in places:
                with_zeros[at] = _with_zeros(leaves[at], larger[at])
            args, kwargs = jax.tree_util.tree_unflatten(tree, with_zeros)
            made = self._made(*args, **kwargs)
            result = jax.tree_util.tree_map(_cut, made, expected)
        except Exception as error:  # noqa: BLE001 - it is called as it is
            self._off(describe(error))
            args, kwargs = jax.tree_util.tree_unflatten(tree, leaves)
            return self._made(*args, **kwargs)
        self._experiment.did(self._site)
        return result

    def _expected(self, jax: Any, shapes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if shapes not in self._shapes:
            with self._experiment.clock.excluded():
                self._shapes[shapes] = self._made.eval_shape(*args, **kwargs)
        return self._shapes[shapes]


def _with_zeros(value: Any, shape: tuple[int, ...]) -> Any:
    """Padded on the host, where it compiles nothing."""
    numpy = sys.modules["numpy"]
    if tuple(value.shape) == shape:
        return value
    found = numpy.zeros(shape, value.dtype)
    found[tuple(slice(0, size) for size in value.shape)] = numpy.asarray(value)
    return found


def _cut(value: Any, expected: Any) -> Any:
    if tuple(value.shape) == tuple(expected.shape):
        return value
    numpy = sys.modules["numpy"]
    return sys.modules["jax"].numpy.asarray(numpy.asarray(value)[tuple(slice(0, size) for size in expected.shape)])
