"""Coat patterns by reaction and diffusion: Gray-Scott fields for several feed rates at once."""
import time

import jax
import jax.numpy as jnp
import numpy as np

STEPS = 320
INNER = 100
SIZE = 96
COATS = 6
DIFFUSE_U = 0.16
DIFFUSE_V = 0.08


def laplacian(field):
    return (
        jnp.roll(field, 1, axis=-1)
        + jnp.roll(field, -1, axis=-1)
        + jnp.roll(field, 1, axis=-2)
        + jnp.roll(field, -1, axis=-2)
        - 4.0 * field
    )


def react(u, v, feed, kill):
    uvv = u * v * v
    du = DIFFUSE_U * laplacian(u) - uvv + feed * (1.0 - u)
    dv = DIFFUSE_V * laplacian(v) + uvv - (feed + kill) * v
    return u + du, v + dv


@jax.jit
def advance(u, v, feed, kill):
    """INNER time steps, then the covered share of every coat."""
    u, v = jax.lax.fori_loop(0, INNER, lambda _, uv: react(*uv, feed, kill), (u, v))
    return u, v, jnp.mean(v > 0.2, axis=(1, 2))


def initial_fields(seed=30):
    rng = np.random.default_rng(seed)
    u = np.ones((COATS, SIZE, SIZE))
    v = np.zeros((COATS, SIZE, SIZE))
    for coat in range(COATS):
        for row, col in rng.integers(5, SIZE - 15, size=(8, 2)):
            u[coat, row : row + 10, col : col + 10] = 0.5
            v[coat, row : row + 10, col : col + 10] = 0.25
    v += 0.01 * rng.uniform(size=v.shape)
    return jnp.asarray(u, jnp.float32), jnp.asarray(v, jnp.float32)


def main():
    u, v = initial_fields()
    feed = jnp.linspace(0.030, 0.045, COATS)[:, None, None]
    kill = jnp.linspace(0.060, 0.063, COATS)[:, None, None]

    jax.block_until_ready(advance(u, v, feed, kill))

    start = time.perf_counter()
    covers = []
    for _ in range(STEPS):
        u, v, cover = advance(u, v, feed, kill)
        covers.append(cover)
    jax.block_until_ready((u, v, covers))
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    covers = np.asarray(jax.device_get(covers))
    print(f"checksum {covers[-1].mean():.4f} {covers[0].mean():.4f} {float(jnp.mean(u)):.4f}")


if __name__ == "__main__":
    main()
