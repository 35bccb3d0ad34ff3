"""Radar tracks of many aircraft by extended Kalman filters run side by side.

Each track has its own measurements and its own covariance, since the range and
bearing measurement is linearized about the track's own prediction.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

TRACKS, LENGTH, DT = 512, 100, 1.0

F = jnp.eye(4) + DT * jnp.diag(jnp.ones(2), 2)
Q = 0.01 * jnp.diag(jnp.array([0.25, 0.25, 1.0, 1.0]))
R = jnp.diag(jnp.array([0.04, 1e-4]))


def simulate(seed):
    rng = np.random.default_rng(seed)
    position = rng.uniform(20, 60, (TRACKS, 2))
    velocity = rng.normal(size=(TRACKS, 2)) * 0.5
    out = np.empty((LENGTH, TRACKS, 2), np.float32)
    for t in range(LENGTH):
        velocity += 0.1 * rng.normal(size=velocity.shape)
        position = position + DT * velocity
        out[t, :, 0] = np.hypot(*position.T) + 0.2 * rng.normal(size=TRACKS)
        out[t, :, 1] = np.arctan2(position[:, 1], position[:, 0]) + 0.01 * rng.normal(size=TRACKS)
    return out


def observe(state):
    return jnp.stack([jnp.hypot(state[0], state[1]), jnp.arctan2(state[1], state[0])])


def update(mean, cov, z):
    mean, cov = F @ mean, F @ cov @ F.T + Q
    H = jax.jacfwd(observe)(mean)
    S = H @ cov @ H.T + R
    a, b, d = S[0, 0], S[0, 1], S[1, 1]
    inverse = jnp.array([[d, -b], [-b, a]]) / (a * d - b * b)
    gain = cov @ H.T @ inverse
    residual = z - observe(mean)
    residual = residual.at[1].set(jnp.arctan2(jnp.sin(residual[1]), jnp.cos(residual[1])))
    return mean + gain @ residual, cov - gain @ S @ gain.T


@jax.jit
def filter_tracks(measurements):
    first = measurements[0]
    start = jnp.stack([first[:, 0] * jnp.cos(first[:, 1]), first[:, 0] * jnp.sin(first[:, 1])], -1)
    mean = jnp.concatenate([start, jnp.zeros((TRACKS, 2))], -1)
    cov = jnp.broadcast_to(jnp.eye(4), (TRACKS, 4, 4))

    def body(carry, z):
        carry = jax.vmap(update)(*carry, z)
        return carry, carry[0][:, :2]

    _, track = jax.lax.scan(body, (mean, cov), measurements[1:])
    return track


def main():
    scans = [jnp.asarray(simulate(seed)) for seed in range(25)]
    filter_tracks(scans[0]).block_until_ready()
    start = time.perf_counter()
    tracks = [filter_tracks(scan) for scan in scans]
    jax.block_until_ready(tracks)
    print(f"{len(scans)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.mean(jnp.stack(tracks))))


if __name__ == "__main__":
    main()
