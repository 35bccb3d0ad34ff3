"""Ripples that the wind raises in sand, with a report on how the run goes."""

import time

import jax
import jax.numpy as jnp
import numpy as np

SIDE, GUSTS, RUNS = 96, 400, 8
REPORT_EVERY = 100
history = []


def report(gust, roughness, highest, share):
    """Keeps the course of the run, and prints it now and then."""
    history.append((int(gust), float(roughness), float(highest), float(share)))
    if gust % REPORT_EVERY == 0:
        print(f"gust {gust}: roughness {roughness:.4f}, highest {highest:.3f}, moving {share:.3f}")


def blow(key, height):
    """Grains leave the windward slopes and land further on."""
    slope = height - jnp.roll(height, 1, axis=1)
    chance = jnp.clip(0.3 + slope, 0.0, 1.0)
    leaving = jax.random.uniform(key, height.shape) < chance
    grains = jnp.where(leaving, 0.05, 0.0)
    far = jnp.where(height > 0.0, 1.0, 0.0)
    landing = jnp.roll(grains * far, 6, axis=1) + jnp.roll(grains * (1.0 - far), 4, axis=1)
    return height - grains + landing, leaving.mean()


def slide(height):
    """Steep slopes creep down."""
    around = sum(jnp.roll(height, shift, axis) for shift in (-1, 1) for axis in (0, 1))
    return height + 0.1 * (around - 4.0 * height)


@jax.jit
def simulate(key, height):
    def gust(height, inputs):
        number, key = inputs
        height, share = blow(key, height)
        height = slide(height)
        return height, (number, height.std(), height.max(), share)

    keys = jax.random.split(key, GUSTS)
    return jax.lax.scan(gust, height, (jnp.arange(GUSTS), keys))


def report_all(rows):
    for row in zip(*(np.asarray(column) for column in rows)):
        report(*row)


def main():
    start_key, *keys = jax.random.split(jax.random.key(7), RUNS + 2)
    height = 0.1 * jax.random.normal(start_key, (SIDE, SIDE))
    height, rows = simulate(keys[0], height)
    height.block_until_ready()
    history.clear()
    start = time.perf_counter()
    for key in keys[1:]:
        height, rows = simulate(key, height)
        report_all(rows)
    height.block_until_ready()
    print(f"{RUNS} steps in {time.perf_counter() - start:.4f} s")
    table = np.array(history)
    print("checksum", float(height.std()), float(table[:, 1].mean()), float(table[:, 3].mean()), len(table))


if __name__ == "__main__":
    main()
