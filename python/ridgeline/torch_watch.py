"""Watch what a PyTorch program does that no trace tells: the same input given again, matrices that are factorized again, padding,
gradients that no optimizer reads, workers of loaders that are started again.

All of it is looked at from outside, in the first calls of modules and steps of optimizers, and written beside the samples
(`docs/samples.md`). No operator is called for it: numbers of arrays of the host are read where they lie, those of a GPU not at all.
Inside of programs that `torch.compile` has compiled nothing is watched.
"""

from __future__ import annotations

import time
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_int32, c_int64, string_at
from typing import Any

from .own_files import OwnFiles, innermost, stands_for
from .padding import padded_at
from .torch_conversions import TorchConversions
from .torch_functions import TorchFunctions, is_compiling

#: Calls of modules that are looked at; after them the program calls its modules as if nobody watched.
_MOST_CALLS = 1 << 15

#: Inputs that are remembered.
_MOST_INPUTS = 1 << 12

#: Inputs of fewer numbers cost less than looking.
_LEAST_NUMBERS = 64

#: Values of one list or dictionary among the arguments of a module.
_MOST_VALUES = 64

#: Numbers of an array that are compared with those of an earlier call.
_PROBES = 32

#: Looks at the indices of an embedding: at the first calls, then at every other one.
_MOST_LOOKS, _LOOKS_IN_A_ROW = 64, 16

#: Shorter rows are no sequences.
_SHORTEST_ROW = 8

#: The step after which gradients are looked at: a program's first steps may differ.
_STEP = 5

#: Steps after which clearing is looked at no more, and clearings that make a habit.
_MOST_CLEARINGS, _FEWEST_CLEARED = 64, 4

#: Modules whose examples are remembered, examples of each, bytes of all examples of a call that are looked at, and calls.
_MOST_MODULES, _MOST_EXAMPLES, _MOST_BYTES, _MOST_COMPARED = 8, 1 << 16, 1 << 22, 512

#: Numbers of an example, of which another one with the same numbers is the same.
_LEAST_IN_ROW = 8

#: Failures after which watching ends.
_MOST_FAILURES = 3

#: What watching may take of the program's time, and in seconds however short it runs: calls beyond are not looked at.
_MOST_SHARE, _LEAST_COST_S = 0.02, 0.25

#: Names that are kept of arrays.
_MOST_NAMES = 3


