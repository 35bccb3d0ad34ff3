"""What a JAX device reaches: memory bandwidth, multiply-adds, matrix products, exponentials, sorts, launches, copies.

Every loop is compiled by JAX, so the rates are those that a JAX program can get.
Work is queued and waited for once per round; results go into donated buffers, so no round pays for new memory.
What is computed depends on what was computed before, and arguments are not constants, so nothing is folded or left out.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .calibrate_time import Effort, rounds, seconds

#: Types whose multiply-adds are measured.
ADD_TYPES = ("f64", "f32", "bf16", "f16", "i8")
#: Types whose matrix products are measured; `tf32` is `f32` as the backend multiplies it by default.
MATRIX_TYPES = ("f64", "f32", "tf32", "bf16", "f16", "i8")
DTYPES = {"f64": jnp.float64, "f32": jnp.float32, "tf32": jnp.float32, "bf16": jnp.bfloat16, "f16": jnp.float16, "i8": jnp.int8}

#: Chains of multiply-adds per element, and links of each chain.
CHAINS, LINKS = 8, 32
#: Passes over the elements in one call.
PASSES = 4
#: Iterations of the compiled loop of `loop_iteration`.
ITERATIONS = 1000
#: Types whose exponentials and sorts are measured.
FUNCTION_TYPES = ("f64", "f32", "bf16", "f16")
SORT_TYPES = ("f64", "f32")
#: Exponentials of each element in one pass.
EXPONENTIALS = 8
#: Products in the compiled function of `operation_interval`.
PRODUCTS = 100
#: A matrix product is large enough when it takes this long, seconds.
PRODUCT_S = 0.02
#: Edges of matrices to try.
EDGES = (1024, 2048, 4096, 8192, 16384)
#: Sizes of copies: these, up to the largest of the effort; bytes.
COPY_SIZES = tuple(1 << power for power in (12, 16, 20, 24, 28))


class NotHere(Exception):
    """Something that this device does not have, with the reason."""


@dataclass(frozen=True)
class Device:
    """A device, how long to measure, and the size of an array that its caches do not hold, bytes."""

    device: Any
    effort: Effort
    array_bytes: int

    @property
    def is_cpu(self) -> bool:
        """True if the device is the host's processor."""
        return self.device.platform == "cpu"

    def put(self, value: Any) -> Any:
        """`value` on the device, ready."""
        return jax.block_until_ready(jax.device_put(value, self.device))


@dataclass(frozen=True)
class Probe:
    """One thing to measure: what, of which type, and how; `measure` returns the fields of the result."""

    what: str
    type: str | None
    measure: Callable[[Device], dict[str, Any]]


def probes() -> Iterator[Probe]:
    """Everything that is measured, in order."""
    for what, arrays in (("copy", 2), ("scale", 2), ("add", 3), ("triad", 3)):
        yield Probe(f"stream_{what}", "f32", lambda device, what=what, arrays=arrays: _stream(device, what, arrays))
    for name in ADD_TYPES:
        yield Probe("multiply_add", name, lambda device, name=name: _multiply_add(device, name))
    for name in MATRIX_TYPES:
        yield Probe("matrix", name, lambda device, name=name: _matrix(device, name))
    for name in FUNCTION_TYPES:
        yield Probe("transcendental", name, lambda device, name=name: _transcendental(device, name))
    for name in SORT_TYPES:
        yield Probe("sort", name, lambda device, name=name: _sort(device, name))
    yield Probe("operation_interval", None, _operation_interval)
    yield Probe("launch_interval", None, _launch_interval)
    yield Probe("launch_roundtrip", None, _launch_roundtrip)
    yield Probe("loop_iteration", None, _loop_iteration)
    for what in ("host_to_device", "device_to_host", "pinned_to_device", "device_to_pinned"):
        yield Probe(what, None, lambda device, what=what: _copies(device, what))


def rate(amount: float, times: list[float], unit: str) -> dict[str, Any]:
    """`amount` of work over the shortest and the median of `times`."""
    return {"unit": unit, "value": amount / min(times), "median": amount / statistics.median(times), "rounds": len(times),
            "amount": amount}


def duration(times: list[float]) -> dict[str, Any]:
    """The shortest and the median of `times`, in nanoseconds."""
    return {"unit": "ns", "value": min(times) * 1e9, "median": statistics.median(times) * 1e9, "rounds": len(times)}


def _stream(device: Device, what: str, arrays: int) -> dict[str, Any]:
    """The four loops of STREAM, its bytes counted as it does: each element read or written once."""
    elements = device.array_bytes // 4
    scalar = device.put(np.float32(3))
    old, b, c = (device.put(jnp.full(elements, value, jnp.float32)) for value in (1.0, 2.0, 0.5))
    loop = {
        "copy": lambda old, b, c, s: jnp.copy(b),
        "scale": lambda old, b, c, s: s * b,
        "add": lambda old, b, c, s: b + c,
        "triad": lambda old, b, c, s: b + s * c,
    }[what]
    # The array that is overwritten is an argument for its buffer alone.
    compiled = jax.jit(loop, donate_argnums=0, keep_unused=True)

    def repeat(count: int) -> None:
        nonlocal old
        for _ in range(count):
            old = compiled(old, b, c, scalar)
        old.block_until_ready()

    return rate(4.0 * elements * arrays, rounds(repeat, device.effort), "bytes/s")


