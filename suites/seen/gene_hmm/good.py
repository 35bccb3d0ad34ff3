"""Trains a hidden Markov model of a genome by gradient ascent on its likelihood."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

STATES, LETTERS, READS, LENGTH = 48, 4, 32, 128


def reads(seed=0):
    """Reads whose letters favor different alphabets in long stretches."""
    rng = np.random.default_rng(seed)
    regime = (np.cumsum(rng.random((READS, LETTERS * LENGTH)) < 0.02, axis=1) % 2)[:, :LENGTH]
    rich, poor = [0.1, 0.4, 0.4, 0.1], [0.4, 0.1, 0.1, 0.4]
    draw = [rng.choice(LETTERS, (READS, LENGTH), p=p) for p in (rich, poor)]
    return np.where(regime, draw[0], draw[1]).astype(np.int32)


def normalize(params):
    return {name: jax.nn.log_softmax(value, axis=-1) for name, value in params.items()}


def log_likelihood(params, read):
    logp = normalize(params)
    emissions = jnp.exp(logp["emit"].T[read])
    move = jnp.exp(logp["move"])

    def forward(carry, emission):
        alpha, log_scale = carry
        alpha = (alpha @ move) * emission
        scale = alpha.sum()
        return (alpha / scale, log_scale + jnp.log(scale)), None

    start = (jnp.exp(logp["start"]) * emissions[0], 0.0)
    (alpha, log_scale), _ = jax.lax.scan(forward, start, emissions[1:])
    return log_scale + jnp.log(alpha.sum())


def loss_fn(params, batch):
    return -jax.vmap(log_likelihood, in_axes=(None, 0))(params, batch).mean()


tx = optax.adam(0.05)


@jax.jit
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    batch = jnp.asarray(reads())
    keys = jax.random.split(jax.random.key(0), 3)
    params = {
        "start": jax.random.normal(keys[0], (STATES,)),
        "move": jax.random.normal(keys[1], (STATES, STATES)) + 3 * jnp.eye(STATES),
        "emit": jax.random.normal(keys[2], (STATES, LETTERS)),
    }
    opt_state = tx.init(params)
    params, opt_state, loss = train_step(params, opt_state, batch)
    loss.block_until_ready()
    steps = 20
    start = time.perf_counter()
    for i in range(steps):
        with jax.profiler.StepTraceAnnotation("train", step_num=i):
            params, opt_state, loss = train_step(params, opt_state, batch)
            loss.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(loss))


if __name__ == "__main__":
    main()
