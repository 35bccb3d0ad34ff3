"""Implicit time stepping of heat in a furnace wall whose conductivity depends on temperature."""
import time

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np

N_CELLS = 192
THICKNESS = 0.4


def conductivity(temperature):
    return 1.2 + 8e-4 * temperature + 0.3 * jnp.tanh((temperature - 600.0) / 80.0)


class Wall:
    def __init__(self, dt, inside, outside):
        self.dx = THICKNESS / N_CELLS
        self.dt = dt
        self.inside = inside
        self.outside = outside
        self.capacity = 2.0e6

    def coefficients(self, temperature):
        k = conductivity(temperature)
        k_face = 2.0 * k[1:] * k[:-1] / (k[1:] + k[:-1])
        r = self.dt / (self.capacity * self.dx**2)
        left = jnp.concatenate([2.0 * k[:1], k_face]) * r
        right = jnp.concatenate([k_face, 2.0 * k[-1:]]) * r
        return left, right

    def operator(self, left, right):
        matrix = (
            jnp.diag(1.0 + left + right)
            + jnp.diag(-left[1:], k=-1)
            + jnp.diag(-right[:-1], k=1)
        )
        return lx.MatrixLinearOperator(matrix)

    def step(self, temperature, t):
        t_in = self.inside * (1.0 + 0.1 * jnp.sin(2 * jnp.pi * t / 3600.0))
        guess = temperature
        for _ in range(2):
            left, right = self.coefficients(guess)
            rhs = temperature.at[0].add(left[0] * t_in).at[-1].add(right[-1] * self.outside)
            guess = lx.linear_solve(self.operator(left, right), rhs).value
        flux = right[-1] * (guess[-1] - self.outside)
        return guess, flux

    def advance(self, temperature, times):
        return jax.lax.scan(self.step, temperature, times)


def main():
    wall = Wall(dt=20.0, inside=1100.0, outside=40.0)
    temperature = jnp.full((N_CELLS,), 40.0)
    advance = jax.jit(wall.advance)
    per_chunk = 40
    times = wall.dt * (1.0 + np.arange(per_chunk, dtype=np.float32))
    jax.block_until_ready(advance(temperature, times))

    n_steps = 72
    losses = []
    start = time.perf_counter()
    for i in range(n_steps):
        temperature, flux = advance(temperature, times + i * per_chunk * wall.dt)
        losses.append(jnp.sum(flux))
    jax.block_until_ready((temperature, losses))
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"hot face {float(temperature[0]):.1f} C, middle {float(temperature[N_CELLS // 2]):.1f} C")
    print(f"checksum {float(temperature.mean()):.4f} {float(temperature[N_CELLS // 3]):.4f}")


if __name__ == "__main__":
    main()
