"""Runs the operations of a suite one after the other, each compiled once, and writes what XLA says of each to a file.

With `--marked` each operation's last run lies between cudaProfilerStart and cudaProfilerStop, after a kernel that counts bits,
which no operation does: so a list of kernels can be told apart by operation.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

try:
    import ridgeline.suite as suites
except ImportError:  # Without `ridgeline record`, which brings the package.
    sys.path.insert(0, str(ROOT / "python"))
    import ridgeline.suite as suites


def cuda_runtime() -> ctypes.CDLL:
    """The CUDA runtime that the program itself loaded, else the first that the system finds."""
    mapped = [line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libcudart.so" in line]
    for name in [*mapped, "libcudart.so", "libcudart.so.13", "libcudart.so.12"]:
        with contextlib.suppress(OSError):
            return ctypes.CDLL(name)
    raise OSError("no CUDA runtime (libcudart.so) is loaded or found")


@contextlib.contextmanager
def profiled(runtime: ctypes.CDLL | None) -> Iterator[None]:
    """What runs inside is what a profiler with `--profile-from-start off` sees."""
    if runtime is None:
        yield
        return
    runtime.cudaProfilerStart()
    try:
        yield
    finally:
        runtime.cudaProfilerStop()


def main() -> None:
    """Run them, and write the facts."""
    parser = argparse.ArgumentParser(description="Runs the operations of a suite one by one")
    parser.add_argument("suite", type=Path)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--repeats", type=int, default=5, help="runs after the first")
    parser.add_argument("--ops", action="append", default=[], help="shell pattern of operations; repeatable")
    parser.add_argument("--marked", action="store_true", help="mark each operation for a profiler")
    parser.add_argument("--facts", type=Path, required=True, help="file to write")
    options = parser.parse_args()

    suite = suites.load_suite(options.suite)
    import jax
    import jax.numpy as jnp

    mark = jax.jit(jax.lax.population_count).lower(jnp.arange(7)).compile()
    seven = jax.block_until_ready(jnp.arange(7))
    jax.block_until_ready(mark(seven))
    runtime = cuda_runtime() if options.marked else None
    inputs, facts = suites.Inputs(suite, options.size), {}

    def run_all(compiled: Callable, arguments: dict) -> None:
        jax.block_until_ready(compiled(**arguments))
        for number in range(options.repeats):
            with profiled(runtime if number == options.repeats - 1 else None):
                if options.marked and number == options.repeats - 1:
                    jax.block_until_ready(mark(seven))
                jax.block_until_ready(compiled(**arguments))

    for name in suite.select(options.ops):
        try:
            declared = suite.operations[name]
            arguments = inputs.arguments(declared)
            compiled = declared.function.lower(**arguments).compile()
            cost = compiled.cost_analysis() or {}
            run_all(compiled, arguments)
            facts[name] = {"runs": options.repeats + 1, "xla_bytes": cost.get("bytes accessed"), "xla_flops": cost.get("flops")}
        except Exception as error:  # noqa: BLE001 - one operation that fails is one row less
            facts[name] = {"failed": f"{type(error).__name__}: {error}"[:300]}
        print(name, facts[name], flush=True)
    options.facts.write_text(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
