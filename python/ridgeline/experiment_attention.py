"""Attention that a PyTorch program writes with two products and a softmax, as one fused operation.

`q @ k` gives a tensor that is not computed yet. What programs do between the products (scale, mask, softmax) is remembered, and the
second product becomes `scaled_dot_product_attention`; whatever else is asked of the tensor computes it first, as the program has it.
"""

from __future__ import annotations

import functools
import importlib
from types import ModuleType
from typing import Any

#: Calls that leave the form of attention, by the name of the function.
_SOFTMAX = {"softmax"}
_SCALE = {"mul", "__mul__", "__rmul__", "multiply"}
_UNSCALE = {"div", "__truediv__", "true_divide", "divide"}
_MASK = {"masked_fill"}
_BIAS = {"add", "__add__", "__radd__"}
_PRODUCT = {"matmul", "__matmul__", "bmm"}


def fused_attention(torch: ModuleType, experiment: Any) -> None:
    """Have products of batches wait for what becomes of them; raises whatever PyTorch of this version has not."""
    functional = importlib.import_module("torch.nn.functional")
    tensor = torch.Tensor
    torch.is_autocast_enabled("cpu")

    class Scores(tensor):  # type: ignore[misc, valid-type]
        """A product that is not computed yet, and what is to be done with it."""

        @staticmethod
        def of(form: dict[str, Any], like: Any = None) -> Any:
            q, k = form["q"], form["k"]
            shape = like.shape if like is not None else torch.broadcast_shapes(q.shape[:-2], k.shape[:-2]) + (q.shape[-2], k.shape[-1])
            made = tensor._make_wrapper_subclass(Scores, shape, dtype=q.dtype, device=q.device)
            made._form, made._value = form, None
            return made

        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            with torch._C.DisableTorchFunctionSubclass():
                return call(function, args, kwargs or {})

        @classmethod
        def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return function(*plain(args), **plain(kwargs or {}))

    def call(function: Any, args: Any, kwargs: Any) -> Any:
        name = getattr(function, "__name__", "")
        if name == "__get__":
            # Of an attribute: those of the tensor's kind need no value.
            described = getattr(getattr(function, "__self__", None), "__name__", "")
            return function(*args) if described in ("shape", "dtype", "device", "ndim", "layout") else function(*plain(args))
        if name in ("size", "dim", "stride", "numel"):
            return function(*args, **kwargs)
        found = next_form(name, args, kwargs)
        return function(*plain(args), **plain(kwargs)) if found is None else found

    def next_form(name: str, args: Any, kwargs: Any) -> Any:
        """What a call gives that keeps the form of attention; None for all others."""
        if not isinstance(args[0], Scores) or args[0]._value is not None:
            return None
        form = args[0]._form
        other = args[1] if len(args) > 1 else kwargs.get("dim")
        if name in _SOFTMAX and not form["is_softmax"] and other in (-1, args[0].dim() - 1) and kwargs.get("dtype") is None:
            return Scores.of(form | {"is_softmax": True, "before": args[0]}, args[0])
        if name in _PRODUCT and form["is_softmax"] and isinstance(other, tensor) and other.dim() == args[0].dim():
            return attention(form, plain(other))
        if name == "dropout" and (kwargs.get("p") == 0 or kwargs.get("training") is False):
            return args[0]
        if form["is_softmax"]:
            return None
        if name in _SCALE | _UNSCALE and isinstance(other, (int, float)) and form["bias"] is None and other:
            return Scores.of(form | {"scale": form["scale"] * (other if name in _SCALE else 1 / other)}, args[0])
        if name in _MASK and isinstance(other, tensor) and isinstance(args[2], (int, float)):
            bias = torch.zeros(other.shape, dtype=form["q"].dtype, device=other.device).masked_fill(other, args[2])
            return with_bias(args[0], bias)
        if name in _BIAS and isinstance(other, tensor) and not isinstance(other, Scores) and other.dtype == form["q"].dtype and not kwargs:
            return with_bias(args[0], other)
        return None

    def with_bias(scores: Any, bias: Any) -> Any:
        if torch.broadcast_shapes(scores.shape, bias.shape) != scores.shape:
            return None
        form, bias = scores._form, bias.broadcast_to(scores.shape)
        return Scores.of(form | {"bias": bias if form["bias"] is None else form["bias"] + bias}, scores)

    def attention(form: dict[str, Any], v: Any) -> Any:
        unchanged(form)
        experiment.did("attention")
        k = form["k"].transpose(-1, -2)
        return functional.scaled_dot_product_attention(form["q"], k, v, attn_mask=form["bias"], scale=form["scale"])

    def unchanged(form: dict[str, Any]) -> None:
        if (form["q"]._version, form["k"]._version) != form["versions"]:
            raise RuntimeError("an operand of a product was written to before the product was computed")

    def plain(value: Any) -> Any:
        """The same, with tensors that are computed."""
        if isinstance(value, Scores):
            if value._value is None:
                value._value = computed(value._form)
            return value._value
        if isinstance(value, (list, tuple)):
            inside = [plain(one) for one in value]
            return type(value)(*inside) if hasattr(value, "_fields") else type(value)(inside)
        return {name: plain(one) for name, one in value.items()} if isinstance(value, dict) else value

    def computed(form: dict[str, Any]) -> Any:
        with torch.set_grad_enabled(form["has_grad"]):
            if form["is_softmax"]:
                return torch.softmax(plain(form["before"]), -1)
            unchanged(form)
            out = product(form["q"], form["k"])
            out = out if form["scale"] == 1.0 else out * form["scale"]
            return out if form["bias"] is None else out + form["bias"]

    product = torch.matmul

    def is_batch(a: Any, b: Any) -> bool:
        return (
            type(a) is tensor and type(b) is tensor and 3 <= a.dim() == b.dim() <= 4 and a.shape[-1] == b.shape[-2]
            and a.shape[:-2] == b.shape[:-2] and a.is_floating_point() and not torch.is_autocast_enabled(a.device.type)
        )  # fmt: skip

    def waiting(original: Any) -> Any:
        @functools.wraps(original)
        def multiply(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
            if args or kwargs or not is_batch(a, b):
                return original(a, b, *args, **kwargs)
            versions = (a._version, b._version)
            form = {"q": a, "k": b, "scale": 1.0, "bias": None, "is_softmax": False, "versions": versions}
            return Scores.of(form | {"has_grad": torch.is_grad_enabled()})

        return multiply

    for owner, name in ((torch, "matmul"), (torch, "bmm"), (tensor, "__matmul__"), (tensor, "matmul"), (tensor, "bmm")):
        setattr(owner, name, waiting(getattr(owner, name)))
