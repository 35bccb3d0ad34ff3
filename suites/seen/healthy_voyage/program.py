"""A particle filter that follows ships by bearings from the shore."""

import time

import jax
import jax.numpy as jnp

PARTICLES, SHIPS, LENGTH = 2000, 8, 100
STATIONS = jnp.array([[0.0, -4.0], [3.0, -5.0]])


def bearings(position):
    away = position[..., None, :2] - STATIONS
    return jnp.arctan2(away[..., 1], away[..., 0])


def resample(start, weights, particles):
    """Systematic resampling."""
    places = (start + jnp.arange(PARTICLES)) / PARTICLES
    return particles[jnp.searchsorted(jnp.cumsum(weights), places).clip(max=PARTICLES - 1)]


def track(key, measured):
    first_key, noise_key, start_key = jax.random.split(key, 3)
    particles = jax.random.normal(first_key, (PARTICLES, 4)) * jnp.array([2.0, 2.0, 0.1, 0.1])

    def step(particles, inputs):
        key, start, measured = inputs
        moved = particles.at[:, :2].add(particles[:, 2:])
        moved = moved + jax.random.normal(key, moved.shape) * jnp.array([0.02, 0.02, 0.01, 0.01])
        off = bearings(moved) - measured
        off = (off + jnp.pi) % (2 * jnp.pi) - jnp.pi
        weights = jax.nn.softmax(-0.5 * jnp.square(off / 0.05).sum(axis=1))
        return resample(start, weights, moved), weights @ moved[:, :2]

    starts = jax.random.uniform(start_key, (LENGTH,))
    _, path = jax.lax.scan(step, particles, (jax.random.split(noise_key, LENGTH), starts, measured))
    return path


track_all = jax.jit(jax.vmap(track))


def main():
    key, place_key, noise_key = jax.random.split(jax.random.key(2), 3)
    place, speed = jax.random.normal(place_key, (2, SHIPS, 1, 2))
    truth = place + 0.05 * speed * jnp.arange(LENGTH)[:, None]
    measured = bearings(truth) + 0.05 * jax.random.normal(noise_key, (SHIPS, LENGTH, 2))
    keys = list(jax.random.split(key, (7, SHIPS)))
    track_all(keys[0], measured).block_until_ready()
    start = time.perf_counter()
    paths = [track_all(own, measured) for own in keys[1:]]
    jax.block_until_ready(paths)
    print(f"{len(paths)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.median(jnp.linalg.norm(jnp.stack(paths) - truth, axis=-1))))


if __name__ == "__main__":
    main()
