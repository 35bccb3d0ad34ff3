"""The cooling of a rod with ends that are kept cold, by implicit steps (lineax)."""

import time

import jax
import jax.numpy as jnp
import lineax as lx

POINTS, STEP = 500, 2e-3


def conductivity(x):
    return 0.05 * (1.0 + 0.5 * jnp.sin(6.0 * x))


def operator(x, spacing):
    """One plus the step times the (negative) second derivative."""
    between = conductivity(0.5 * (x[1:] + x[:-1])) * STEP / spacing**2
    left, right = jnp.r_[between[0], between], jnp.r_[between, between[-1]]
    return lx.MatrixLinearOperator(jnp.diag(1.0 + left + right) - jnp.diag(between, 1) - jnp.diag(between, -1))


@jax.jit
def advance(system, temperature):
    temperature = lx.linear_solve(system, temperature).value
    return temperature, temperature.max()


def main():
    x = jnp.linspace(0.0, 1.0, POINTS)
    system = operator(x, x[1] - x[0])
    temperature = jnp.exp(-50.0 * (x - 0.4) ** 2)
    jax.block_until_ready(advance(system, temperature))
    peaks = []
    steps = 30
    start = time.perf_counter()
    for _ in range(steps):
        temperature, peak = advance(system, temperature)
        peaks.append(peak)
    jax.block_until_ready(peaks)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(peaks[-1]), float(temperature.mean()))


if __name__ == "__main__":
    main()
