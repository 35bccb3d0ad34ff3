"""Maps of the ground water level with error bars, by kriging from wells."""

import time

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve

WELLS, SIDE, MONTHS = 200, 64, 20
NOISE, REACH = 0.05, 0.15


def covariance(left, right):
    away = jnp.square(left[:, None, :] - right[None, :, :]).sum(axis=-1)
    return jnp.exp(-0.5 * away / REACH**2)


def map_places():
    side = jnp.linspace(0.0, 1.0, SIDE)
    return jnp.stack(jnp.meshgrid(side, side), axis=-1).reshape(-1, 2)


@jax.jit
def krige(wells, levels, places):
    """Mean and standard deviation of the level at each place of the map."""
    own = covariance(wells, wells) + NOISE**2 * jnp.eye(wells.shape[0])
    cross = covariance(places, wells)
    factor = cho_factor(own, lower=True)
    mean = cross @ cho_solve(factor, levels)
    explained = jnp.sum(cross.T * cho_solve(factor, cross.T), axis=0)
    spread = jnp.sqrt(jnp.maximum(1.0 - explained, 0.0) + NOISE**2)
    return mean, spread


def make_survey(key):
    """Wells that were read in this month, and the levels in them."""
    place_key, noise_key = jax.random.split(key)
    wells = jax.random.uniform(place_key, (WELLS, 2))
    levels = jnp.sin(5.0 * wells[:, 0]) * jnp.cos(4.0 * wells[:, 1])
    return wells, levels + NOISE * jax.random.normal(noise_key, (WELLS,))


def main():
    places = map_places()
    surveys = [make_survey(key) for key in jax.random.split(jax.random.key(6), MONTHS + 1)]
    jax.block_until_ready(krige(*surveys[0], places))
    start = time.perf_counter()
    maps = [krige(wells, levels, places) for wells, levels in surveys[1:]]
    jax.block_until_ready(maps)
    print(f"{MONTHS} steps in {time.perf_counter() - start:.4f} s")
    means = jnp.stack([jnp.square(mean).mean() for mean, _ in maps])
    spreads = jnp.stack([spread.mean() for _, spread in maps])
    print("checksum", float(means.mean()), float(spreads.mean()))


if __name__ == "__main__":
    main()
