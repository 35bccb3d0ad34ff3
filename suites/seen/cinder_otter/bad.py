"""Online anomaly scores for a stream of sensor frames with a rolling history."""
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

HISTORY = 6144
SENSORS = 256
WINDOW = 96
N_FRAMES = 5000


class Monitor(NamedTuple):
    history: jax.Array
    cursor: jax.Array
    mean: jax.Array
    var: jax.Array


def new_monitor():
    return Monitor(
        history=jnp.zeros((HISTORY, SENSORS)),
        cursor=jnp.zeros((), jnp.int32),
        mean=jnp.zeros(SENSORS),
        var=jnp.ones(SENSORS),
    )


def recent(monitor):
    """The last WINDOW frames, oldest first."""
    rows = (monitor.cursor - WINDOW + jnp.arange(WINDOW)) % HISTORY
    return monitor.history[rows]


def score(window, mean, var):
    z = (window - mean) / jnp.sqrt(var + 1e-6)
    gram = z @ z.T / SENSORS
    trend = jnp.mean(jnp.abs(z[-8:].mean(axis=0) - z.mean(axis=0)))
    return trend + 0.1 * jnp.linalg.norm(gram[-1]) / jnp.linalg.norm(gram[0] + 1.0)


@jax.jit
def observe(monitor, frame):
    history = monitor.history.at[monitor.cursor % HISTORY].set(frame)
    mean = 0.99 * monitor.mean + 0.01 * frame
    var = 0.99 * monitor.var + 0.01 * (frame - mean) ** 2
    monitor = Monitor(history, monitor.cursor + 1, mean, var)
    return monitor, score(recent(monitor), mean, var)


class FrameSource:
    def __init__(self, seed=9):
        rng = np.random.default_rng(seed)
        self.mixing = rng.normal(size=(6, SENSORS)).astype(np.float32)
        self.rng = rng
        self.latent = np.zeros(6, np.float32)

    def next(self):
        self.latent = 0.95 * self.latent + 0.3 * self.rng.normal(size=6).astype(np.float32)
        return self.latent @ self.mixing + 0.1 * self.rng.normal(size=SENSORS).astype(np.float32)


def main():
    source = FrameSource()
    frames = [source.next() for _ in range(N_FRAMES)]
    jax.block_until_ready(observe(new_monitor(), frames[0]))

    monitor = new_monitor()
    alarms = 0
    scores = []
    start = time.perf_counter()
    for frame in frames:
        monitor, value = observe(monitor, frame)
        value = float(value)
        alarms += value > 1.5
        scores.append(value)
    elapsed = time.perf_counter() - start

    print(f"{N_FRAMES} steps in {elapsed:.2f} s")
    print(f"checksum score={np.mean(scores):.5f} alarms={alarms}")


if __name__ == "__main__":
    main()
