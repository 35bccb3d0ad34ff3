"""Watch functions of PyTorch that factorize, invert or transform, for arguments that they had before.

Each function is called through a wrapper, which looks at the first calls and then gives way to the function itself. TorchScript
knows the wrappers as what they wrap. Nothing is looked at where a gradient is wanted of the argument, or in compiled programs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from ctypes import string_at
from typing import Any

from .own_files import stands_for

#: The functions, by module. Those of the first group need the same matrix only: what it is solved for may differ.
_SOLVES = {"torch.linalg": ("solve", "lstsq")}
_COMPUTES = {
    "torch.linalg": ("cholesky", "eigh", "eigvalsh", "eig", "inv", "lu_factor", "matrix_exp", "pinv", "qr", "svd", "svdvals"),
    "torch": ("cholesky", "inverse", "matrix_exp"),
    "torch.fft": ("fft", "fft2", "fftn", "rfft", "rfft2", "rfftn"),
}

#: Arrays of fewer numbers cost less than looking.
_LEAST_NUMBERS = 1 << 12

#: Bytes of an argument that are compared, calls of each function that are looked at, and arguments that are remembered.
_MOST_BYTES, _MOST_CALLS, _MOST_KNOWN = 1 << 23, 256, 1 << 10


def is_compiling(torch: Any) -> bool:
    """Whether what runs is being compiled or traced: then even a look at an array's size becomes part of the program."""
    return torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None


def put_in_place(torch: Any, module: Any, name: str, wrapper: Any) -> None:
    """Put a wrapper in the place of a function, if TorchScript can be told that it is one of its builtins."""
    builtins = torch.jit._builtins
    if (builtin := builtins._find_builtin(getattr(module, name))) is None:
        return  # What is no builtin would be compiled from its text by TorchScript.
    builtins._register_builtin(wrapper, builtin)
    setattr(module, name, wrapper)


class TorchFunctions:
    """Hears calls; `again` is told of each: the function's name, and whether it had its argument before.

    `looking` is entered around a look, takes its time, keeps exceptions in, and gives False where there is to be none.
    """

    def __init__(self, torch: Any, again: Callable[[str, bool], None], looking: Callable[[], AbstractContextManager[bool]]) -> None:
        self._torch = torch
        self._again = again
        self._looking = looking
        self._known: set[tuple[Any, ...]] = set()

    def start(self) -> None:
        """Put the wrappers in the functions' places."""
        for groups, is_solve in ((_SOLVES, True), (_COMPUTES, False)):
            for path, names in groups.items():
                module = functools.reduce(getattr, path.split(".")[1:], self._torch)
                for name in names:
                    self._hear(module, path, name, is_solve)

    def _hear(self, module: Any, path: str, name: str, is_solve: bool) -> None:
        function = getattr(module, name)
        calls, own, torch = 0, self, self._torch

        @stands_for(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            if is_compiling(torch):
                return function(*args, **kwargs)
            calls += 1
            if calls <= _MOST_CALLS:
                own._look(f"{path}.{name}", args[:1], {} if is_solve else dict(enumerate(args[1:]), **kwargs))
            elif getattr(module, name, None) is called:
                setattr(module, name, function)
            return function(*args, **kwargs)

        put_in_place(torch, module, name, called)

    def _look(self, name: str, arguments: Any, others: dict[Any, Any]) -> None:
        with self._looking() as looks:
            if looks:
                self._compare(name, arguments, others)

    def _compare(self, name: str, arguments: Any, others: dict[Any, Any]) -> None:
        if not arguments or not isinstance(array := arguments[0], self._torch.Tensor):
            return
        if array.numel() < _LEAST_NUMBERS or (array.requires_grad and self._torch.is_grad_enabled()):
            return
        content = self._content(array)
        if content is None or any(isinstance(value, self._torch.Tensor) for value in others.values()):
            return
        key = (name, tuple(array.shape), array.dtype, content, repr(others))
        is_known = key in self._known
        if not is_known and len(self._known) < _MOST_KNOWN:
            self._known.add(key)
        self._again(name, is_known)

    def _content(self, array: Any) -> int | None:
        """A number for all bytes of an array, read where they lie; None where they cannot be, or are too many."""
        # Any operator that were called for it would be in the trace.
        count, steps = array.numel(), zip(array.shape, array.stride(), strict=True)
        is_plain = type(array) in (self._torch.Tensor, self._torch.nn.Parameter) and array.layout is self._torch.strided
        is_dense = is_plain and 1 + sum((size - 1) * step for size, step in steps) == count
        size = count * array.element_size()
        if array.device.type != "cpu" or not is_dense or size > _MOST_BYTES:
            return None
        return hash((array.stride(), string_at(array.data_ptr(), size)))
