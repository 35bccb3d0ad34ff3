"""Fits a small network to parity of bits, in the way of Optax's first tutorial.

    python suites/programs/tutorial_optax.py --steps 3000
"""

import argparse
import random

import jax
import jax.numpy as jnp
import numpy as np
import optax

BATCH_SIZE = 5
TRAINING_DATA = np.random.default_rng(0).integers(0, 2, (4000, BATCH_SIZE, 8))
LABELS = jax.nn.one_hot(TRAINING_DATA.sum(-1) % 2, 2).astype(jnp.float32).reshape(4000, BATCH_SIZE, 2)

initial_params = {
    "hidden": jax.random.normal(shape=[8, 32], key=jax.random.key(0)),
    "output": jax.random.normal(shape=[32, 2], key=jax.random.key(1)),
}


def net(x, params):
    x = jnp.dot(x, params["hidden"])
    x = jax.nn.relu(x)
    x = jnp.dot(x, params["output"])
    return x


def loss(params, batch, labels):
    y_hat = net(batch, params)
    loss_value = optax.sigmoid_binary_cross_entropy(y_hat, labels).sum(axis=-1)
    return loss_value.mean()


def fit(params, optimizer, steps):
    opt_state = optimizer.init(params)

    @jax.jit
    def step(params, opt_state, batch, labels):
        loss_value, grads = jax.value_and_grad(loss)(params, batch, labels)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        return params, opt_state, loss_value

    for i, (batch, labels) in enumerate(zip(TRAINING_DATA[:steps], LABELS[:steps])):
        params, opt_state, loss_value = step(params, opt_state, batch, labels)
        if i % 100 == 0:
            print(f"step {i}, loss: {loss_value:.4f}")
    return params


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=3000)
    options = parser.parse_args()
    random.seed(0)
    schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-2, 50, options.steps, 1e-3)
    optimizer = optax.chain(optax.clip(1.0), optax.adamw(learning_rate=schedule))
    params = fit(initial_params, optimizer, options.steps)
    print(f"norm {float(optax.global_norm(params)):.4f}")


if __name__ == "__main__":
    main()