class TorchWatch:
    """What was seen so far; `told` gives it."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._own = OwnFiles()
        self._calls = 0
        self._failures = 0
        self._began = time.perf_counter()
        #: Time that looking took, in seconds.
        self.cost_s = 0.0
        self._inputs: dict[tuple[Any, ...], _Input] = {}
        self._repeated: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._examples: dict[int, _Examples] = {}
        #: What is called within modules whose examples are compared.
        self._inner: set[int] = set()
        self._padding: dict[int, _Padding] = {}
        self._optimizers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._steps = 0
        self._stepped_ids: set[int] = set()
        #: Modules that were called in training, and the names and sizes of the parameters with a gradient after some steps.
        self._trained: dict[int, weakref.ref[Any]] = {}
        self._gradients: dict[int, tuple[str, int]] = {}
        self._clearing: weakref.WeakKeyDictionary[Any, _Clearing] = weakref.WeakKeyDictionary()
        self._cleared: list[_Clearing] = []
        #: Passes over the data of loaders with workers, by the number of workers and the place of the loop.
        self._passes: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._conversions = TorchConversions(torch, self._frame)
        self._hook: Any = None

    def start(self) -> None:
        """Hear calls and steps; raises AttributeError or ImportError for a PyTorch that has no such hooks."""
        from torch.nn.modules.module import register_module_forward_pre_hook
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(self._stepped)
        self._hook = register_module_forward_pre_hook(self._before)
        compile_ = self._torch.compile

        @stands_for(compile_)
        def compiles(*args: Any, **kwargs: Any) -> Any:
            # What is compiled depends on the hooks that there are, and PyTorch warns of them.
            self._stop_hearing()
            return compile_(*args, **kwargs)

        self._torch.compile = compiles
        self._hear_clearing()
        self._hear_loaders()
        TorchFunctions(self._torch, self._called, self._looking).start()
        self._conversions.start()

    def _stop_hearing(self) -> None:
        hook, self._hook = self._hook, None
        if hook is not None:
            hook.remove()

    @property
    def _may_look(self) -> bool:
        return self.cost_s <= _LEAST_COST_S + _MOST_SHARE * (time.perf_counter() - self._began)

    @contextmanager
    def _looking(self) -> Iterator[bool]:
        """Take the time of a look; gives False where all of them took too long already. No exception leaves it."""
        if self._failures >= _MOST_FAILURES or not self._may_look:
            yield False
            return
        began = time.perf_counter()
        try:
            yield True
        except Exception:
            self._failures += 1
        finally:
            self.cost_s += time.perf_counter() - began

    def _hear_clearing(self) -> None:
        optimizer, watch = self._torch.optim.Optimizer, self
        zero_grad = optimizer.zero_grad

        @stands_for(zero_grad)
        def clears(one: Any, *args: Any, **kwargs: Any) -> Any:
            watch._clears(one)
            return zero_grad(one, *args, **kwargs)

        optimizer.zero_grad = clears

    def _hear_loaders(self) -> None:
        from torch.utils.data import DataLoader

        watch = self
        iterator_of = DataLoader._get_iterator

        @stands_for(iterator_of)
        def starts(loader: Any) -> Any:
            watch._starts_workers(loader)
            return iterator_of(loader)

        # Loaders whose workers stay call it once.
        DataLoader._get_iterator = starts

    def _starts_workers(self, loader: Any) -> None:
        if not loader.num_workers or len(self._passes) >= _MOST_MODULES:
            return
        with self._looking() as looks:
            if looks:
                frame = self._frame()
                key = (loader.num_workers, *(frame or ()))
                entry = self._passes.setdefault(key, {"workers": loader.num_workers, "passes": 0})
                entry["passes"] += 1
                entry["frame"] = frame

    def told(self) -> dict[str, Any]:
        """What was seen, for the file of samples; empty where nothing was."""
        said: dict[str, Any] = {}
        if repeated := [entry for entry in self._repeated.values() if entry["again"]]:
            said["repeated"] = sorted(repeated, key=lambda entry: -entry["again"])[:8]
        padding = max(self._padding.values(), key=lambda padding: padding.share, default=None)
        if padding is not None and padding.share > 0.0:
            frame = padding.frame
            if frame is not None and (place := padded_at(frame[0])) is not None:
                frame = [frame[0], *place, ""]
            said["padding"] = {
                "share": round(padding.share, 4),
                "beyond_longest": round(padding.beyond_longest, 4),
                "looks": padding.looks,
                "frame": frame,
            }
        if passes := [entry for entry in self._passes.values() if entry["passes"] > 1]:
            said["restarted_workers"] = sorted(passes, key=lambda entry: -entry["passes"])
        if conversions := self._conversions.told():
            said["conversions"] = conversions
        if unread := self._unread():
            said["unread_gradients"] = unread
        if cleared := [clearing.told() for clearing in self._cleared if clearing.is_a_habit()]:
            said["cleared_gradients"] = sorted(cleared, key=lambda entry: -entry["numbers"])[:8]
        return said

    def _before(self, module: Any, inputs: Any) -> None:
        if is_compiling(self._torch) or self._hook is None:
            return
        self._calls += 1
        if self._calls > _MOST_CALLS or self._failures >= _MOST_FAILURES:
            self._stop_hearing()
            return
        with self._looking() as looks:
            if looks:
                self._look_at_call(module, inputs)

    def _look_at_call(self, module: Any, inputs: Any) -> None:
        if isinstance(module, self._torch.nn.Embedding):
            self._look_at_indices(module, inputs)
            return
        if not (module.training and self._torch.is_grad_enabled()):
            self._look_at_inputs(module, inputs)
        elif id(module) not in self._inner:
            self._look_at_inputs(module, inputs, trains=True)
        if self._torch.is_grad_enabled() and self._steps < _STEP and len(self._trained) < _MOST_INPUTS:
            self._trained.setdefault(id(module), weakref.ref(module))

    def _look_at_inputs(self, module: Any, inputs: Any, trains: bool = False) -> None:
        given = _given(inputs, self._torch.Tensor)
        if given is None:
            return
        arrays, others = given
        if not arrays or sum(array.numel() for array in arrays) < _LEAST_NUMBERS:
            return
        if trains and len(self._inner) < _MOST_INPUTS:
            # Of modules that train, whole calls are compared: two of them between two steps are the same work.
            self._inner |= {id(child) for child in module.modules() if child is not module}
        key = (*(_place(array) for array in arrays), *others)
        if any(_is_random(child) for child in module.modules()):
            # Nor is what is called within it anybody's whole work.
            if len(self._inputs) < _MOST_INPUTS:
                self._inputs[key] = _Input(module, arrays, ())
            return
        state = (tuple(_content(array) for array in arrays), _weights(module))
        known = self._inputs.get(key)
        if known is not None and known.is_there():
            # What is inside of a module gets its input, too: that is the same call.
            if known.module() is not module:
                return
            entry = self._entry_of(module)
            entry["again"] += known.state == state and _is_known(state)
            known.state = state
        elif len(self._inputs) < _MOST_INPUTS:
            self._inputs[key] = _Input(module, arrays, state)
            entry = self._entry_of(module)
            entry["again"] += not trains and not others and self._had_all(module, arrays, state[1])
        else:
            return
        entry["calls"] += 1

    def _had_all(self, module: Any, arrays: list[Any], weights: tuple[Any, ...] | None) -> bool:
        """Whether a module that got a new array has had all examples in it before, with the same weights."""
        if id(module) in self._inner:
            return False
        known = self._examples.get(id(module))
        if known is None or known.module() is not module:
            if len(self._examples) >= _MOST_MODULES:
                return False
            known = self._examples[id(module)] = _Examples(module)
            self._inner |= {id(child) for child in module.modules() if child is not module}
        return known.had_all(arrays, weights)

    def _called(self, function: str, is_again: bool) -> None:
        """A function got an argument, which it had before or not."""
        entry = self._entry(function)
        entry["calls"] += 1
        entry["again"] += is_again

    def _entry_of(self, module: Any) -> dict[str, Any]:
        return self._entry(type(module).__qualname__)

    def _entry(self, name: str) -> dict[str, Any]:
        frame = self._frame()
        key = (name, *(frame or ()))
        if key not in self._repeated:
            self._repeated[key] = {"module": name, "calls": 0, "again": 0, "frame": frame}
        return self._repeated[key]

    def _look_at_indices(self, module: Any, inputs: Any) -> None:
        indices = inputs[0]
        if indices.dim() != 2 or indices.device.type != "cpu" or indices.shape[1] < _SHORTEST_ROW:
            return
        padding = self._padding.setdefault(id(module), _Padding())
        rows = _rows(indices) if padding.is_due() else None
        if not rows or (parts := _padded(rows, module.padding_idx)) is None:
            return
        padding.add(*parts)
        padding.frame = padding.frame or self._frame()

    def _frame(self) -> list[Any] | None:
        """The innermost place of the program's own that the call came from, in the form of a sample's frames."""
        found = innermost(self._own)
        return found and [found["file"], found["line"], found["function"], ""]

    def _stepped(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if is_compiling(self._torch):
            return
        self._steps += 1
        with self._looking() as looks:
            # Which arrays optimizers have is always needed: those of one that was not heard would seem to be read by none.
            if optimizer not in self._optimizers and self._failures < _MOST_FAILURES:
                self._optimizers.add(optimizer)
                self._stepped_ids |= {id(array) for group in optimizer.param_groups for array in group["params"]}
            if looks:
                if self._steps == _STEP:
                    self._look_at_gradients()
                self._clearing_of(optimizer).steps(optimizer)

    def _clears(self, optimizer: Any) -> None:
        if is_compiling(self._torch):
            return
        with self._looking() as looks:
            if looks:
                clearing = self._clearing_of(optimizer)
                if clearing.clears(optimizer) and clearing.frame is None:
                    clearing.frame = self._frame()

    def _clearing_of(self, optimizer: Any) -> _Clearing:
        if optimizer not in self._clearing:
            self._clearing[optimizer] = _Clearing(type(optimizer).__name__)
            self._cleared.append(self._clearing[optimizer])
        return self._clearing[optimizer]

    def _look_at_gradients(self) -> None:
        modules = [module for known in self._trained.values() if (module := known()) is not None]
        inner = {id(child) for module in modules for child in module.modules() if child is not module}
        for module in (module for module in modules if id(module) not in inner):
            for name, array in module.named_parameters():
                if array.requires_grad and array.grad is not None:
                    self._gradients.setdefault(id(array), (name, array.numel()))

    def _unread(self) -> dict[str, Any] | None:
        # An optimizer that stepped later may have had them.
        unread = [kept for key, kept in self._gradients.items() if key not in self._stepped_ids]
        if not unread:
            return None
        return {
            "numbers": sum(size for _, size in unread),
            "of": sum(size for _, size in self._gradients.values()),
            "arrays": len(unread),
            "names": [name for name, _ in unread[:_MOST_NAMES]],
        }


class _Clearing:
    """Gradients of one optimizer that are cleared before it reads them."""

    def __init__(self, optimizer: str) -> None:
        self._optimizer = optimizer
        self._looks = self._steps = self._times = 0
        #: Where the gradients lay at the last step since which nothing was cleared, and how often each had been written.
        self._read: dict[int, tuple[int, int]] = {}
        self._numbers = 0
        self.frame: list[Any] | None = None

    def steps(self, optimizer: Any) -> None:
        """The optimizer has read its gradients."""
        self._steps += 1
        if not self._is_over():
            self._read = {id(array): _written(array.grad) for array in _with_gradient(optimizer)}

    def clears(self, optimizer: Any) -> bool:
        """Whether gradients are cleared that it has not read."""
        read, self._read = self._read, {}
        # Before its first steps a program may try things out.
        if self._steps < 2 or self._is_over():
            return False
        self._looks += 1
        unread = [array for array in _with_gradient(optimizer) if read.get(id(array)) != _written(array.grad)]
        if unread:
            self._times += 1
            self._numbers = sum(array.numel() for array in unread)
        return bool(unread)

    def _is_over(self) -> bool:
        # A program that steps without clearing is not looked at forever, either.
        return self._looks >= _MOST_CLEARINGS or self._steps > 2 * _MOST_CLEARINGS

    def is_a_habit(self) -> bool:
        """Whether most clearings are of that kind."""
        return self._times >= _FEWEST_CLEARED and 2 * self._times >= self._looks

    def told(self) -> dict[str, Any]:
        """What was seen."""
        return {
            "optimizer": self._optimizer,
            "numbers": self._numbers,
            "times": self._times,
            "of": self._looks,
            "frame": self.frame,
        }


def _with_gradient(optimizer: Any) -> list[Any]:
    return [array for group in optimizer.param_groups for array in group["params"] if array.grad is not None]


def _written(gradient: Any) -> tuple[int, int]:
    return gradient.data_ptr(), gradient._version


class _Padding:
    """What looks at the indices of one embedding found."""

    def __init__(self) -> None:
        self._calls = self.looks = 0
        self._shares = self._spare = 0.0
        self.frame: list[Any] | None = None

    def is_due(self) -> bool:
        """Whether this call is looked at: the first ones are, and then every other one."""
        self._calls += 1
        return self.looks < _MOST_LOOKS and (self.looks < _LOOKS_IN_A_ROW or self._calls >= 2 * self.looks)

    def add(self, share: float, spare: float) -> None:
        self.looks += 1
        self._shares += share
        self._spare += spare

    @property
    def share(self) -> float:
        """The part of all indices that is padding."""
        return self._shares / max(self.looks, 1)

    @property
    def beyond_longest(self) -> float:
        """The part of all indices that lies beyond the longest row of its batch."""
        return self._spare / max(self.looks, 1)


class _Input:
    """The arrays that a module was given, as long as they are there."""

    def __init__(self, module: Any, arrays: list[Any], state: tuple[Any, ...]) -> None:
        from torch.multiprocessing.reductions import StorageWeakRef

        self.module = weakref.ref(module)
        self._storages = [StorageWeakRef(array.untyped_storage()) for array in arrays]
        self.state = state

    def is_there(self) -> bool:
        """Whether the memory is still that of then: otherwise another array may have come to lie there."""
        return self.module() is not None and not any(storage.expired() for storage in self._storages)


def _given(values: Any, kind: type, depth: int = 3) -> tuple[list[Any], list[Any]] | None:
    """The arrays of some arguments, within lists and dictionaries too, and their other values; None where one is nothing known."""
    arrays: list[Any] = []
    others: list[Any] = []
    for value in values:
        if isinstance(value, kind):
            arrays.append(value)
        elif value is None or type(value) in (bool, int, float, str):
            others.append(value)
        elif type(value) in (list, tuple, dict) and depth and len(value) <= _MOST_VALUES:
            inner = _given([*value, *value.values()] if type(value) is dict else value, kind, depth - 1)
            if inner is None:
                return None
            arrays += inner[0]
            others += inner[1]
        else:
            return None
    return arrays, others


class _Examples:
    """The rows of the arrays that a module was given, as long as its weights stay."""

    def __init__(self, module: Any) -> None:
        self.module = weakref.ref(module)
        self._weights: tuple[Any, ...] | None = None
        self._known: set[int] = set()
        self._looks = 0
        self._had_all = False

    def had_all(self, arrays: list[Any], weights: tuple[Any, ...] | None) -> bool:
        """Whether all rows of a call were there before; after many calls, what the last one was that was looked at."""
        if weights is None or weights != self._weights:
            self._weights, self._had_all = weights, False
            self._known.clear()
        if self._looks < _MOST_COMPARED:
            self._looks += 1
            rows = _examples_of(arrays)
            self._had_all = bool(rows) and weights is not None and self._known.issuperset(rows)
            if len(self._known) < _MOST_EXAMPLES:
                self._known.update(rows)
        return self._had_all


def _examples_of(arrays: list[Any]) -> list[int]:
    """A number for each row of some arrays that belong together; empty where they cannot be read, or are too large."""
    count = arrays[0].shape[0] if arrays[0].dim() > 1 else 0
    are_rows = all(array.device.type == "cpu" and array.is_contiguous() and array.shape[:1] == (count,) for array in arrays)
    if not count or not are_rows or sum(array.numel() for array in arrays) < count * _LEAST_IN_ROW:
        return []  # Short rows come again in any data.
    if sum(array.numel() * array.element_size() for array in arrays) > _MOST_BYTES:
        return []
    widths = [(array.data_ptr(), array.numel() // count * array.element_size()) for array in arrays]
    return [hash(tuple(string_at(address + row * width, width) for address, width in widths)) for row in range(count)]


def _place(array: Any) -> tuple[Any, ...]:
    return (array.untyped_storage()._cdata, array.storage_offset(), tuple(array.shape), array.stride(), array.dtype)


def _content(array: Any) -> tuple[Any, ...] | None:
    """What changes when the array does: its version, and some of its numbers; None where neither can be had.

    The numbers are read where they lie: any call of PyTorch for them would be an operator in the trace.
    """
    version = None if array.is_inference() else array._version
    if array.device.type != "cpu":
        return None if version is None else (version,)
    # Between the first and the last number there may be others: one more that must not change.
    extent = 1 + sum((size - 1) * step for size, step in zip(array.shape, array.stride(), strict=True)) if array.numel() else 0
    address, width, step = array.data_ptr(), array.element_size(), max(extent // _PROBES, 1)
    return (version, *(string_at(address + at * width, width) for at in range(0, extent, step)))


def _weights(module: Any) -> tuple[Any, ...] | None:
    arrays = [*module.parameters(), *module.buffers()]
    ends = [_content(array) for array in {id(end): end for end in (arrays[:1] + arrays[-1:])}.values()]
    return (sum(0 if array.is_inference() else array._version for array in arrays), *ends)


def _is_known(state: tuple[Any, ...]) -> bool:
    return all(content is not None for content in state[0])


def _is_random(module: Any) -> bool:
    """Whether a module gives other results for the same input: dropout that is on, or statistics that are kept."""
    return module.training and (hasattr(module, "running_mean") or "Dropout" in type(module).__name__)


def _rows(indices: Any) -> list[list[int]] | None:
    """The numbers of a matrix, read where they lie; None where they do not lie in a row."""
    kind = {8: c_int64, 4: c_int32}.get(indices.element_size())
    if kind is None or not indices.is_contiguous():
        return None
    rows, length = indices.shape
    numbers = list((kind * (rows * length)).from_address(indices.data_ptr()))
    return [numbers[at : at + length] for at in range(0, rows * length, length)]


def _padded(rows: list[list[int]], padding: int | None) -> tuple[float, float] | None:
    """The part of the indices in `rows` that is padding, and the part beyond the longest row; None where nothing tells."""
    length = len(rows[0])
    for ends in ([row[::-1] for row in rows], rows):
        value = Counter(row[0] for row in ends).most_common(1)[0][0] if padding is None else padding
        # Where no index is known to be padding, it is the one that half of all rows end with, twice.
        if padding is None and (len(rows) < 4 or 2 * sum(row[:2] == [value, value] for row in ends) < len(rows)):
            continue
        runs = [next((at for at, index in enumerate(row) if index != value), length) for row in ends]
        if any(runs):
            return sum(runs) / (len(rows) * length), min(runs) / length
    return (0.0, 0.0) if padding is not None else None
