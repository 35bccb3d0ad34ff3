"""Bearings-only tracking of a manoeuvring target with a bootstrap particle filter."""
import time
from typing import NamedTuple

import distrax
import jax
import jax.numpy as jnp
import numpy as np

N_PARTICLES = 400
N_TIMES = 10


class Sensors(NamedTuple):
    position: jax.Array
    noise: float


def transition(key, x, dt=0.5):
    pos, vel, turn = x[:, :2], x[:, 2:4], x[:, 4]
    k1, k2, k3 = jax.random.split(key, 3)
    c, s = jnp.cos(turn * dt), jnp.sin(turn * dt)
    vel = jnp.stack([c * vel[:, 0] - s * vel[:, 1], s * vel[:, 0] + c * vel[:, 1]], -1)
    vel = vel + 0.05 * jax.random.normal(k1, vel.shape)
    pos = pos + dt * vel + 0.02 * jax.random.normal(k2, pos.shape)
    turn = 0.95 * turn + 0.03 * jax.random.normal(k3, turn.shape)
    return jnp.concatenate([pos, vel, turn[:, None]], -1)


def bearings(sensors, x):
    delta = x[:, None, :2] - sensors.position[None]
    return jnp.arctan2(delta[..., 1], delta[..., 0])


def log_likelihood(sensors, x, z):
    err = jnp.sin(z[None] - bearings(sensors, x))
    return distrax.Normal(0.0, sensors.noise).log_prob(err).sum(-1)


def resample(key, x, logw):
    n = x.shape[0]
    cdf = jnp.cumsum(jax.nn.softmax(logw))
    points = (jnp.arange(n) + jax.random.uniform(key)) / n * cdf[-1]
    idx = jnp.searchsorted(cdf, points)
    return x[idx]


@jax.jit
def filter_track(key, sensors, measurements, init):
    def body(x, inp):
        k, z = inp
        k1, k2 = jax.random.split(k)
        x = transition(k1, x)
        logw = log_likelihood(sensors, x, z)
        w = jax.nn.softmax(logw)
        mean = w @ x
        evidence = jax.nn.logsumexp(logw) - jnp.log(x.shape[0])
        return resample(k2, x, logw), (mean, evidence)

    keys = jax.random.split(key, measurements.shape[0])
    _, (means, evidence) = jax.lax.scan(body, init, (keys, measurements))
    return means, evidence.sum()


def simulate(rng, sensors, n):
    pos, vel, turn = np.array([2.0, 1.0]), np.array([0.8, 0.4]), 0.1
    track, z = [], []
    for _ in range(n):
        c, s = np.cos(turn * 0.5), np.sin(turn * 0.5)
        vel = np.array([c * vel[0] - s * vel[1], s * vel[0] + c * vel[1]])
        pos = pos + 0.5 * vel
        delta = pos - np.asarray(sensors.position)
        track.append(pos)
        z.append(np.arctan2(delta[:, 1], delta[:, 0]) + sensors.noise * rng.normal(size=len(delta)))
    return np.array(track), jnp.asarray(np.array(z))


def prior(key):
    mean = jnp.array([2.0, 1.0, 0.8, 0.4, 0.1])
    std = jnp.array([0.3, 0.3, 0.1, 0.1, 0.05])
    return mean + std * jax.random.normal(key, (N_PARTICLES, 5))


def main():
    rng = np.random.default_rng(6)
    grid = rng.uniform(-10.0, 10.0, (150, 2))
    sensors = Sensors(jnp.asarray(grid, jnp.float32), 0.3)
    n_steps = 60
    scenes = [simulate(rng, sensors, N_TIMES) for _ in range(n_steps)]
    key = jax.random.PRNGKey(3)
    jax.block_until_ready(filter_track(key, sensors, scenes[0][1], prior(key)))
    errors, positions = [], []
    t0 = time.perf_counter()
    for k, (track, z) in enumerate(scenes):
        k1, k2 = jax.random.split(jax.random.fold_in(key, k))
        means, _ = filter_track(k1, sensors, z, prior(k2))
        positions.append(np.asarray(means[:, :2]).sum())
        errors.append(np.abs(np.asarray(means[:, :2]) - track).mean())
    t = time.perf_counter() - t0
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {np.sum(positions):.3f} {10 + np.mean(errors):.4f}")


if __name__ == "__main__":
    main()
