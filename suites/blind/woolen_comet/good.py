"""Ensemble of shallow-water channels integrated with a two-stage scheme."""
import time

import equinox as eqx
import jax
import jax.numpy as jnp

NX = 1536
MEMBERS = 4
INNER = 800
N_STEPS = 40
GRAVITY = 9.81
DX = 0.05
DT = 1e-3


class Progress:
    """Remembers the latest step and energy for the status line."""

    def __init__(self, total):
        self.total = total
        self.seen = 0
        self.energy = None

    def report(self, step, energy):
        self.seen = int(step)
        self.energy = float(energy)

    def line(self, block):
        return f"block {block:3d} step {self.seen + 1}/{self.total} energy {self.energy:.5f}"


class Channel(eqx.Module):
    drag: float
    viscosity: float

    def tendency(self, height, velocity):
        ddx = lambda a: (jnp.roll(a, -1, axis=-1) - jnp.roll(a, 1, axis=-1)) / (2 * DX)
        laplace = lambda a: (jnp.roll(a, -1, axis=-1) - 2 * a + jnp.roll(a, 1, axis=-1)) / DX**2
        dh = -ddx(height * velocity) + self.viscosity * laplace(height)
        du = -velocity * ddx(velocity) - GRAVITY * ddx(height) - self.drag * velocity
        return dh, du + self.viscosity * laplace(velocity)

    def advance(self, height, velocity):
        dh, du = self.tendency(height, velocity)
        mid_h, mid_u = height + 0.5 * DT * dh, velocity + 0.5 * DT * du
        dh, du = self.tendency(mid_h, mid_u)
        return height + DT * dh, velocity + DT * du

    def energy(self, height, velocity):
        return jnp.mean(0.5 * height * velocity**2 + 0.5 * GRAVITY * (height - 1.0) ** 2)


progress = Progress(INNER)


@eqx.filter_jit
def integrate(channel, height, velocity):
    def body(carry, i):
        height, velocity = channel.advance(*carry)
        energy = channel.energy(height, velocity)
        return (height, velocity), energy

    (height, velocity), energies = jax.lax.scan(body, (height, velocity), jnp.arange(INNER))
    return height, velocity, energies


def initial_waves(key):
    x = jnp.arange(NX) * DX
    k1, k2 = jax.random.split(key)
    centre = jax.random.uniform(k1, (MEMBERS, 1), minval=8.0, maxval=18.0)
    width = jax.random.uniform(k2, (MEMBERS, 1), minval=0.8, maxval=1.6)
    height = 1.0 + 0.1 * jnp.exp(-(((x - centre) / width) ** 2))
    return height, jnp.zeros_like(height)


def main():
    channel = Channel(drag=0.05, viscosity=0.01)
    height, velocity = initial_waves(jax.random.PRNGKey(4))
    jax.block_until_ready(integrate(channel, height, velocity))

    start = time.perf_counter()
    history, status = [], []
    for block in range(N_STEPS):
        height, velocity, energies = integrate(channel, height, velocity)
        history.append(jnp.mean(energies))
        jax.block_until_ready(height)
        progress.report(INNER - 1, energies[-1])
        status.append(progress.line(block))
    jax.block_until_ready(history)
    elapsed = time.perf_counter() - start

    print(status[-1])
    print(f"{N_STEPS} steps in {elapsed:.3f} s")
    print(f"checksum {float(sum(history)):.6f} {float(jnp.abs(velocity).sum()):.4f}")


if __name__ == "__main__":
    main()
