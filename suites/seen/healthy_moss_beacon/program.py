"""Classify moss textures with a Flax MLP; one compiled scan per epoch.

Texture descriptors (64 numbers per patch) are drawn around class prototypes.
The data sits on the device, every epoch shuffles it and scans over the
batches; parameters and optimiser state are donated from epoch to epoch.
"""
import time
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

N_PATCHES = 8192
N_FEATURES = 64
CLASSES = 8
BATCH = 256
EPOCHS = 24
STEPS_PER_EPOCH = N_PATCHES // BATCH


def make_patches(seed=0):
    """Noisy descriptors, two prototypes for each class."""
    rng = np.random.default_rng(seed)
    prototypes = rng.normal(size=(2 * CLASSES, N_FEATURES))
    which = rng.integers(0, 2 * CLASSES, N_PATCHES)
    x = prototypes[which] + 3.0 * rng.normal(size=(N_PATCHES, N_FEATURES))
    return jnp.asarray(x, jnp.float32), jnp.asarray(which % CLASSES, jnp.int32)


class MossNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (256, 256, 128):
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(CLASSES)(x)


model = MossNet()
optimizer = optax.adamw(
    optax.cosine_decay_schedule(2e-3, EPOCHS * STEPS_PER_EPOCH), weight_decay=1e-4)


def loss_fn(params, x, y):
    logits = model.apply(params, x)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
    return loss, (logits.argmax(-1) == y).mean()


@partial(jax.jit, donate_argnums=(0, 1))
def train_epoch(params, opt_state, key, x, y):
    """One pass over the shuffled data; mean loss and accuracy."""
    order = jax.random.permutation(key, N_PATCHES).reshape(STEPS_PER_EPOCH, BATCH)

    def step(carry, rows):
        params, opt_state = carry
        (loss, acc), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x[rows], y[rows])
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state), (loss, acc)

    (params, opt_state), (loss, acc) = jax.lax.scan(step, (params, opt_state), order)
    return params, opt_state, loss.mean(), acc.mean()


def main():
    x, y = make_patches()
    init_key, warm_key, run_key = jax.random.split(jax.random.PRNGKey(1), 3)
    params = model.init(init_key, x[:1])
    opt_state = optimizer.init(params)

    # the first epoch compiles everything
    params, opt_state, loss, acc = train_epoch(params, opt_state, warm_key, x, y)
    jax.block_until_ready(loss)

    start = time.perf_counter()
    history = []
    for key in jax.random.split(run_key, EPOCHS - 1):
        params, opt_state, loss, acc = train_epoch(params, opt_state, key, x, y)
        history.append((loss, acc))
    jax.block_until_ready((params, history))
    elapsed = time.perf_counter() - start

    for epoch, (loss, acc) in enumerate(history, start=2):
        print(f"epoch {epoch}  loss {float(loss):.4f}  accuracy {float(acc):.3f}")
    print(f"{len(history) * STEPS_PER_EPOCH} steps in {elapsed:.2f} s")
    print(f"checksums {float(history[0][0]):.4f} {float(history[-1][0]):.4f}")


if __name__ == "__main__":
    main()
