"""A map of a cave from the echoes of a drone, as log odds in a grid of voxels."""

import functools
import time

import jax
import jax.numpy as jnp

GRID = (256, 256, 128)
RAYS, SAMPLES, SCANS = 1500, 16, 150
HIT, MISS, LIMIT = 0.85, -0.1, 3.5


def cast_rays(key, center):
    """Directions of the beams and how far each of them goes."""
    turn_key, range_key = jax.random.split(key)
    beams = jax.random.normal(turn_key, (RAYS, 3))
    beams = beams / jnp.linalg.norm(beams, axis=1, keepdims=True)
    reach = 30.0 + 8.0 * jnp.sin(4.0 * beams[:, 0] + center[0] / 40.0)
    return beams, reach + 0.3 * jax.random.normal(range_key, (RAYS,))


def voxels(points):
    cells = jnp.floor(points).astype(jnp.int32)
    return cells[..., 0], cells[..., 1], cells[..., 2]


@functools.partial(jax.jit, donate_argnums=0)
def integrate(odds, key, center):
    """Adds one scan to the map."""
    beams, reach = cast_rays(key, center)
    along = jnp.linspace(0.05, 0.95, SAMPLES)[:, None, None]
    free = center + along * (reach[:, None] * beams)
    hits = center + reach[:, None] * beams
    odds = odds.at[voxels(free)].add(MISS, mode="drop")
    odds = odds.at[voxels(hits)].add(HIT, mode="drop")
    return odds.at[voxels(hits)].min(LIMIT, mode="drop")


def flight_path():
    t = jnp.linspace(0.0, 2.0 * jnp.pi, SCANS)
    middle = jnp.array(GRID) / 2.0
    return middle + jnp.stack([60.0 * jnp.cos(t), 60.0 * jnp.sin(t), 10.0 * jnp.sin(3.0 * t)], axis=1)


def main():
    keys = list(jax.random.split(jax.random.key(9), SCANS))
    centers = list(flight_path())
    odds = integrate(jnp.zeros(GRID), keys[0], centers[0])
    odds.block_until_ready()
    start = time.perf_counter()
    for key, center in zip(keys, centers):
        odds = integrate(odds, key, center)
    odds.block_until_ready()
    print(f"{SCANS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float((odds > 0.0).sum()), float((odds < 0.0).sum()))


if __name__ == "__main__":
    main()
