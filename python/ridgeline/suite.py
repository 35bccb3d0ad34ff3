"""Declare a benchmark suite: its operations, sizes, inputs and variants.

A suite file is an ordinary Python file with one module-level `Suite`::

    suite = Suite("blur", sizes=(32, 64))

    @suite.fixture
    def image(size):                    # made once per size, before anything is timed
        return jnp.ones((size, size))

    @suite.operation
    def blur(image):                    # timed; must return what it computed
        return jnp.fft.fft2(image)

Arguments are resolved by name: `size`, `family`, or a fixture.
An operation or fixture declared with `families=("parallel", "cone")` exists once per family, as `parallel_blur` and
`cone_blur`; inside a family the argument `model` means the family's own fixture (`cone_model`) if there is one.

This module only holds declarations. It imports no JAX, times nothing and writes nothing: `bench_worker` does that.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

BUILT_IN_ARGUMENTS = ("size", "family")


class SuiteError(Exception):
    """An invalid suite file: a name declared twice, an unknown fixture, a cycle."""


class NoMatchError(SuiteError):
    """A pattern that matches none of a suite's operations."""

    def __init__(self, pattern: str, suite: str, operations: list[str]) -> None:
        """`operations` are the names that there are."""
        super().__init__(f"no operation of suite {suite!r} matches {pattern!r}")
        self.pattern = pattern
        self.operations = operations


@dataclass(frozen=True)
class Declared:
    """One operation or fixture of one family (`family` is None outside families)."""

    name: str
    function: Callable[..., Any]
    needs: tuple[str, ...]
    family: str | None
    part_of: str | None = None


class Suite:
    """A named set of operations over a list of sizes. Operations run in the order they are declared."""

    def __init__(self, name: str, *, sizes: Sequence[int] = (32, 64, 128, 256)) -> None:
        self.name = name
        self.sizes = tuple(sizes)
        self.operations: dict[str, Declared] = {}
        self.fixtures: dict[str, Declared] = {}
        self.variants: dict[str, Mapping[str, str]] = {}
        self.before_each_run: list[Callable[[], None]] = []
        #: Pairs of operations that do the same work: how much longer the first takes is printed.
        self.ratios: list[tuple[str, str]] = []

    def operation(self, function: Callable[..., Any] | None = None, /, *, name: str | None = None,
                  families: Sequence[str] = (), part_of: str | None = None) -> Callable[..., Any]:
        """Declare an operation. Its result is waited for inside the timed region, so it must return its results.

        `part_of` names the operation that it is a part of, by which shares are counted.
        """
        return self._declare(self.operations, function, name, families, part_of)

    def fixture(self, function: Callable[..., Any] | None = None, /, *, name: str | None = None,
                families: Sequence[str] = ()) -> Callable[..., Any]:
        """Declare an input, made at its first use for a size, kept for that size, and never part of a measured time."""
        return self._declare(self.fixtures, function, name, families)

    def before_each(self, function: Callable[[], None]) -> Callable[[], None]:
        """Call `function` before every run of every operation, outside the timed region (seeds, for example)."""
        self.before_each_run.append(function)
        return function

    def ratio(self, slower: str, faster: str) -> None:
        """Report the time of operation `slower` as a multiple of that of `faster`."""
        self.ratios.append((slower, faster))

    def parts(self) -> dict[str, str]:
        """Of each operation that is a part of another, that other.

        Raises `SuiteError` where there is no such operation.
        """
        found = {name: declared.part_of for name, declared in self.operations.items() if declared.part_of is not None}
        for name in [*found.values(), *(name for pair in self.ratios for name in pair)]:
            if name not in self.operations:
                raise SuiteError(f"no operation is named {name!r}")
        return found

    def variant(self, name: str, *, env: Mapping[str, str]) -> None:
        """Declare a variant: environment variables that are set before the suite's process starts."""
        if name in self.variants:
            raise SuiteError(f"variant {name!r} is declared twice")
        self.variants[name] = MappingProxyType(dict(env))

    def select(self, patterns: Iterable[str] = ()) -> list[str]:
        """Names of the operations that match any shell pattern, in declaration order; all of them for no pattern.

        Raises `NoMatchError` for a pattern that matches nothing: a misspelt name must not look like a passed benchmark.
        """
        patterns = list(patterns) or ["*"]
        for pattern in patterns:
            if not fnmatch.filter(self.operations, pattern):
                raise NoMatchError(pattern, self.name, list(self.operations))
        return [name for name in self.operations if any(fnmatch.fnmatchcase(name, p) for p in patterns)]

    def _declare(self, table: dict[str, Declared], function: Callable[..., Any] | None, name: str | None,
                 families: Sequence[str], part_of: str | None = None) -> Callable[..., Any]:
        if function is None:
            return lambda later: self._declare(table, later, name, families, part_of)
        base = name or function.__name__
        needs = tuple(inspect.signature(function).parameters)
        for family in families or (None,):
            full = f"{family}_{base}" if family else base
            if full in table or full in BUILT_IN_ARGUMENTS:
                raise SuiteError(f"{full!r} is declared twice")
            table[full] = Declared(full, function, needs, family, part_of)
        return function


class Inputs:
    """The fixtures of one suite at one size, made on demand and kept."""

    def __init__(self, suite: Suite, size: int) -> None:
        self._suite = suite
        self._size = size
        self._made: dict[str, Any] = {}
        self._failed: dict[str, Exception] = {}
        self._being_made: list[str] = []

    def arguments(self, declared: Declared) -> dict[str, Any]:
        """The arguments that `declared` asks for, by name.

        Raises `FixtureError` when a fixture fails; it fails again at once for the next operation that needs it.
        """
        return {need: self._value(need, declared.family) for need in declared.needs}

    def _value(self, need: str, family: str | None) -> Any:
        if need == "size":
            return self._size
        if need == "family":
            return family
        own = f"{family}_{need}"
        name = own if family and own in self._suite.fixtures else need
        if name not in self._suite.fixtures:
            raise SuiteError(f"no fixture is named {need!r}")
        if name in self._failed:
            raise FixtureError(name, self._failed[name])
        if name not in self._made:
            self._make(self._suite.fixtures[name])
        return self._made[name]

    def _make(self, declared: Declared) -> None:
        if declared.name in self._being_made:
            raise SuiteError(f"fixtures need each other: {' -> '.join([*self._being_made, declared.name])}")
        self._being_made.append(declared.name)
        try:
            self._made[declared.name] = declared.function(**self.arguments(declared))
        except (SuiteError, FixtureError):
            raise
        except Exception as error:
            self._failed[declared.name] = error
            raise FixtureError(declared.name, error) from error
        finally:
            self._being_made.pop()


class FixtureError(Exception):
    """An input could not be made; says which one and why."""

    def __init__(self, fixture: str, cause: Exception) -> None:
        super().__init__(f"fixture {fixture!r}: {type(cause).__name__}: {cause}")


def load_suite(path: Path) -> Suite:
    """Run a suite file and return the `Suite` in it.

    Raises `SuiteError` unless the file holds exactly one.
    """
    spec = importlib.util.spec_from_file_location(f"ridgeline_suite_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise SuiteError(f"not a Python file: {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [value for value in vars(module).values() if isinstance(value, Suite)]
    if len(found) != 1:
        raise SuiteError(f"expected one Suite in the file, found {len(found)}: {path}")
    return found[0]
