"""Haiku denoiser for heart-rate traces with durable snapshots of the weights."""
import os
import tempfile
import time

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp


def denoise(x):
    h = x[..., None]
    for width in (16, 32):
        h = hk.Conv1D(width, kernel_shape=9, stride=2)(h)
        h = jax.nn.relu(hk.LayerNorm(axis=-1, create_scale=True, create_offset=True)(h))
    h = hk.Flatten()(h)
    h = jax.nn.relu(hk.Linear(256)(h))
    return hk.Linear(x.shape[-1])(h)


net = hk.without_apply_rng(hk.transform(denoise))
opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3, weight_decay=1e-4))


def loss_fn(params, noisy, clean):
    return jnp.mean(optax.huber_loss(net.apply(params, noisy), clean))


@jax.jit
def update(params, opt_state, noisy, clean):
    loss, grads = jax.value_and_grad(loss_fn)(params, noisy, clean)
    updates, opt_state = opt.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


class Traces:
    """Synthetic beats: a train of narrow pulses on a wandering baseline."""

    def __init__(self, length, seed):
        self.length = length
        self.rng = np.random.default_rng(seed)
        self.t = np.arange(length) / 120.0

    def batch(self, n):
        rate = self.rng.uniform(0.8, 1.8, (n, 1))
        phase = self.rng.uniform(0.0, 1.0, (n, 1))
        beat = (self.t * rate + phase) % 1.0
        clean = np.exp(-((beat - 0.5) ** 2) / 0.002) - 0.2 * np.exp(-((beat - 0.6) ** 2) / 0.01)
        wander = 0.5 * np.sin(2 * np.pi * 0.1 * self.t + 6.0 * phase)
        noisy = clean + wander + 0.2 * self.rng.normal(size=clean.shape)
        return noisy.astype(np.float32), clean.astype(np.float32)


class Trainer:
    def __init__(self, folder, save_every):
        options = ocp.CheckpointManagerOptions(max_to_keep=2, enable_async_checkpointing=False)
        self.manager = ocp.CheckpointManager(folder, options=options)
        self.save_every = save_every
        self.params = None
        self.opt_state = None

    def initialise(self, key, example):
        self.params = net.init(key, example)
        self.opt_state = opt.init(self.params)

    def step(self, number, noisy, clean):
        self.params, self.opt_state, loss = update(self.params, self.opt_state, noisy, clean)
        if number % self.save_every == 0:
            state = {"params": self.params, "opt_state": self.opt_state}
            self.manager.save(number, args=ocp.args.StandardSave(state))
        return loss


def main():
    traces = Traces(360, seed=1)
    pool = [traces.batch(64) for _ in range(20)]
    with tempfile.TemporaryDirectory() as tmp:
        trainer = Trainer(os.path.join(tmp, "run"), save_every=1)
        trainer.initialise(jax.random.PRNGKey(0), pool[0][0])
        trainer.step(0, *pool[0])
        n_steps, losses = 40, []
        t0 = time.perf_counter()
        for number in range(1, n_steps + 1):
            losses.append(trainer.step(number, *pool[number % len(pool)]))
        losses = np.asarray(jax.block_until_ready(losses))
        t = time.perf_counter() - t0
        trainer.manager.close()
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {losses.mean():.6f} {losses[-10:].mean():.6f}")


if __name__ == "__main__":
    main()
