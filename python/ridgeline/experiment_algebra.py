"""The same values by a shorter way: algebra that XLA does not do, applied to every jitted function.

The function is traced, its jaxpr is evaluated again with a few forms replaced, and that is compiled. Values differ by rounding.

- `pow` with a small integer exponent becomes multiplications.
- `(A.T @ A) @ x` becomes `A.T @ (A @ x)` where that takes fewer multiplications and the matrix is used for nothing else.
- `sort` along a short axis becomes a network of minima and maxima.
- `inv(A) @ b` becomes `solve(A, b)`, `one_hot(i) @ table` becomes `table[i]`.
"""

from __future__ import annotations

import functools
import importlib
import sys
from types import ModuleType
from typing import Any

from .safely import describe

#: Longest axis that is sorted by a network.
_LONGEST_NETWORK = 32
_LARGEST_EXPONENT = 16


def algebra(jax: ModuleType, experiment: Any) -> None:
    """Replace `jax.jit`, `jax.numpy.linalg.inv` and `jax.nn.one_hot`."""
    original = jax.jit
    importlib.import_module("jax.numpy.linalg").inv = _lazily(experiment, jax.numpy.linalg.inv, _Inverse)
    nn = importlib.import_module("jax.nn")
    nn.one_hot = _lazily(experiment, nn.one_hot, _OneHot)

    @functools.wraps(original)
    def jit(*args: Any, **options: Any) -> Any:
        if not args and "fun" not in options:
            return functools.partial(jit, **options)
        function = args[0] if args else options.pop("fun")

        @functools.wraps(function)
        def shorter(*args: Any, **kwargs: Any) -> Any:
            return _shorter(jax, experiment, function, args, kwargs)

        return original(shorter, **options)

    jax.jit = jit


def _shorter(jax: Any, experiment: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
    places = [at for at, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]

    def of_arrays(*arrays: Any) -> Any:
        filled = list(leaves)
        for at, array in zip(places, arrays):
            filled[at] = array
        args, kwargs = jax.tree_util.tree_unflatten(tree, filled)
        return function(*args, **kwargs)

    closed, shape = jax.make_jaxpr(of_arrays, return_shape=True)(*[leaves[at] for at in places])
    try:
        out = _evaluate(jax, experiment, closed.jaxpr, closed.consts, [leaves[at] for at in places])
    except Exception as error:  # noqa: BLE001 - it stays as it is
        experiment.could_not(getattr(function, "__qualname__", "jit"), describe(error))
        return function(*args, **kwargs)
    return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(shape), out)


def _evaluate(jax: Any, experiment: Any, jaxpr: Any, consts: Any, args: list[Any]) -> list[Any]:
    core = importlib.import_module("jax.extend.core")
    values: dict[Any, Any] = {}
    made_by: dict[Any, Any] = {}
    uses: dict[Any, int] = {}
    for equation in jaxpr.eqns:
        for variable in equation.invars:
            if not isinstance(variable, core.Literal):
                uses[variable] = uses.get(variable, 0) + 1
    for variable in jaxpr.outvars:
        if not isinstance(variable, core.Literal):
            uses[variable] = uses.get(variable, 0) + 2

    def read(variable: Any) -> Any:
        return variable.val if isinstance(variable, core.Literal) else values[variable]

    values.update(zip(jaxpr.constvars, consts))
    values.update(zip(jaxpr.invars, args))
    for equation in jaxpr.eqns:
        inputs = [read(variable) for variable in equation.invars]
        name = equation.primitive.name
        found = None
        if name == "pow":
            found = _power(jax, equation, inputs, core)
        elif name == "sort":
            found = _network(jax, equation, inputs)
        elif name == "dot_general":
            found = _other_order(jax, equation, inputs, made_by, uses, read)
        if found is not None:
            experiment.did(name)
        else:
            found = _as_it_is(jax, experiment, core, equation, inputs)
        for variable, value in zip(equation.outvars, found):
            values[variable] = value
            made_by[variable] = equation
    return [read(variable) for variable in jaxpr.outvars]


def _as_it_is(jax: Any, experiment: Any, core: Any, equation: Any, inputs: list[Any]) -> list[Any]:
    name = equation.primitive.name
    params = dict(equation.params)
    if name in ("pjit", "jit", "closed_call"):
        inner = params.get("jaxpr") or params["call_jaxpr"]
        return _evaluate(jax, experiment, inner.jaxpr, inner.consts, inputs)
    again = functools.partial(_again, jax, experiment, core)
    if name in ("scan", "while", "cond"):
        for key, value in params.items():
            if isinstance(value, core.ClosedJaxpr):
                params[key] = again(value)
            elif isinstance(value, tuple) and value and all(isinstance(one, core.ClosedJaxpr) for one in value):
                params[key] = tuple(again(one) for one in value)
    bound = equation.primitive.get_bind_params(params)
    # Before JAX 0.10 functions came beside the parameters.
    functions, bound = bound if isinstance(bound, tuple) else ((), bound)
    with equation.ctx.manager:
        out = equation.primitive.bind(*functions, *inputs, **bound)
    return list(out) if equation.primitive.multiple_results else [out]


