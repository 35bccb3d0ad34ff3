"""Bootstrap particle filter for a target seen only by its bearing.

Constant-velocity motion, a sensor that circles the target, systematic
resampling when the effective sample size has fallen below a half.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

PARTICLES = 6000
DT, PROCESS, BEARING = 1.0, 0.03, 0.02


def simulate(length, seed=0):
    rng = np.random.default_rng(seed)
    state = np.array([2.0, 1.0, 0.1, 0.05])
    sensor, bearing = [], []
    for t in range(length):
        state[:2] += DT * state[2:]
        state[2:] += PROCESS * rng.normal(size=2)
        at = 8.0 * np.array([np.cos(0.15 * t), np.sin(0.15 * t)])
        gap = state[:2] - at
        sensor.append(at)
        bearing.append(np.arctan2(gap[1], gap[0]) + BEARING * rng.normal())
    return np.asarray(sensor, np.float32), np.asarray(bearing, np.float32)


def move(key, particles):
    noise = PROCESS * jax.random.normal(key, (PARTICLES, 2))
    velocity = particles[:, 2:] + noise
    return jnp.concatenate([particles[:, :2] + DT * velocity, velocity], axis=1)


def log_likelihood(particles, sensor, bearing):
    gap = particles[:, :2] - sensor
    error = jnp.arctan2(gap[:, 1], gap[:, 0]) - bearing
    error = jnp.arctan2(jnp.sin(error), jnp.cos(error))
    return -0.5 * (error / BEARING) ** 2


def systematic(key, weights):
    """Indices of the survivors, by one uniform and an even comb."""
    comb = (jax.random.uniform(key) + jnp.arange(PARTICLES)) / PARTICLES
    edges = jnp.cumsum(weights)
    return jnp.clip(jnp.searchsorted(edges, comb, side="right"), 0, PARTICLES - 1)


@jax.jit
def assimilate(key, particles, log_w, sensor, bearing):
    move_key, comb_key = jax.random.split(key)
    particles = move(move_key, particles)
    log_w = log_w + log_likelihood(particles, sensor, bearing)
    log_w = log_w - jax.nn.logsumexp(log_w)
    weights = jnp.exp(log_w)
    estimate = weights @ particles

    def resample(_):
        return particles[systematic(comb_key, weights)], jnp.full(PARTICLES, -jnp.log(PARTICLES))

    def keep(_):
        return particles, log_w

    effective = 1.0 / jnp.sum(weights**2)
    particles, log_w = jax.lax.cond(effective < 0.5 * PARTICLES, resample, keep, None)
    return particles, log_w, estimate


def main():
    sensor, bearing = simulate(160)
    key = jax.random.key(2)
    spread = jnp.array([1.0, 1.0, 0.1, 0.1])
    particles = jnp.array([2.0, 1.0, 0.0, 0.0]) + spread * jax.random.normal(key, (PARTICLES, 4))
    log_w = jnp.full(PARTICLES, -jnp.log(PARTICLES))
    keys = jax.random.split(key, 160)
    for t in range(10):
        particles, log_w, estimate = assimilate(keys[t], particles, log_w, sensor[t], bearing[t])
    estimate.block_until_ready()
    steps = 0
    track = []
    start = time.perf_counter()
    for t in range(10, len(keys)):
        particles, log_w, estimate = assimilate(keys[t], particles, log_w, sensor[t], bearing[t])
        track.append(estimate)
        steps += 1
    jax.block_until_ready(track)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    track = jnp.stack(track)
    print("checksum", float(track[:, 0].mean()), float(track[:, 1].mean()))


if __name__ == "__main__":
    main()