def _multiply_add(device: Device, name: str) -> dict[str, Any]:
    """Independent chains of `x = x m + b` for each element of an array, in registers of the compiled loop."""
    dtype, is_integer = DTYPES[name], name == "i8"
    elements = 1 << (20 if device.is_cpu else 24)
    factor, summand = (device.put(np.asarray(value, dtype)) for value in ((3, 5) if is_integer else (0.5, 0.25)))
    x = device.put(jnp.ones(elements, dtype))

    def one_pass(_: int, x: Any, factor: Any, summand: Any) -> Any:
        chains = [x] + [x + jnp.asarray(number, dtype) for number in range(1, CHAINS)]
        for _link in range(LINKS):
            chains = [chain * factor + summand for chain in chains]
        total = chains[0]
        for chain in chains[1:]:
            total = total + chain
        return total

    def passes(x: Any, factor: Any, summand: Any) -> Any:
        return lax.fori_loop(0, PASSES, lambda number, x: one_pass(number, x, factor, summand), x)

    compiled = jax.jit(passes, donate_argnums=0)

    def repeat(count: int) -> None:
        nonlocal x
        for _ in range(count):
            x = compiled(x, factor, summand)
        x.block_until_ready()

    # Beside the multiply-adds: one sum to start each chain but the first, and as many to join them.
    operations = elements * PASSES * (2 * CHAINS * LINKS + 2 * (CHAINS - 1))
    return rate(float(operations), rounds(repeat, device.effort), "op/s" if is_integer else "flop/s")


def _matrix(device: Device, name: str) -> dict[str, Any]:
    """The product of two square matrices of random numbers, 2 n³ operations."""
    if name == "tf32" and device.device.platform not in ("gpu", "cuda"):
        raise NotHere("only NVIDIA devices multiply f32 as tf32")
    is_integer = name == "i8"
    times: list[float] = []
    for edge in EDGES:
        times = _products(device, name, edge)
        if min(times) > PRODUCT_S:
            break
    return rate(2.0 * edge**3, times, "op/s" if is_integer else "flop/s") | {"edge": edge}


def _products(device: Device, name: str, edge: int) -> list[float]:
    dtype, random = DTYPES[name], np.random.default_rng(0)
    numbers = random.integers(-8, 8, (2, edge, edge), np.int8) if name == "i8" else random.random((2, edge, edge), np.float32) - 0.5
    a, b = (device.put(jnp.asarray(matrix, dtype)) for matrix in numbers)
    result = {"f64": jnp.float64, "i8": jnp.int32}.get(name, jnp.float32)
    precision = lax.Precision.HIGHEST if name == "f32" else lax.Precision.DEFAULT
    old = device.put(jnp.zeros((edge, edge), result))
    compiled = jax.jit(lambda old, a, b: lax.dot(a, b, precision=precision, preferred_element_type=result),
                       donate_argnums=0, keep_unused=True)

    def repeat(count: int) -> None:
        nonlocal old
        for _ in range(count):
            old = compiled(old, a, b)
        old.block_until_ready()

    return rounds(repeat, device.effort)


def _transcendental(device: Device, name: str) -> dict[str, Any]:
    """Chains of `x = exp(-x)` for each element of an array; each exponential counts once."""
    dtype = DTYPES[name]
    elements = 1 << (18 if device.is_cpu else 24)
    x = device.put(jnp.linspace(0, 1, elements, dtype=dtype))

    def passes(x: Any) -> Any:
        def one_pass(_: int, x: Any) -> Any:
            for _link in range(EXPONENTIALS):
                x = jnp.exp(-x)
            return x

        return lax.fori_loop(0, PASSES, one_pass, x)

    compiled = jax.jit(passes, donate_argnums=0)

    def repeat(count: int) -> None:
        nonlocal x
        for _ in range(count):
            x = compiled(x)
        x.block_until_ready()

    return rate(float(elements * PASSES * EXPONENTIALS), rounds(repeat, device.effort), "op/s")


def _sort(device: Device, name: str) -> dict[str, Any]:
    """The sort of an array of random numbers; n numbers count n log2 n comparisons, however few an algorithm needs."""
    elements = 1 << (16 if device.is_cpu else 24)
    numbers = device.put(jnp.asarray(np.random.default_rng(0).random(elements), DTYPES[name]))
    old = device.put(jnp.zeros_like(numbers))
    compiled = jax.jit(lambda old, numbers: lax.sort(numbers), donate_argnums=0, keep_unused=True)

    def repeat(count: int) -> None:
        nonlocal old
        for _ in range(count):
            old = compiled(old, numbers)
        old.block_until_ready()

    return rate(elements * math.log2(elements), rounds(repeat, device.effort), "op/s")


