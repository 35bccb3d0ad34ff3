"""What the text of a program calls and with what, and what its variables hold, without running any of it."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FrameType, ModuleType
from typing import Any, Generic, TypeVar

_Read = TypeVar("_Read")

#: Letters of a file beyond which its text is not parsed.
_LONGEST_FILE = 400_000

#: The types of arrays and of compiled functions of JAX, by name: its packages need not be imported here.
ARRAYS, COMPILED = ("ArrayImpl", "PRNGKeyArray"), "PjitFunction"

#: Where a module of PyTorch has what its attributes name.
_KEPT = ("_parameters", "_buffers", "_modules")


#: Functions by whose names code may read its own variables, or hand out the dictionary that Python keeps of them.
_READERS = frozenset({"locals", "vars", "dir", "eval", "exec", "f_locals"})

#: Code whose variables somebody else reads.
_shared: set[CodeType] = set()


def variables_of(frame: FrameType) -> dict[str, Any] | None:
    """The variables of a function that another thread is running; None where they can't be read without harm.

    Before Python 3.13, `f_locals` writes them into a dictionary of the frame. The values that this replaces may be the last of their
    kind, and to end an array of JAX lets other threads run: if the frame's thread leaves the function in that moment, Python
    reads memory that is no frame any more, and the program crashes. So the dictionary is emptied again after each look.
    """
    code = frame.f_code
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return frame.f_locals  # A module's own variables, which nothing is written to.
    if sys.version_info >= (3, 13):
        return dict(frame.f_locals)
    if code in _shared or not _READERS.isdisjoint(code.co_names):
        return None
    # Python takes the dictionary from those just freed, and so collects no garbage meanwhile.
    spare: dict[str, Any] | None = {}
    spare = None
    kept = frame.f_locals
    found = dict(kept)
    # The frame, `kept` and the argument.
    if sys.getrefcount(kept) > 3:
        _shared.add(code)
    else:
        kept.clear()
    return found


class SeenFrame:
    """A frame of the program as one look found it. Its variables are read once, for all who ask."""

    def __init__(self, frame: FrameType) -> None:
        """Nothing is read before somebody asks."""
        self.code = frame.f_code
        self.line = frame.f_lineno or 0
        self._frame = frame

    @property
    def others(self) -> dict[str, Any]:
        """The variables of its module."""
        return self._frame.f_globals

    @functools.cached_property
    def names(self) -> dict[str, Any] | None:
        """Its own variables; None where they can't be read, or where a debugger may write the copies back that are made here."""
        return None if self._frame.f_trace is not None else variables_of(self._frame)


class ByCode(Generic[_Read]):
    """What is read of each piece of code, once."""

    def __init__(self, read: Callable[[CodeType], _Read]) -> None:
        """Nothing is read before the first look."""
        self._read = read
        self._known: dict[int, tuple[_Read, CodeType]] = {}

    def __getitem__(self, code: CodeType) -> _Read:
        known = self._known.get(id(code))
        if known is None:
            # The code is kept, so that no other one comes to have its identity.
            known = self._known[id(code)] = (self._read(code), code)
        return known[0]


@functools.cache
def functions_of(file: str) -> dict[tuple[str, int], ast.AST]:
    """The functions of a file by name and first line, as code objects have them; each file is parsed once, for all who ask."""
    text = "".join(linecache.getlines(file))
    if not text or len(text) > _LONGEST_FILE:
        return {}
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[tuple[str, int], ast.AST] = {("<module>", 0): tree}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[node.name, first] = node
    return found


def text_of(code: CodeType) -> ast.AST | None:
    """The text of a piece of code; None where its file is not there or cannot be parsed."""
    return functions_of(code.co_filename).get((code.co_name, 0 if code.co_name == "<module>" else code.co_firstlineno))


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All below `node` that belongs to its own code."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, inner):
            yield child
            yield from own_nodes(child)


def dotted(node: ast.AST) -> tuple[str, ...] | None:
    """`a.b.c` as a tuple; None for anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(names))


def value_of(path: tuple[str, ...], names: dict[str, Any], others: dict[str, Any]) -> Any:
    value = names.get(path[0], others.get(path[0]))
    for name in path[1:]:
        if value is None:
            return None
        value = member_of(value, name)
    return value


def member_of(value: Any, name: str) -> Any:
    """An attribute, without running code of the program."""
    if isinstance(value, ModuleType):
        return vars(value).get(name)
    own = getattr(value, "__dict__", None)
    for kept in _KEPT if isinstance(own, dict) else ():
        if type(members := own.get(kept)) is dict and name in members:
            return members[name]
    return inspect.getattr_static(value, name, None)


def callee_of(path: tuple[str, ...], names: dict[str, Any], others: dict[str, Any]) -> tuple[Any, bool]:
    """What is called, and whether an object comes before its arguments."""
    if len(path) == 1:
        return value_of(path, names, others), False
    owner = value_of(path[:-1], names, others)
    called = None if owner is None else member_of(owner, path[-1])
    is_bound = type(called).__name__ == COMPILED and not isinstance(owner, ModuleType | type)
    return called, is_bound and path[-1] not in getattr(owner, "__dict__", {})


def arrays_of(value: Any, path: str, kinds: tuple[str, ...] = ARRAYS) -> Iterator[tuple[str, Any]]:
    """The arrays of an argument by their paths, as JAX names them; None for what is no array of these `kinds`."""
    inner: Iterable[tuple[str, Any]]
    if type(value).__name__ in kinds:
        yield path, value
        return
    if type(value) is dict:
        inner = [(f"{path}[{key!r}]", one) for key, one in list(value.items())]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        inner = [(f"{path}.{name}", one) for name, one in zip(value._fields, tuple(value), strict=False)]
    elif type(value) in (list, tuple):
        inner = [(f"{path}[{at}]", one) for at, one in enumerate(list(value))]
    elif _is_record(value):
        own = dict(value.__dict__)
        inner = [(f"{path}.{name}", own[name]) for name in type(value).__dataclass_fields__ if name in own]
    else:
        yield path, None
        return
    for name, one in inner:
        yield from arrays_of(one, name, kinds)


def _is_record(value: Any) -> bool:
    """Whether it is a data class, as Flax's and Equinox's trees are, with its members where Python keeps them."""
    kind = type(value)
    return isinstance(kind.__dict__.get("__dataclass_fields__"), dict) and type(getattr(value, "__dict__", None)) is dict