def _again(jax: Any, experiment: Any, core: Any, closed: Any) -> Any:
    """The jaxpr of a loop's body, with the same in it."""
    evaluated = lambda *args: _evaluate(jax, experiment, closed.jaxpr, closed.consts, list(args))  # noqa: E731 - one line says it
    made = jax.make_jaxpr(evaluated)(*[jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in closed.in_avals])
    same = [(a.shape, a.dtype, a.weak_type) for a in made.out_avals] == [(a.shape, a.dtype, a.weak_type) for a in closed.out_avals]
    if not same or made.consts:
        return closed
    return made


def _power(jax: Any, equation: Any, inputs: list[Any], core: Any) -> Any:
    exponent = equation.invars[1]
    if not isinstance(exponent, core.Literal):
        return None
    value = float(exponent.val)
    if value != int(value) or not 2 <= abs(value) <= _LARGEST_EXPONENT:
        return None
    return [jax.lax.integer_pow(inputs[0], int(value))]


def _network(jax: Any, equation: Any, inputs: list[Any]) -> Any:
    params = equation.params
    axis = params["dimension"]
    size = inputs[0].shape[axis]
    if len(inputs) != 1 or not 2 <= size <= _LONGEST_NETWORK or inputs[0].size < 1024:
        return None
    lanes = [jax.lax.index_in_dim(inputs[0], at, axis, keepdims=True) for at in range(size)]
    # Batcher's merge exchange, D. E. Knuth, The Art of Computer Programming, volume 3, 5.2.2, algorithm M.
    top = 1 << (max(size - 1, 1).bit_length() - 1)
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while True:
            for i in range(size - d):
                if i & p == r:
                    a, b = lanes[i], lanes[i + d]
                    lanes[i], lanes[i + d] = jax.lax.min(a, b), jax.lax.max(a, b)
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
    return [jax.lax.concatenate(lanes, axis)]


def _other_order(jax: Any, equation: Any, inputs: list[Any], made_by: dict[Any, Any], uses: dict[Any, int], read: Any) -> Any:
    """`(A @ B) @ x` as `A @ (B @ x)`, for plain matrices and a vector."""
    left = equation.invars[0]
    earlier = made_by.get(left)
    plain = (((1,), (0,)), ((), ()))
    if earlier is None or earlier.primitive.name != "dot_general" or uses.get(left) != 1:
        return None
    if equation.params["dimension_numbers"] != plain or earlier.params["dimension_numbers"] != plain:
        return None
    a, b = (read(variable) for variable in earlier.invars)
    x = inputs[1]
    if a.ndim != 2 or b.ndim != 2 or x.ndim != 1:
        return None
    return [jax.lax.dot(a, jax.lax.dot(b, x))]


def _lazily(experiment: Any, original: Any, kind: Any) -> Any:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        jax = sys.modules["jax"]
        if args and isinstance(args[0], jax.core.Tracer):
            return kind(experiment, original, args, kwargs)
        return original(*args, **kwargs)

    return call


class _Lazy:
    """An array that becomes one where anything but a product is asked of it."""

    def __init__(self, experiment: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._experiment = experiment
        self._make = functools.cache(lambda: original(*args, **kwargs))
        self._args = args
        self._kwargs = kwargs

    def __jax_array__(self) -> Any:
        return self._make()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._make(), name)

    def __getitem__(self, at: Any) -> Any:
        return self._make()[at]


def _forward(name: str) -> None:
    setattr(_Lazy, name, lambda self, *others: getattr(self._make(), name)(*others))


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "matmul", "rmatmul", "pow", "neg", "abs", "lt", "gt", "le", "ge"):
    _forward(f"__{_name}__")


class _Inverse(_Lazy):
    def __matmul__(self, other: Any) -> Any:
        jax = sys.modules["jax"]
        self._experiment.did("inv")
        return jax.numpy.linalg.solve(self._args[0], other)


class _OneHot(_Lazy):
    def __matmul__(self, other: Any) -> Any:
        jax = sys.modules["jax"]
        if getattr(other, "ndim", 0) != 2 or len(self._args) > 2 or set(self._kwargs) - {"num_classes", "dtype"}:
            return self._make() @ other
        self._experiment.did("one_hot")
        return jax.numpy.take(other, self._args[0], axis=0, mode="fill", fill_value=0)
