"""The syntax of one module with a change in it.

Loops are counted in any case. Everything else belongs to one change, and what the new calls do is in `experiment_hooks`: here is only
where they stand.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

from .experiment_source import Rewrite

#: The name of the hooks.
HOOKS = "__ridgeline__"

#: Changes of every expression that is assigned or returned.
_OF_VALUES = {"constants-kept": "kept", "jit-line": "traced"}
#: Changes of every function.
_OF_FUNCTIONS = {"jit-function": "traced_def"}
#: Expressions that cannot be moved into a function.
_IMMOVABLE = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Starred)


def rewritten(source: bytes, path: str, rewrite: Rewrite) -> ast.Module:
    """The tree of the module, with the change; raises SyntaxError where the module does not parse."""
    tree = ast.parse(source, path)
    changed = _Rewriter(path, rewrite).visit(tree)
    at = 0
    while at < len(changed.body) and (_is_doc(changed.body[at]) or _is_future(changed.body[at])):
        at += 1
    # A main file has no spec, as if Python had run it without a loader.
    first = ast.parse(f"if __name__ == '__main__': __spec__ = None\n{HOOKS}.module(globals())").body
    line = changed.body[at].lineno if at < len(changed.body) else 1
    for node in first:
        for child in ast.walk(node):
            if hasattr(child, "lineno"):
                child.lineno = child.end_lineno = line
    changed.body[at:at] = first
    return ast.fix_missing_locations(changed)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, path: str, rewrite: Rewrite) -> None:
        self._path = path
        self._change = rewrite.change
        self._lines = rewrite.lines(path)
        self._count = 0
        self._depth = 0

    # Loops.

    def visit_For(self, node: ast.For) -> Any:
        whole = self._on_device(node)
        if whole is not None:
            return whole
        prefetched = self._change == "prefetch" and self._is_here(node, body=False)
        self.generic_visit(node)
        if prefetched:
            node.iter = self._call("prefetched", [self._site(node), node.iter], node)
        node.iter = self._call("each", [self._site(node), node.iter], node)
        return node

    def visit_While(self, node: ast.While) -> Any:
        whole = self._on_device(node)
        if whole is not None:
            return whole
        self.generic_visit(node)
        name = self._name("loop")
        enter = ast.Assign([ast.Name(name, ast.Store())], self._call("enter", [self._site(node)], node))
        node.body.insert(0, ast.Expr(self._call("tick", [ast.Name(name, ast.Load())], node)))
        leave = ast.Expr(self._call("leave", [ast.Name(name, ast.Load())], node))
        guarded = ast.Try(body=[node], handlers=[], orelse=[], finalbody=[leave])
        return [ast.copy_location(enter, node), ast.copy_location(guarded, node)]

    def _on_device(self, node: ast.For | ast.While) -> Any:
        """The loop as one call with its body as a function; None where it has another form, or that is not asked for."""
        if self._change != "device-loop" or node.orelse or not _is_plain(node.body):
            return None
        if isinstance(node, ast.For) and not isinstance(node.target, ast.Name):
            return None
        assigned = sorted({name.id for one in node.body for name in ast.walk(one) if _is_store(name)})
        index = node.target.id if isinstance(node, ast.For) else None
        carried = [name for name in assigned if name != index]
        if not carried or index in assigned:
            return None
        body, name = [*node.body], self._name("body")
        values = ast.Tuple([ast.Name(one, ast.Load()) for one in carried], ast.Load())
        parameters = [ast.arg(one) for one in ([index] if index else []) + carried]
        function = ast.FunctionDef(name, _arguments(parameters), [*body, ast.Return(values)], [])
        if hasattr(ast.FunctionDef("f", _arguments([]), [], []), "type_params") or "type_params" in ast.FunctionDef._fields:
            function.type_params = []
        floats = _Late(self)
        function = floats.visit(function)
        # A name that the loop itself defines has no value before it.
        before = [
            ast.parse(f"locals().get({one!r}, globals().get({one!r}, {HOOKS}.NOTHING))", mode="eval").body for one in carried
        ]
        store = ast.Tuple([ast.Name(one, ast.Store()) for one in carried], ast.Store())
        arguments: list[ast.expr] = [self._site(node), ast.Name(name, ast.Load()), ast.Tuple(before, ast.Load())]
        if isinstance(node, ast.For):
            call = self._call("for_on_device", [*arguments, node.iter], node)
        else:
            condition = ast.Lambda(_arguments([ast.arg(one) for one in carried]), floats.visit(node.test))
            call = self._call("while_on_device", [*arguments, condition], node)
        new = [ast.copy_location(function, node), ast.copy_location(ast.Assign([store], call), node)]
        return [ast.fix_missing_locations(one) for one in new]

    # Functions.

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        is_meant = self._change in _OF_FUNCTIONS and self._is_here(node) and not _is_generator(node)
        is_plain = not node.decorator_list and node.name != "main" and not _has_loops_over_data(node)
        self.generic_visit(node)
        if is_meant and is_plain:
            hook = _OF_FUNCTIONS[self._change or ""]
            node.decorator_list = [self._call(hook, [self._site(node)], node)]
        return node

    # Values.

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        if self._change == "donate":
            node.value = self._donating(node)
        else:
            node.value = self._value(node, node.value)
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        if node.value is not None and self._change == "twice":
            node.value = self._value(node, node.value)
        return node

    def _value(self, node: ast.stmt, value: ast.expr) -> ast.expr:
        hook = _OF_VALUES.get(self._change or "")
        if self._change == "twice" and self._is_here(node):
            hook = "twice"
        if hook is None or isinstance(value, (ast.Constant, ast.Name, ast.Lambda)) or not _is_movable(value):
            return value
        if hook != "twice" and not any(isinstance(one, (ast.Call, ast.BinOp)) for one in ast.walk(value)):
            return value
        names = _read_names(value)
        function = ast.Lambda(_arguments([ast.arg(name) for name in names]), value)
        values = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
        return self._call(hook, [self._site(node), function, values, *self._parts(hook, value, names)], node)

    def _parts(self, hook: str, value: ast.expr, names: list[str]) -> list[ast.expr]:
        """For values that are kept: the attributes that they are made from, which may change while their object does not."""
        if hook != "kept":
            return []
        chains = {ast.unparse(one): one for one in ast.walk(value) if isinstance(one, ast.Attribute) and _is_chain(one)}
        called = {ast.unparse(one.func) for one in ast.walk(value) if isinstance(one, ast.Call)}
        read = [ast.parse(text, mode="eval").body for text in sorted(chains) if text not in called]
        return [ast.Lambda(_arguments([ast.arg(name) for name in names]), ast.Tuple(read, ast.Load()))]

    def _donating(self, node: ast.Assign) -> ast.expr:
        """A call whose arguments are assigned anew by the same statement may have them."""
        call = node.value
        stored = {name.id for target in node.targets for name in ast.walk(target) if _is_store(name)}
        if not isinstance(call, ast.Call) or any(isinstance(one, ast.Starred) for one in call.args):
            return call
        loaded = [one.id for one in ast.walk(call) if isinstance(one, ast.Name)]
        dead = [
            at for at, one in enumerate(call.args)
            if isinstance(one, ast.Name) and one.id in stored and loaded.count(one.id) == 1
        ]  # fmt: skip
        if not dead:
            return call
        places = ast.Tuple([ast.Constant(at) for at in dead], ast.Load())
        return self._call("donating", [self._site(node), places, call.func, *call.args], node, call.keywords)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if self._change == "late":
            return _Late(self).late(node)
        return node

    # Nodes.

    def _is_here(self, node: ast.stmt, *, body: bool = True) -> bool:
        """Whether a finding names a line of `node`; everything is meant where none names a line of this file."""
        if not self._lines:
            return self._change != "twice"
        last = node.end_lineno or node.lineno
        if not body and isinstance(node, ast.For):
            last = max(node.iter.end_lineno or node.lineno, node.lineno)
            # The line may be that of the loader's own work, or anywhere in the loop.
            return True
        return any(node.lineno <= line <= last for line in self._lines)

    def _site(self, node: ast.AST) -> ast.expr:
        place: list[ast.expr] = [ast.Constant(self._path), ast.Constant(getattr(node, "lineno", 0))]
        return ast.copy_location(ast.Tuple(place, ast.Load()), node)

    def _name(self, what: str) -> str:
        self._count += 1
        return f"__ridgeline_{what}_{self._count}__"

    def _call(self, hook: str, arguments: list[ast.expr], at: ast.AST, keywords: list[ast.keyword] | None = None) -> ast.expr:
        function = ast.Attribute(ast.Name(HOOKS, ast.Load()), hook, ast.Load())
        return ast.copy_location(ast.Call(function, arguments, keywords or []), at)


class _Late(ast.NodeTransformer):
    """`float(x)` and `x.item()` by way of the hooks."""

    def __init__(self, rewriter: _Rewriter) -> None:
        self._rewriter = rewriter

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        return self.late(node)

    def late(self, node: ast.Call) -> ast.expr:
        is_one = len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)
        site = self._rewriter._site(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("float", "int") and is_one:
            return self._rewriter._call("late", [site, node.func, node.args[0]], node)
        if isinstance(node.func, ast.Name) and node.func.id == "print":
            node.args = [site, *node.args]
            node.func = ast.copy_location(ast.Attribute(ast.Name(HOOKS, ast.Load()), "print", ast.Load()), node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args and not node.keywords:
            return self._rewriter._call("late", [site, ast.Constant("item"), node.func.value], node)
        return node


def _is_doc(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _is_chain(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_movable(value: ast.expr) -> bool:
    unfit = any(isinstance(one, _IMMOVABLE) for one in ast.walk(value))
    return not unfit and not any(isinstance(one, ast.Name) and one.id == "super" for one in ast.walk(value))


def _read_names(value: ast.expr) -> list[str]:
    """Names that an expression reads from around it."""
    bound = {one.arg for one in ast.walk(value) if isinstance(one, ast.arg)}
    bound |= {one.id for one in ast.walk(value) if _is_store(one)}
    read = {one.id for one in ast.walk(value) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    return sorted(name for name in read - bound - {HOOKS} if not hasattr(builtins, name))


def _is_plain(body: list[ast.stmt]) -> bool:
    """Whether a loop only computes values of names: then its body can be a function."""
    for one in body:
        if isinstance(one, ast.With):
            if not _is_plain(one.body):
                return False
        elif isinstance(one, ast.Assign):
            targets = [name for target in one.targets for name in (target.elts if isinstance(target, ast.Tuple) else [target])]
            if not all(isinstance(name, ast.Name) for name in targets) or not _is_movable(one.value):
                return False
        elif isinstance(one, ast.AugAssign):
            if not isinstance(one.target, ast.Name):
                return False
        elif not (isinstance(one, ast.Expr) and _is_wait(one.value)):
            return False
    return True


def _is_wait(value: ast.expr) -> bool:
    named = value.func if isinstance(value, ast.Call) else None
    return isinstance(named, ast.Attribute) and named.attr == "block_until_ready"


def _is_generator(node: ast.FunctionDef) -> bool:
    return any(isinstance(one, (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)) for one in ast.walk(node))


def _has_loops_over_data(node: ast.FunctionDef) -> bool:
    """Whether a function waits, prints or keeps time, and so is a driver rather than arithmetic."""
    names = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return bool(names & {"block_until_ready", "perf_counter", "item", "StepTraceAnnotation"})


def _arguments(parameters: list[ast.arg]) -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[])
