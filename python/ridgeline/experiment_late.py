"""Numbers of device arrays that are fetched when they are used, and not when they are asked for.

`float(loss)` gives something that becomes the number where it is added, compared, formatted or converted, so a list of such waits for
nothing, and everything that is computed or printed is the same.
Code that looks at the type, or that is written in C and takes nothing but a float, fails; then the change does not apply.
"""

from __future__ import annotations

import builtins
import operator
import sys
from typing import Any

#: Prints that wait at most.
_MOST_PRINTS = 100_000


class Late:
    """A number that is not fetched yet."""

    __slots__ = ("_array", "_kind", "_value")

    def __init__(self, array: Any, kind: Any) -> None:
        self._array = array
        self._kind = kind
        self._value: Any = None

    def fetched(self) -> Any:
        """The number."""
        if self._array is not None:
            self._value = self._array.item() if self._kind == "item" else self._kind(self._array)
            self._array = None
        return self._value

    def __float__(self) -> float:
        return float(self.fetched())

    def __int__(self) -> int:
        return int(self.fetched())

    def __index__(self) -> int:
        return operator.index(self.fetched())

    def __bool__(self) -> bool:
        return bool(self.fetched())

    def __repr__(self) -> str:
        return repr(self.fetched())

    def __str__(self) -> str:
        return str(self.fetched())

    def __format__(self, form: str) -> str:
        return format(self.fetched(), form)

    def __hash__(self) -> int:
        return hash(self.fetched())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        numpy = sys.modules["numpy"]
        return numpy.asarray(self.fetched(), dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fetched(), name)


def _plain(value: Any) -> Any:
    return value.fetched() if isinstance(value, Late) else value


def _arithmetic(name: str) -> None:
    function = getattr(operator, name)
    setattr(Late, f"__{name}__", lambda self, other: function(self.fetched(), _plain(other)))
    if name not in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Late, f"__r{name}__", lambda self, other: function(_plain(other), self.fetched()))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge"):
    _arithmetic(_name)
for _name in ("neg", "pos", "abs"):
    setattr(Late, f"__{_name}__", lambda self, _function=getattr(operator, _name): _function(self.fetched()))
Late.__round__ = lambda self, *digits: round(self.fetched(), *digits)  # type: ignore[attr-defined]


class LateValues:
    """Makes numbers and prints late while a loop runs."""

    def __init__(self, experiment: Any) -> None:
        self._experiment = experiment
        self._prints: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        experiment.clock.ended.append(self.flush)

    def value(self, site: str, kind: Any, value: Any) -> Any:
        """What `kind(value)` gives, now or later."""
        if is_traced(value):
            return value.item() if kind == "item" else (value if self._experiment.change == "device-loop" else kind(value))
        if self._experiment.change == "late" and is_on_device(value) and self._experiment.clock.is_inside():
            self._experiment.did(site)
            return Late(value, kind)
        return value.item() if kind == "item" else kind(_plain(value))

    def print(self, site: str, *args: Any, **kwargs: Any) -> None:
        """Print when the loop has ended."""
        is_usual = not set(kwargs) - {"sep", "end", "flush"}
        if not (is_usual and self._experiment.change == "late" and self._experiment.clock.is_inside()):
            # What was printed before must stay before.
            self.flush()
            builtins.print(*args, **kwargs)
            return
        self._experiment.did(site)
        self._prints.append((args, kwargs))
        if len(self._prints) >= _MOST_PRINTS:
            self.flush()

    def flush(self) -> None:
        """Print what waits."""
        waiting, self._prints = self._prints, []
        for args, kwargs in waiting:
            builtins.print(*args, **kwargs)


def is_on_device(value: Any) -> bool:
    """Whether a value is an array of JAX or PyTorch."""
    jax, torch = sys.modules.get("jax"), sys.modules.get("torch")
    if jax is not None and isinstance(value, jax.Array):
        return True
    return torch is not None and hasattr(torch, "Tensor") and isinstance(value, torch.Tensor)


def is_traced(value: Any) -> bool:
    """Whether a value is an array of JAX that is traced."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.core.Tracer)
