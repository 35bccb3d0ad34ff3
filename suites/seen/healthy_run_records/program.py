"""A regression run with a metrics file and checkpoints, the way a small project keeps them.

Metrics stay on the device and are fetched every fifty steps; the weights are
saved twice a run, with flax's serialization, into a folder that is deleted.
"""

import csv
import tempfile
import time
from pathlib import Path

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import serialization

INPUTS, BATCH, STEPS, EVERY, SAVE_EVERY = 32, 512, 200, 50, 100


class Regressor(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (128, 128):
            x = nn.silu(nn.Dense(width)(x))
        return nn.Dense(1)(x)[:, 0]


model = Regressor()
tx = optax.adamw(optax.cosine_decay_schedule(2e-3, STEPS))


def make_batch(key):
    x = jax.random.normal(key, (BATCH, INPUTS))
    return x, jnp.sin(x[:, 0]) * x[:, 1] + x[:, 2:].mean(1)


@jax.jit
def train_step(params, opt_state, key):
    x, y = make_batch(key)

    def loss_fn(params):
        error = model.apply(params, x) - y
        return jnp.mean(error**2), jnp.abs(error).mean()

    (loss, absolute), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    metrics = {"loss": loss, "absolute": absolute, "norm": optax.global_norm(grads)}
    return optax.apply_updates(params, updates), opt_state, metrics


class Recorder:
    """Writes rows of metrics in blocks, and checkpoints."""

    def __init__(self, folder):
        self.folder, self.pending = Path(folder), []
        self.file = (self.folder / "metrics.csv").open("w", newline="")
        self.rows = csv.DictWriter(self.file, ["step", "loss", "absolute", "norm"])
        self.rows.writeheader()

    def log(self, step, metrics):
        self.pending.append((step, metrics))
        if len(self.pending) == EVERY:
            self.flush()

    def flush(self):
        for step, metrics in jax.device_get(self.pending):
            self.rows.writerow({"step": step, **{k: f"{v:.5g}" for k, v in metrics.items()}})
        self.pending.clear()

    def save(self, step, params):
        (self.folder / f"weights_{step}.msgpack").write_bytes(serialization.to_bytes(params))


def run(folder):
    key = jax.random.key(0)
    params = model.init(key, jnp.zeros((1, INPUTS)))
    opt_state = tx.init(params)
    keys = list(jax.random.split(key, STEPS))
    params, opt_state, metrics = train_step(params, opt_state, key)
    jax.block_until_ready(metrics)
    recorder = Recorder(folder)
    start = time.perf_counter()
    for step in range(STEPS):
        params, opt_state, metrics = train_step(params, opt_state, keys[step])
        recorder.log(step, metrics)
        if (step + 1) % SAVE_EVERY == 0:
            recorder.save(step + 1, params)
    recorder.flush()
    jax.block_until_ready(params)
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    recorder.file.close()
    print("checksum", float(metrics["loss"]))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run(folder)
