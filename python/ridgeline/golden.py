"""Keep real inputs and outputs of regions while the program runs, as vectors for whoever builds them.

A region is a compiled module, found by its name or by a word of the source that it came from, or a function that the program calls so
(`regions`).
The first calls are kept, then the 4th, the 8th, the 16th and so on, as long as there is room.
A function that is a part of something larger is compiled once more by itself, so that there is a module to hand over, and its values come
through a callback.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import module_code, regions
from .module_calls import ModuleCalls
from .module_files import file_name
from .safely import Parts

#: Calls that are kept whatever their number.
_FIRST_CALLS = 2

#: Folders of one process.
_MOST_FOLDERS = 64


class Golden:
    """What is kept in one process."""

    def __init__(self, names: list[str], max_bytes: int, out: Path, parts: Parts) -> None:
        """`names` are words of what to keep; `max_bytes` bounds all that this process keeps."""
        self._names = names
        self._left = max_bytes
        self._out = out / "golden"
        self._parts = parts
        self._calls = ModuleCalls()
        self._kept: dict[str, Kept] = {}
        self._lowered: set[tuple[int, str]] = set()
        self._found: set[str] = set()
        # Names of hooks: what holds them is not meant.
        self._hooks: set[str] = set()
        self._lock = threading.Lock()

    def not_found(self) -> str | None:
        """Why something that was asked for is not there, at the end of the program; None where all is."""
        lost = [word for word in self._names if word not in self._found]
        hook = f'ridgeline.region("{lost[0]}")(f) in the program calls a function so' if lost else ""
        return f"no compiled module came from {' or '.join(lost)}; {hook}" if lost else None

    def install(self) -> None:
        """Hear of calls from now on; `jax` must be imported. Raises AttributeError or ImportError if this JAX is another."""
        self._calls.install()

    def compiled(self, executable: Any, module: Any) -> None:
        """A module was compiled; its calls are kept if it is one of those that were named."""
        name = module_code.name_of(module)
        if self._is_hook(name) or not self._is_named(name, module):
            return
        inputs, outputs = module_code.ports_of(module)
        kept = self._folder(name, module_code.text_of(module), inputs, outputs)
        if kept is not None:
            self._calls.hear(executable, functools.partial(self._heard, kept))

    def _is_hook(self, module: str) -> bool:
        return any(kept.is_hook and kept.module == module for kept in self._kept.values())

    def _is_named(self, name: str, module: Any) -> bool:
        found = {word for word in self._names if word in name}
        if not found:
            text = module.operation.get_asm(enable_debug_info=True, large_elements_limit=16)
            words = set(self._names) - self._hooks
            found = {word for word in words if f'"{word}"' in text or f'.{word}"' in text}
        self._found |= found
        return bool(found)

    def _heard(self, kept: Kept, call: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        # Before the call, which may be given the memory of its arguments.
        inputs = self._parts.run("golden", kept.begins, args)
        outputs = call()
        if inputs is not None:
            self._parts.run("golden", kept.ends, inputs, outputs)
        return outputs

    # Functions that the program calls a region.

    def called(self, region: regions.Region, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call from outside."""
        call = region.jitted(inside=False)
        kept = self._parts.run("golden", self._of_hook, region, args, kwargs)
        if kept is None:
            return call(*args, **kwargs)
        leaves = sys.modules["jax"].tree_util.tree_leaves
        return self._heard_value(kept, lambda: call(*args, **kwargs), _arrays(leaves((args, kwargs))), leaves)

    def _heard_value(self, kept: Kept, call: Callable[[], Any], args: tuple[Any, ...], leaves: Callable[[Any], list[Any]]) -> Any:
        inputs = self._parts.run("golden", kept.begins, args)
        value = call()
        if inputs is not None:
            self._parts.run("golden", kept.ends, inputs, leaves(value))
        return value

    def traced(self, region: regions.Region, args: tuple[Any, ...], kwargs: dict[str, Any], *, inside: bool) -> Any:
        """The region's own code, and what keeps its values where it is a part of something larger."""
        value = region.function(*args, **kwargs)
        if inside:
            self._parts.run("golden", self._beside, region, args, kwargs, value)
        return value

    def _beside(self, region: regions.Region, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any) -> None:
        jax = sys.modules["jax"]
        kept = self._of_hook(region, args, kwargs)
        if kept is None:
            return
        inputs, outputs = _arrays(jax.tree_util.tree_leaves((args, kwargs))), jax.tree_util.tree_leaves(value)

        def keep(*arrays: Any) -> None:
            self._parts.run("golden", self._keep_both, kept, arrays[: len(inputs)], arrays[len(inputs) :])

        jax.debug.callback(keep, *inputs, *outputs)

    def _keep_both(self, kept: Kept, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        copied = kept.begins(inputs)
        if copied is not None:
            kept.ends(copied, outputs)

    def _of_hook(self, region: regions.Region, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Kept | None:
        """Where values of a hook are kept; the region is compiled by itself where it has not been with these shapes."""
        jax = sys.modules["jax"]
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        shape = lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) if isinstance(leaf, jax.Array) else leaf  # noqa: E731
        shaped = [shape(leaf) for leaf in leaves]
        ports = ", ".join(module_code.port_of(leaf) for leaf in shaped if isinstance(leaf, jax.ShapeDtypeStruct))
        folder = f"{region.name} {ports}"
        if (id(region), ports) in self._lowered:
            return self._kept.get(folder)
        self._lowered.add((id(region), ports))
        shaped_args, shaped_kwargs = jax.tree_util.tree_unflatten(tree, shaped)
        lowered = region.jitted(inside=False).lower(*shaped_args, **shaped_kwargs)
        module = lowered.compiler_ir("stablehlo")
        name = module_code.name_of(module)
        if found := {word for word in self._names if word in region.name}:
            self._found |= found
            self._hooks |= found
            inputs, outputs = module_code.ports_of(module)
            kept = self._folder(name, module_code.text_of(module), inputs, outputs, key=folder)
            if kept is not None:
                kept.is_hook = True
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            # Calls from outside compile it themselves.
            lowered.compile()
        return self._kept.get(folder)

    def result(self, name: str, array: Any) -> None:
        """A recording keeps no results."""

    # Files.

    def _folder(self, module: str, text: str, inputs: list[str], outputs: list[str], key: str | None = None) -> Kept | None:
        with self._lock:
            digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
            # Code that is compiled again, as of a function that is made at every call, is the same module.
            if key is None and digest in self._kept:
                return self._kept[digest]
            if len(self._kept) >= _MOST_FOLDERS:
                raise ValueError(f"more than {_MOST_FOLDERS} modules have this name; the others are left out")
            folder = self._out / f"{file_name(module)}.{os.getpid()}-{len(self._kept) + 1}"
            kept = Kept(folder, module, digest, inputs, outputs, self._take)
            self._kept[key or digest] = kept
            return kept

    def _take(self, size: int) -> bool:
        """Whether there is room for `size` bytes; one call takes at most half of what is left."""
        with self._lock:
            if size * 2 > self._left:
                return False
            self._left -= size
            return True


class Kept:
    """Calls of one module."""

    def __init__(
        self, folder: Path, module: str, digest: str, inputs: list[str], outputs: list[str], take: Callable[[int], bool]
    ) -> None:
        self.module = module
        self.is_hook = False
        self._folder = folder
        self._take = take
        self._count = 0
        self._lock = threading.Lock()
        self._document: dict[str, Any] = {
            "schema": "ridgeline.golden.v1",
            "module": module,
            "stablehlo_sha256": digest,
            "inputs": inputs,
            "outputs": outputs,
            "calls_seen": 0,
            "left_out": 0,
            "kept": [],
        }

    def begins(self, args: tuple[Any, ...]) -> tuple[int, list[Any]] | None:
        """The number of this call and its inputs as bytes, if it is to be kept."""
        with self._lock:
            self._count += 1
            number = self._count
        if number > _FIRST_CALLS and number & (number - 1):
            return None
        size = sum(int(arg.nbytes) for arg in args)
        if not self._take(2 * size):
            self._document["left_out"] += 1
            self._write()
            return None
        return number, [_bytes(arg) for arg in args]

    def ends(self, begun: tuple[int, list[Any]], outputs: Any) -> None:
        """The call ended; raises OSError if it cannot be written."""
        number, inputs = begun
        folder = self._folder / f"call_{number:09}"
        folder.mkdir(parents=True, exist_ok=True)
        for side, arrays in (("in", inputs), ("out", [_bytes(output) for output in outputs])):
            for at, content in enumerate(arrays):
                (folder / f"{side}{at}.bin").write_bytes(content)
        with self._lock:
            self._document["kept"].append({"call": number, "folder": folder.name})
        self._write()

    def _write(self) -> None:
        with self._lock:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._document["calls_seen"] = self._count
            partial = self._folder / "golden.partial"
            partial.write_text(json.dumps(self._document, indent=1), encoding="utf-8")
            os.replace(partial, self._folder / "golden.json")


def _arrays(leaves: list[Any]) -> tuple[Any, ...]:
    numpy = importlib.import_module("numpy")
    jax = sys.modules["jax"]
    return tuple(leaf for leaf in leaves if isinstance(leaf, (jax.Array, numpy.ndarray)))


def _bytes(array: Any) -> bytes:
    """The values in logical order, the last dimension fastest, little-endian."""
    numpy = importlib.import_module("numpy")
    values = numpy.ascontiguousarray(numpy.asarray(array))
    return values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes()
