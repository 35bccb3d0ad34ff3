"""Indoor robot localisation: a bootstrap particle filter on ranges to known beacons."""
import time

import jax
import jax.numpy as jnp
import numpy as np

STEPS = 18
SEGMENT = 100
PARTICLES = 512
BEACONS = 96
RANGE_STD = 0.6
TURN_STD = 0.05
SPEED_STD = 0.05
SQRT_2PI = 2.5066283


def make_walk(segments, seed=12):
    """True path of the robot, odometry and beacon ranges."""
    rng = np.random.default_rng(seed)
    beacons = rng.uniform(-15.0, 15.0, size=(BEACONS, 2))
    count = segments * SEGMENT
    speed = 0.4 + 0.1 * np.sin(np.arange(count) / 9.0)
    turn = 0.07 + 0.05 * np.cos(np.arange(count) / 17.0)
    heading = np.cumsum(turn + TURN_STD * rng.normal(size=count))
    stride = speed + SPEED_STD * rng.normal(size=count)
    path = np.cumsum(np.stack([stride * np.cos(heading), stride * np.sin(heading)], axis=1), axis=0)
    ranges = np.linalg.norm(path[:, None] - beacons, axis=-1)
    ranges = ranges + RANGE_STD * rng.normal(size=ranges.shape)
    odometry = np.stack([speed, turn], axis=1)
    shape = (segments, SEGMENT)
    return (
        jnp.asarray(beacons, jnp.float32),
        jnp.asarray(odometry.reshape(*shape, 2), jnp.float32),
        jnp.asarray(ranges.reshape(*shape, BEACONS), jnp.float32),
        path.reshape(*shape, 2),
    )


def move(key, pose, odometry):
    noise = jax.random.normal(key, (PARTICLES, 2))
    stride = odometry[0] + SPEED_STD * noise[:, 0]
    heading = pose[:, 2] + odometry[1] + TURN_STD * noise[:, 1]
    dx = stride * jnp.cos(heading)
    dy = stride * jnp.sin(heading)
    return jnp.stack([pose[:, 0] + dx, pose[:, 1] + dy, heading], axis=1)


def log_likelihood(pose, beacons, ranges):
    dist = jnp.linalg.norm(pose[:, None, :2] - beacons, axis=-1)
    z = (dist - ranges) / RANGE_STD
    return -0.5 * jnp.sum(z**2, axis=1) - BEACONS * jnp.log(RANGE_STD * SQRT_2PI)


def resample(key, pose, log_weights):
    edges = jnp.cumsum(jax.nn.softmax(log_weights))
    points = (jnp.arange(PARTICLES) + jax.random.uniform(key)) / PARTICLES
    index = jnp.searchsorted(edges, points * edges[-1])
    return pose[jnp.minimum(index, PARTICLES - 1)]


@jax.jit
def filter_segment(key, pose, beacons, odometry, ranges):
    def step(pose, inputs):
        key, odo, obs = inputs
        move_key, resample_key = jax.random.split(key)
        pose = move(move_key, pose, odo)
        log_w = log_likelihood(pose, beacons, obs)
        evidence = jax.scipy.special.logsumexp(log_w) - jnp.log(PARTICLES)
        estimate = jax.nn.softmax(log_w) @ pose[:, :2]
        return resample(resample_key, pose, log_w), (estimate, evidence)

    keys = jax.random.split(key, SEGMENT)
    pose, (estimates, evidence) = jax.lax.scan(step, pose, (keys, odometry, ranges))
    return pose, estimates, jnp.sum(evidence)


def main():
    beacons, odometry, ranges, path = make_walk(STEPS)
    pose = jnp.zeros((PARTICLES, 3))
    keys = jax.random.split(jax.random.key(0), STEPS)

    jax.block_until_ready(filter_segment(keys[0], pose, beacons, odometry[0], ranges[0]))

    start = time.perf_counter()
    track, evidence = [], []
    for k in range(STEPS):
        pose, estimates, value = filter_segment(keys[k], pose, beacons, odometry[k], ranges[k])
        track.append(estimates)
        evidence.append(value)
    jax.block_until_ready((track, evidence))
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    track = np.asarray(jax.device_get(track))
    miss = float(np.sqrt(np.mean(np.sum((track - path) ** 2, axis=-1))))
    if miss > 1.0:
        raise RuntimeError("the filter lost the robot")
    reach = np.sqrt((track**2).sum(-1))
    print(f"checksum {reach.max():.3f} {reach.mean():.3f} {float(sum(evidence)):.1f}")


if __name__ == "__main__":
    main()
