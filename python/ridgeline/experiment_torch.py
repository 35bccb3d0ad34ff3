"""Changes of PyTorch itself, made when the program has imported it.

Each is a function of the module, by the name of the change.
A model is changed where the program calls it: at the outermost `torch.nn.Module` of a call.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from .experiment_attention import fused_attention
from .safely import describe


def change(torch: ModuleType, experiment: Any) -> None:
    """Make the change that is asked for; raises whatever PyTorch of this version has not."""
    known = _CHANGES.get(experiment.change or "")
    if known is not None:
        known(torch, experiment)


def _around_models(torch: ModuleType, call: Callable[[Any, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Have `call(module, original, args, kwargs)` make the outermost calls of modules."""
    owner = importlib.import_module("torch.nn").Module
    original = owner.__call__
    depth = [0]

    @functools.wraps(original)
    def outermost(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_loss = type(self).__module__ == "torch.nn.modules.loss"
        if depth[0] or is_loss:
            return original(self, *args, **kwargs)
        depth[0] += 1
        try:
            return call(self, original, args, kwargs)
        finally:
            depth[0] -= 1

    owner.__call__ = outermost


def _compile(torch: ModuleType, experiment: Any) -> None:
    known: dict[int, Any] = {}

    def call(module: Any, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if id(module) not in known:
            known[id(module)] = module
            with experiment.clock.excluded(), _as_before(torch, module):
                try:
                    module.compile()
                    original(module, *args, **kwargs)
                except Exception as error:  # noqa: BLE001 - it is called as it is
                    module._compiled_call_impl = None
                    experiment.could_not(type(module).__name__, describe(error))
        if module._compiled_call_impl is not None:
            experiment.did(type(module).__name__)
        return original(module, *args, **kwargs)

    _around_models(torch, call)


@contextlib.contextmanager
def _as_before(torch: ModuleType, module: Any) -> Iterator[None]:
    """Leaves random numbers and a model's buffers, such as running means, as they were."""
    buffers = [(buffer, buffer.clone()) for buffer in module.buffers()]
    with torch.random.fork_rng(enabled=True):
        yield
    with torch.no_grad():
        for buffer, before in buffers:
            buffer.copy_(before)


def _channels_last(torch: ModuleType, experiment: Any) -> None:
    seen: set[int] = set()

    def last(value: Any) -> Any:
        is_image = isinstance(value, torch.Tensor) and value.dim() == 4
        return value.contiguous(memory_format=torch.channels_last) if is_image else value

    def call(module: Any, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        convolutions = (torch.nn.Conv2d, torch.nn.ConvTranspose2d)
        if id(module) not in seen:
            seen.add(id(module))
            if any(isinstance(one, convolutions) for one in module.modules()):
                module.to(memory_format=torch.channels_last)
                experiment.did(type(module).__name__)
        return original(module, *[last(value) for value in args], **kwargs)

    _around_models(torch, call)


def _autocast(torch: ModuleType, experiment: Any) -> None:
    def call(module: Any, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        parameter = next(module.parameters(), None)
        if parameter is None:
            return original(module, *args, **kwargs)
        experiment.did(type(module).__name__)
        with torch.autocast(parameter.device.type, dtype=torch.bfloat16):
            out = original(module, *args, **kwargs)
        # The loss and what comes after it see what they saw before.
        return out.float() if isinstance(out, torch.Tensor) and out.dtype == torch.bfloat16 else out

    _around_models(torch, call)


def _loader(torch: ModuleType, experiment: Any) -> None:
    loading = importlib.import_module("torch.utils.data")
    owner = loading.DataLoader
    original = owner.__init__

    @functools.wraps(original)
    def init(self: Any, dataset: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(dataset, loading.IterableDataset):
            # Each worker would give all of its items.
            experiment.could_not("DataLoader", "the data set is a stream")
        elif len(args) <= 4 and not kwargs.get("num_workers"):
            kwargs["num_workers"] = 2
            kwargs.setdefault("persistent_workers", True)
            experiment.did("num_workers=2")
        if torch.cuda.is_available() and not kwargs.get("pin_memory"):
            kwargs["pin_memory"] = True
            experiment.did("pin_memory=True")
        original(self, dataset, *args, **kwargs)

    iterator = importlib.import_module("torch.utils.data.dataloader")._MultiProcessingDataLoaderIter
    reset = iterator._reset

    @functools.wraps(reset)
    def again(self: Any, loader: Any, first_iter: bool = False) -> None:
        if not first_iter:
            # A loader without workers draws a number for each epoch, so the order of the next epoch depends on it.
            torch.empty((), dtype=torch.int64).random_(generator=loader.generator)
        reset(self, loader, first_iter)

    iterator._reset = again
    owner.__init__ = init
    move = torch.Tensor.to

    @functools.wraps(move)
    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Only from pinned memory; the other way round the host would read what is not there yet.
        if self.device.type == "cpu" and self.is_pinned():
            kwargs.setdefault("non_blocking", True)
            experiment.did("non_blocking=True")
        return move(self, *args, **kwargs)

    if torch.cuda.is_available():
        torch.Tensor.to = to


def _fused_optimizer(torch: ModuleType, experiment: Any) -> None:
    optimizers = importlib.import_module("torch.optim")
    for name in ("Adam", "AdamW", "SGD", "Adagrad"):
        owner = getattr(optimizers, name)
        owner.__init__ = _fused(experiment, name, owner.__init__)


def _fused(experiment: Any, name: str, original: Any) -> Any:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("fused") is None and not kwargs.get("foreach") and not kwargs.get("differentiable"):
            params = list(args[0]) if args else list(kwargs["params"])
            if args:
                args = (params, *args[1:])
            else:
                kwargs["params"] = params
            try:
                original(self, *args, **(kwargs | {"fused": True}))
                experiment.did(name)
                return
            except (RuntimeError, TypeError) as error:
                experiment.could_not(name, describe(error))
        original(self, *args, **kwargs)

    return init


def _set_to_none(torch: ModuleType, experiment: Any) -> None:
    owner = importlib.import_module("torch.optim").Optimizer
    original = owner.zero_grad

    @functools.wraps(original)
    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        if not set_to_none:
            experiment.did("zero_grad")
        original(self, set_to_none=True)

    owner.zero_grad = zero_grad


def _matmul_precision(torch: ModuleType, experiment: Any) -> None:
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = True
    experiment.did("float32 matmul precision")


def _cudnn_benchmark(torch: ModuleType, experiment: Any) -> None:
    if not torch.cuda.is_available():
        experiment.could_not("cudnn.benchmark", "there is no CUDA device")
        return
    torch.backends.cudnn.benchmark = True
    experiment.did("cudnn.benchmark")


def _late(torch: ModuleType, experiment: Any) -> None:
    """`float()` and `item()` are rewritten where the user's code calls them; waiting for a device is left out."""
    original = torch.cuda.synchronize

    def synchronize(*args: Any, **kwargs: Any) -> None:
        if experiment.clock.is_inside():
            experiment.did("torch.cuda.synchronize")
            return
        original(*args, **kwargs)

    # The clock waits by PyTorch's own.
    experiment.clock.synchronize = original
    if "torch.cuda" in sys.modules:
        torch.cuda.synchronize = synchronize


_CHANGES: dict[str, Callable[[ModuleType, Any], None]] = {
    "torch-compile": _compile,
    "channels-last": _channels_last,
    "autocast": _autocast,
    "loader": _loader,
    "fused-optimizer": _fused_optimizer,
    "set-to-none": _set_to_none,
    "matmul-precision": _matmul_precision,
    "cudnn-benchmark": _cudnn_benchmark,
    "fused-attention": fused_attention,
    "late": _late,
}