def _operation_interval(device: Device) -> dict[str, Any]:
    """Time from one small operation to the next within a compiled function.

    Each product needs the one before, and XLA neither joins them nor makes a native loop of them: its runtime starts each as it
    starts the operations of a program.
    """
    x, matrix = device.put(jnp.ones(4, jnp.float32)), device.put(jnp.full((4, 4), 0.25, jnp.float32))

    def chain(x: Any, matrix: Any) -> Any:
        for _ in range(PRODUCTS):
            x = matrix @ x
        return x

    compiled = jax.jit(chain, donate_argnums=0).lower(x, matrix).compile()
    operations = started_operations(compiled.as_text())

    def repeat(count: int) -> None:
        nonlocal x
        for _ in range(count):
            x = compiled(x, matrix)
        x.block_until_ready()

    return duration([time / operations for time in rounds(repeat, device.effort)]) | {"operations": operations}


def started_operations(text: str) -> int:
    """Operations of a module of small products that the runtime starts: XLA may put a fusion between two products."""
    operations = len(re.findall(r" (?:dot|fusion|custom-call)\(", text.partition("\nENTRY")[2]))
    if operations < PRODUCTS:
        raise NotHere(f"expected {PRODUCTS} operations in the compiled function, found {operations}: XLA joined them")
    return operations


def _small(device: Device) -> tuple[Any, Any]:
    return jax.jit(lambda x: x + 1, donate_argnums=0), device.put(jnp.zeros(8, jnp.float32))


def _launch_interval(device: Device) -> dict[str, Any]:
    """Time from one launch to the next where many small compiled functions are queued."""
    small, x = _small(device)

    def repeat(count: int) -> None:
        nonlocal x
        for _ in range(count):
            x = small(x)
        x.block_until_ready()

    return duration(rounds(repeat, device.effort))


def _launch_roundtrip(device: Device) -> dict[str, Any]:
    """Time of one small compiled function, launched and waited for."""
    small, x = _small(device)

    def repeat(count: int) -> None:
        nonlocal x
        for _ in range(count):
            x = small(x).block_until_ready()

    return duration(rounds(repeat, device.effort))


def _loop_iteration(device: Device) -> dict[str, Any]:
    """Time of one iteration of a compiled loop whose body is one small kernel."""
    factor, x = device.put(np.float32(0.5)), device.put(jnp.zeros(8, jnp.float32))
    compiled = jax.jit(lambda x, factor: lax.fori_loop(0, ITERATIONS, lambda _, x: x * factor + 1, x), donate_argnums=0)

    def repeat(count: int) -> None:
        nonlocal x
        for _ in range(count):
            x = compiled(x, factor)
        x.block_until_ready()

    return duration([time / ITERATIONS for time in rounds(repeat, device.effort)])


def _copies(device: Device, what: str) -> dict[str, Any]:
    """Copies by size; the rate is the best of all sizes, the points hold the shortest time of each."""
    if device.is_cpu:
        raise NotHere("the device works in the host's own memory")
    copy = {
        "host_to_device": _to_device,
        "device_to_host": _to_host,
        "pinned_to_device": _from_pinned,
        "device_to_pinned": _to_pinned,
    }[what]
    points = []
    for size in (size for size in COPY_SIZES if size <= device.effort.copy_bytes):
        prepare, run = copy(device, np.ones(size, np.uint8))
        times = []
        for _ in range(2 * device.effort.rounds + 1):
            argument = prepare()
            times.append(seconds(lambda: run(argument)))
        points.append({"bytes": size, "ns": min(times[1:]) * 1e9})
    best = max(points, key=lambda point: point["bytes"] / point["ns"])
    return {"unit": "bytes/s", "value": best["bytes"] / best["ns"] * 1e9, "median": None, "rounds": 2 * device.effort.rounds,
            "amount": float(best["bytes"]), "points": points}


def _to_device(device: Device, host: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    return (lambda: host), lambda host: jax.device_put(host, device.device).block_until_ready()


def _to_host(device: Device, host: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    # A new array each time: one that was read once keeps what was read.
    original, again = device.put(host), jax.jit(lambda x: x + 1)
    into = np.empty_like(host)
    return (lambda: again(original).block_until_ready()), lambda fresh: np.copyto(into, np.asarray(fresh))


def _from_pinned(device: Device, host: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    pinned = jax.device_put(host, _pinned(device)).block_until_ready()
    return (lambda: pinned), lambda pinned: jax.device_put(pinned, _own(device)).block_until_ready()


def _to_pinned(device: Device, host: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    own = device.put(host)
    return (lambda: own), lambda own: jax.device_put(own, _pinned(device)).block_until_ready()


def _pinned(device: Device) -> Any:
    kinds = {memory.kind for memory in device.device.addressable_memories()}
    if "pinned_host" not in kinds:
        raise NotHere("the device has no pinned host memory")
    return jax.sharding.SingleDeviceSharding(device.device, memory_kind="pinned_host")


def _own(device: Device) -> Any:
    return jax.sharding.SingleDeviceSharding(device.device, memory_kind="device")
