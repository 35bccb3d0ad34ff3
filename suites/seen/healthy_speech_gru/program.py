"""Keyword spotting: a gated recurrent network over filterbank frames (equinox, optax).

The input projections of all frames are one matrix product before the scan, so
that only the recurrent product stays inside.
"""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

FRAMES, BANDS, WIDTH, WORDS, BATCH = 64, 40, 96, 12, 64


class Recurrent(eqx.Module):
    inputs: eqx.nn.Linear
    state: eqx.nn.Linear

    def __init__(self, bands, width, key):
        k1, k2 = jax.random.split(key)
        self.inputs = eqx.nn.Linear(bands, 3 * width, key=k1)
        self.state = eqx.nn.Linear(width, 3 * width, use_bias=False, key=k2)

    def __call__(self, frames):
        projected = jax.vmap(self.inputs)(frames)

        def body(h, x):
            xr, xz, xn = jnp.split(x, 3)
            hr, hz, hn = jnp.split(self.state(h), 3)
            r, z = jax.nn.sigmoid(xr + hr), jax.nn.sigmoid(xz + hz)
            return (1 - z) * jnp.tanh(xn + r * hn) + z * h, None

        h, _ = jax.lax.scan(body, jnp.zeros(self.state.in_features), projected)
        return h


class Spotter(eqx.Module):
    recurrent: Recurrent
    readout: eqx.nn.Linear

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.recurrent = Recurrent(BANDS, WIDTH, k1)
        self.readout = eqx.nn.Linear(WIDTH, WORDS, key=k2)

    def __call__(self, frames):
        return self.readout(self.recurrent(frames))


def recordings(count, seed=0):
    rng = np.random.default_rng(seed)
    word = rng.integers(0, WORDS, count)
    template = rng.normal(size=(WORDS, FRAMES, BANDS))
    return (template[word] + rng.normal(size=(count, FRAMES, BANDS))).astype(np.float32), word.astype(np.int32)


def loss_fn(model, frames, word):
    logits = jax.vmap(model)(frames)
    return optax.softmax_cross_entropy_with_integer_labels(logits, word).mean()


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))


@eqx.filter_jit(donate="all-except-first")
def train_step(batch, model, opt_state):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, *batch)
    updates, opt_state = tx.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def main():
    frames, word = recordings(16 * BATCH)
    order = np.random.default_rng(1).permutation(len(word)).reshape(-1, BATCH)
    batches = [jax.device_put((frames[rows], word[rows])) for rows in order]
    model = Spotter(jax.random.key(0))
    opt_state = tx.init(eqx.filter(model, eqx.is_array))
    model, opt_state, loss = train_step(batches[0], model, opt_state)
    loss.block_until_ready()
    steps = 64
    losses = []
    start = time.perf_counter()
    for i in range(steps):
        model, opt_state, loss = train_step(batches[i % len(batches)], model, opt_state)
        losses.append(loss)
    jax.block_until_ready(losses)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(losses[-1]))


if __name__ == "__main__":
    main()
