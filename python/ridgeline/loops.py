"""What the loops of a program go over, and whether their turns need each other, as its text tells."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import NamedTuple

from .program_text import dotted, functions_of

#: Letters that are kept of what a loop goes over.
_LONGEST_LOOP = 120


class Loop(NamedTuple):
    """A `for` of a program."""

    #: The first line of what it repeats.
    first: int = 0
    last: int = 0
    #: What it goes over: `model.parameters()`; empty where there is no loop.
    over: str = ""
    #: Whether no turn of it needs a result of the turns before, as far as its text tells.
    is_apart: bool = False


@functools.cache
def _loops_of(file: str) -> list[Loop]:
    found = []
    module = functions_of(file).get(("<module>", 0))
    for node in ast.walk(module) if module else ():
        if isinstance(node, ast.For):
            over = ast.unparse(node.iter)[:_LONGEST_LOOP]
            found.append(Loop(node.body[0].lineno, node.body[-1].end_lineno or 0, over, has_turns_apart(node)))
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            over = ast.unparse(node.generators[0].iter)[:_LONGEST_LOOP]
            found.append(Loop(node.lineno, node.end_lineno or 0, over, is_apart=True))
        elif isinstance(node, ast.While):
            found.append(Loop(node.body[0].lineno, node.body[-1].end_lineno or 0))
    return found


def loop_around(file: str, line: int) -> tuple[Loop, int]:
    """The innermost `for` around a line of a file, and how many loops are around it, `while` as well."""
    around = [loop for loop in _loops_of(file) if loop.first <= line <= loop.last]
    named = (loop for loop in around if loop.over)
    return min(named, key=lambda loop: loop.last - loop.first, default=Loop()), len(around)


#: What steps that follow each other call: each changes what the next one starts from.
_STEPS = frozenset({"step", "backward", "zero_grad", "pop", "popleft", "next", "send"})


def has_turns_apart(loop: ast.For) -> bool:
    """Whether no turn of a loop reads what another one wrote, other than to add to it: as its text tells, without what it calls."""
    read, written = set[str](), set[str]()
    # What the loop itself names is new in each turn.
    new = _names(loop.target)
    for statement in loop.body:
        for node in _in_order(statement, new):
            if isinstance(node, ast.Break | ast.Return | ast.While | ast.Yield | ast.Await):
                return False
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _STEPS:
                return False
            name = _stored(node)
            if name is None:
                continue
            if isinstance(node.ctx, ast.Load):
                read |= {name} - written - new
            elif name not in new:
                written.add(name)
    # `out[i] = …` and `total += …` only collect; read anywhere else, the variable carries something.
    return read.isdisjoint(written | _collected(loop))


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _stored(node: ast.AST) -> str | None:
    """The variable or attribute that a node names by itself."""
    return ".".join(dotted(node) or ()) or None if isinstance(node, ast.Name | ast.Attribute) else None


def _in_order(node: ast.AST, own: set[str]) -> Iterator[ast.AST]:
    """All nodes in the order in which Python evaluates them, without the targets of additions and of elements, and without
    what has an element of its own for each turn: `models[i]`, where `own` names what the loop does."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id in own and _stored(node.value):
        yield node
        return
    if (sum_of := _sum_of(node)) is not None:
        yield from _in_order(sum_of[1], own)
        return
    if isinstance(node, ast.Assign | ast.AnnAssign):
        if node.value is not None:
            yield from _in_order(node.value, own)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from _of_target(target, own)
        return
    if isinstance(node, ast.AugAssign):
        yield from _in_order(node.value, own)
        yield from _of_target(node.target, own, is_added=True)
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _collector(node.value) is not None:
        for argument in node.value.args:
            yield from _in_order(argument, own)
        return
    yield node
    if isinstance(node, ast.For):
        yield from _in_order(node.iter, own)
        yield from ast.walk(node.target)
        for statement in [*node.body, *node.orelse]:
            yield from _in_order(statement, own)
        return
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child, own)


def _sum_of(node: ast.AST) -> tuple[str, ast.AST] | None:
    """The variable that a statement adds to, and what: `total = total + loss`."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
        name = _stored(node.targets[0])
        for one, other in ((node.value.left, node.value.right), (node.value.right, node.value.left)):
            if name is not None and _stored(one) == name:
                return name, other
    return None


def _of_target(target: ast.AST, own: set[str], *, is_added: bool = False) -> Iterator[ast.AST]:
    if isinstance(target, ast.Subscript):
        yield from _in_order(target.slice, own)
    elif isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from _of_target(one, own)
    elif not is_added:
        yield target


def _collector(call: ast.Call) -> str | None:
    """What a call adds something to: `losses` of `losses.append(loss)`."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "extend", "add", "add_"):
        return _stored(call.func.value)
    return None


def _collected(loop: ast.For) -> set[str]:
    """What a loop only adds to, or writes elements of."""
    found = set[str]()
    for node in ast.walk(loop):
        targets: list[ast.AST] = []
        if (sum_of := _sum_of(node)) is not None:
            found.add(sum_of[0])
        elif isinstance(node, ast.Assign):
            targets = [target.value for target in node.targets if isinstance(target, ast.Subscript)]
        elif isinstance(node, ast.AugAssign):
            targets = [node.target.value if isinstance(node.target, ast.Subscript) else node.target]
        elif isinstance(node, ast.Call) and (added := _collector(node)) is not None:
            found.add(added)
        found |= {name for target in targets if (name := _stored(target)) is not None}
    return found
