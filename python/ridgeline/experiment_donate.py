"""Arguments that nobody has any more after a call, donated to it.

`state = step(state, data)` gives the name `state` to what the call gives. If that name is the only one who has the array, which the
count of references says, then no one can see that its memory is used again.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from .experiment_traced import is_tracing
from .safely import describe

#: References to an argument while it is looked at, if one name alone has it: that name, the tuple of arguments, the argument of
#: `getrefcount`, and the loop's own.
_OF_ONE_NAME = 4


def donating(experiment: Any, site: str, places: tuple[int, ...], function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`function(*args, **kwargs)`, with the arguments at `places` donated where that is safe."""
    jax = sys.modules.get("jax")
    jitted = getattr(experiment, "jitted", {})
    known = jitted.get(id(function))
    if jax is None or known is None or is_tracing():
        return function(*args, **kwargs)
    dead = []
    for at in places:
        value = args[at]
        if sys.getrefcount(value) <= _OF_ONE_NAME and _is_own(jax, value):
            dead.append(at)
        elif not dead:
            experiment.could_not(site, f"something else has argument {at + 1}, too")
        del value
    twin = _twin(experiment, site, jax, known, tuple(dead), args, kwargs) if dead else None
    if twin is None:
        return function(*args, **kwargs)
    experiment.did(site)
    return twin(*args, **kwargs)


def _is_own(jax: Any, value: Any) -> bool:
    """Whether the arrays of a tree are the tree's alone."""
    if isinstance(value, jax.Array):
        return True
    leaves = jax.tree_util.tree_leaves(value)
    # The tree itself, the list of leaves, the generator's name and the argument of `getrefcount`.
    return bool(leaves) and all(isinstance(leaf, jax.Array) and sys.getrefcount(leaf) <= _OF_ONE_NAME for leaf in leaves)


def _twin(experiment: Any, site: str, jax: Any, known: dict[str, Any], dead: tuple[int, ...], args: Any, kwargs: Any) -> Any:
    if known["options"].get("donate_argnums") or known["options"].get("donate_argnames"):
        experiment.could_not(site, "the call donates already")
        return None
    shapes = tuple(getattr(leaf, "shape", None) for leaf in jax.tree_util.tree_leaves(args))
    twins = known.setdefault("twins", {})
    if dead not in twins:
        twins[dead] = (experiment.plain_jit(known["function"], **known["options"], donate_argnums=dead), set())
    twin, compiled = twins[dead]
    if twin is None:
        return None
    if shapes not in compiled:
        try:
            with experiment.clock.excluded(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                twin.lower(*args, **kwargs).compile()
            compiled.add(shapes)
        except Exception as error:  # noqa: BLE001 - the call is made as it is
            experiment.could_not(site, describe(error))
            twins[dead] = (None, compiled)
            return None
    return twin
