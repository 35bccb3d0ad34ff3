"""Name a function as a region, and an array as a result of the program.

`region("name")(f)` is `f` as a jitted function with that name; `result("name", array)` returns its array.
Without Ridgeline, they do nothing else.
Under `ridgeline record`, a region's code becomes a separate module, for `ridgeline handoff`, and `--golden name` saves its inputs and
outputs.
Under `ridgeline handoff emulate`, other code replaces the region, and results are compared.

    import jax, ridgeline

    @ridgeline.region("smooth")
    def smooth(volume):
        ...

    ridgeline.result("reconstruction", volume)

Inputs and outputs are arrays, in any tree of tuples, lists and dictionaries; name other arguments with `static_argnames`, as for
`jax.jit`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, overload

Function = TypeVar("Function", bound=Callable[..., Any])

#: The package as it is called where Ridgeline itself put it into the process.
_HARNESS = "_ridgeline_harness"


class Listener(Protocol):
    """What regions and results do in this process."""

    def traced(self, region: Region, args: tuple[Any, ...], kwargs: dict[str, Any], *, inside: bool) -> Any:
        """What the region is compiled to; `inside` another jitted function, or by itself."""

    def called(self, region: Region, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of a call from outside of any jitted function."""

    def result(self, name: str, array: Any) -> None:
        """The program marked `array` as its result."""


#: Set by the harness, in its own copy of this module.
listener: Listener | None = None


def current() -> Listener | None:
    """The listener of this process, if there is one."""
    harness = sys.modules.get(f"{_HARNESS}.regions")
    return getattr(harness, "listener", None) or listener


class Region:
    """A function with a name for tools."""

    def __init__(self, name: str, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.name = name
        self.function = function
        self._options = options
        self._jitted: dict[bool, Callable[..., Any]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        jax = sys.modules.get("jax")
        if jax is None:
            return self.function(*args, **kwargs)
        if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree_util.tree_leaves((args, kwargs))):
            return self.jitted(inside=True)(*args, **kwargs)
        hears = current()
        return hears.called(self, args, kwargs) if hears else self.jitted(inside=False)(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def jitted(self, *, inside: bool) -> Callable[..., Any]:
        """The region as a jitted function; one for calls inside of others, one for calls from outside."""
        if inside not in self._jitted:

            def body(*args: Any, **kwargs: Any) -> Any:
                hears = current()
                return hears.traced(self, args, kwargs, inside=inside) if hears else self.function(*args, **kwargs)

            functools.update_wrapper(body, self.function)
            body.__name__ = body.__qualname__ = self.name
            # Nothing is left out of what goes in, so that the module has the function's own arguments.
            self._jitted[inside] = sys.modules["jax"].jit(body, keep_unused=True, **self._options)
        return self._jitted[inside]


@overload
def region(name: Function) -> Function: ...


@overload
def region(name: str, **options: Any) -> Callable[[Function], Function]: ...


def region(name: Any, **options: Any) -> Any:
    """Mark a function as a region: `@region("smooth")`, or `@region` to use the function's own name.

    `options` are those of `jax.jit`, such as `static_argnames`.
    Raises ValueError unless the name has only letters, digits and `_`.
    """
    if callable(name):
        return region(getattr(name, "__name__", ""), **options)(name)
    if not name.isidentifier():
        raise ValueError(f"expected a name of letters, digits and _, found {name!r}")

    def named(function: Function) -> Function:
        return Region(name, function, options)  # type: ignore[return-value]

    return named


def result(name: str, array: Any) -> Any:
    """Mark `array` as a program result to compare against; returns `array`."""
    hears = current()
    if hears is not None:
        hears.result(name, array)
    return array
