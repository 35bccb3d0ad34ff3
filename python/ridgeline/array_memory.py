"""Where the numbers of an array lie in the host's memory, so that some of them can be read without a call of the program's."""

from __future__ import annotations

from typing import Any


def is_tensor(value: Any) -> bool:
    """Whether it is an array of PyTorch; a package that is still being imported isn't asked."""
    kind = type(value)
    return (kind.__module__, kind.__name__) in (("torch", "Tensor"), ("torch.nn.parameter", "Parameter"))


def address_of(array: Any, kinds: str) -> int | None:
    """The address of an array of JAX or NumPy, in the order of its extents; None where it is elsewhere, not ready, or of other `kinds`
    of numbers, which are NumPy's letters."""
    if array.dtype.kind not in kinds:
        return None
    if type(array).__name__ == "ndarray":
        return array.ctypes.data if array.flags.c_contiguous else None
    if not hasattr(array, "unsafe_buffer_pointer") or array.is_deleted() or not array.is_ready() or len(array.devices()) != 1:
        return None
    return array.unsafe_buffer_pointer() if next(iter(array.devices())).platform == "cpu" else None
