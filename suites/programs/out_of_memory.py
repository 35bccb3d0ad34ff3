"""Takes ever larger arrays until its device has no more memory, and ends with the exception that this raises.

    python out_of_memory.py --library jax
    python out_of_memory.py --library torch --largest-gib 8       stops there even if memory is left
"""

from __future__ import annotations

import argparse

GIB = 1 << 30


def take_jax(gib: int):
    """An array of `gib` GiB."""
    import jax.numpy as jnp

    return jnp.ones((gib, GIB // 4), jnp.float32).block_until_ready()


def take_torch(gib: int):
    """A tensor of `gib` GiB."""
    import torch

    return torch.ones((gib, GIB // 4), dtype=torch.float32, device="cuda" if torch.cuda.is_available() else "cpu")


def main() -> None:
    """Double what is held, and hold it all."""
    parser = argparse.ArgumentParser(description="Runs out of device memory")
    parser.add_argument("--library", choices=("jax", "torch"), default="jax")
    parser.add_argument("--largest-gib", type=int, default=1 << 20, help="stop at an array of this size, GiB")
    options = parser.parse_args()
    take = take_jax if options.library == "jax" else take_torch
    held, gib = [], 1
    while gib <= options.largest_gib:
        held.append(take(gib))
        print(f"holds {2 * gib - 1} GiB", flush=True)
        gib *= 2


if __name__ == "__main__":
    main()
