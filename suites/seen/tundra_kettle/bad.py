"""Implicit time stepping of nonlocal (peridynamic) heat conduction.

Temperature in a rod with long-range heat exchange between all pairs of points.
The exchange kernel falls off as a power of the distance, the time integration
is Crank-Nicolson, the rod is heated by a lamp that sweeps along it.
"""
import time

import jax
import jax.numpy as jnp
import numpy as np

N_POINTS = 300
N_STEPS = 80
DT = 8e-3
EXCHANGE = 0.6
LOSS = 0.3


def exchange_operator(seed=0):
    """Symmetric negative semi-definite generator of the nonlocal exchange."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0.0, 1.0, N_POINTS)
    distance = np.abs(x[:, None] - x[None, :])
    conductivity = 1.0 + 0.3 * rng.uniform(size=N_POINTS)
    kernel = np.sqrt(np.outer(conductivity, conductivity))
    kernel /= N_POINTS * (distance + 0.01) ** 1.5
    np.fill_diagonal(kernel, 0.0)
    generator = EXCHANGE * (kernel - np.diag(kernel.sum(1))) - LOSS * np.eye(N_POINTS)
    return jnp.asarray(x, jnp.float32), jnp.asarray(generator, jnp.float32)


def lamp(x, t):
    """Heating by a lamp that goes to and fro along the rod."""
    position = 0.5 + 0.4 * jnp.sin(4.0 * t)
    return 5.0 * jnp.exp(-((x - position) ** 2) / 0.005)


def crank_nicolson(generator):
    """The implicit and the explicit matrix of the scheme."""
    identity = jnp.eye(N_POINTS)
    return identity - 0.5 * DT * generator, identity + 0.5 * DT * generator


@jax.jit
def advance(temperature, t, x, implicit, explicit):
    """One time step; returns the new profile and its mean."""
    rhs = explicit @ temperature + DT * lamp(x, t + 0.5 * DT)
    temperature = jnp.linalg.solve(implicit, rhs)
    return temperature, temperature.mean()


def initial_profile(x, seed):
    """A few random warm spots on a cold rod."""
    rng = np.random.default_rng(seed)
    profile = jnp.zeros_like(x)
    for centre, height in zip(rng.uniform(size=4), rng.uniform(0.5, 2.0, 4)):
        profile += height * jnp.exp(-((x - centre) ** 2) / 0.002)
    return profile


def hottest_point(x, temperature):
    """Place and value of the maximum."""
    index = int(jnp.argmax(temperature))
    return float(x[index]), float(temperature[index])


def main():
    x, generator = exchange_operator()

    implicit, explicit = crank_nicolson(generator)
    temperature = initial_profile(x, 2)

    # warm-up; the result is dropped
    jax.block_until_ready(advance(temperature, 0.0, x, implicit, explicit))

    start = time.perf_counter()
    means = []
    for n in range(N_STEPS):
        temperature, mean = advance(temperature, n * DT, x, implicit, explicit)
        means.append(mean)
    jax.block_until_ready((temperature, means))
    elapsed = time.perf_counter() - start

    place, value = hottest_point(x, temperature)
    print(f"hottest point at {place:.3f}: {value:.3f}")
    print(f"{N_STEPS} steps in {elapsed:.2f} s")
    print(f"checksums {float(temperature.mean()):.5f} {float(temperature.std()):.5f}"
          f" {float(means[N_STEPS // 2]):.5f}")


if __name__ == "__main__":
    main()
