"""How deep does the frost go?  Implicit heat conduction in a column of soil, cell by cell."""

import time

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np

CELLS = 240
DEPTH = 4.0
SUBSTEPS = 4
DAY = 86400.0


def conductivity(temperature):
    """Frozen soil conducts better than wet soil."""
    frozen = jax.nn.sigmoid(-4.0 * temperature)
    return 1.2 + 0.9 * frozen


def heat_capacity(temperature):
    """Melting ice takes up heat around zero degrees."""
    return 2.2e6 + 4.0e7 * jnp.exp(-((temperature / 0.7) ** 2))


def assemble(temperature, dt):
    """Matrix and right hand side of one backward Euler step, without the boundary."""
    dz = DEPTH / CELLS
    k = conductivity(temperature)
    between = 2.0 * k[1:] * k[:-1] / (k[1:] + k[:-1])
    scale = dt / (heat_capacity(temperature) * dz**2)
    main = jnp.ones(CELLS).at[1:].add(scale[1:] * between).at[:-1].add(scale[:-1] * between)
    upper = -scale[:-1] * between
    lower = -scale[1:] * between
    surface = scale[0] * 2.0 * k[0]
    return main.at[0].add(surface), upper, lower, surface


def backward_euler(temperature, air, dt):
    main, upper, lower, surface = assemble(temperature, dt)
    matrix = jnp.diag(main) + jnp.diag(upper, k=1) + jnp.diag(lower, k=-1)
    operator = lx.MatrixLinearOperator(matrix)
    rhs = temperature.at[0].add(surface * air)
    return lx.linear_solve(operator, rhs).value


@jax.jit
def advance_day(temperature, noon, night):
    """One day in a few implicit steps, with the air between night and noon."""

    def substep(temperature, phase):
        air = night + (noon - night) * jnp.sin(jnp.pi * phase) ** 2
        temperature = backward_euler(temperature, air, DAY / SUBSTEPS)
        return temperature, None

    phases = (jnp.arange(SUBSTEPS) + 0.5) / SUBSTEPS
    temperature, _ = jax.lax.scan(substep, temperature, phases)
    return temperature, frost_depth(temperature)


def frost_depth(temperature):
    """Thickness of the soil below zero, in metres."""
    return jnp.sum(jax.nn.sigmoid(-10.0 * temperature)) * DEPTH / CELLS


def weather(days, rng):
    season = -2.0 - 9.0 * np.sin(np.pi * np.arange(days) / days)
    night = season + rng.normal(0.0, 2.0, size=days)
    noon = night + rng.uniform(3.0, 9.0, size=days)
    return jnp.asarray(noon, jnp.float32), jnp.asarray(night, jnp.float32)


def main():
    days = 90
    noon, night = weather(days, np.random.default_rng(3))
    temperature = jnp.linspace(3.0, 9.0, CELLS)
    jax.block_until_ready(advance_day(temperature, noon[0], night[0]))

    start = time.perf_counter()
    depths = []
    for day in range(days):
        temperature, depth = advance_day(temperature, noon[day], night[day])
        depths.append(depth)
    depths = jnp.stack(depths)
    deepest = float(depths.max())
    print(f"{days} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {deepest:.5f} {float(temperature.mean()):.5f}")


if __name__ == "__main__":
    main()
