"""Maximum-likelihood branch lengths of a protein tree by gradient ascent.

Felsenstein's pruning over a fixed tree and a fixed reversible substitution
model with twenty states; the logarithms of the branch lengths are optimized.
"""

import time

import jax
import jax.numpy as jnp
import optax
from tree import STATES, exchange_model, random_tree, tip_states

TIPS, SITES = 24, 60

CHILDREN = random_tree(TIPS, seed=2)
RATE, FREQ = (jnp.asarray(a) for a in exchange_model(seed=3))
NODES = 2 * TIPS - 1

ROOT = jnp.sqrt(FREQ)
VALUES, VECTORS = jnp.linalg.eigh(RATE * ROOT[:, None] / ROOT[None, :])
LEFT, RIGHT = VECTORS / ROOT[:, None], VECTORS.T * ROOT[None, :]


def transition_matrices(lengths):
    """P(t) = exp(Q t) for every branch."""
    return (LEFT * jnp.exp(lengths[:, None, None] * VALUES)) @ RIGHT


def log_likelihood(log_lengths, tips):
    transition = transition_matrices(jnp.exp(log_lengths))
    partial = jnp.zeros((NODES, SITES, STATES)).at[:TIPS].set(jax.nn.one_hot(tips, STATES))

    def combine(carry, inputs):
        partial, log_scale = carry
        (left, right), node = inputs
        joined = (partial[left] @ transition[left].T) * (partial[right] @ transition[right].T)
        scale = joined.max(-1)
        partial = partial.at[node].set(joined / scale[:, None])
        return (partial, log_scale + jnp.log(scale)), None

    inner = (jnp.asarray(CHILDREN), jnp.arange(TIPS, NODES))
    (partial, log_scale), _ = jax.lax.scan(combine, (partial, jnp.zeros(SITES)), inner)
    return jnp.sum(jnp.log(partial[-1] @ FREQ) + log_scale)


tx = optax.adam(0.03)


@jax.jit
def climb(log_lengths, opt_state, tips):
    value, grad = jax.value_and_grad(lambda p: -log_likelihood(p, tips))(log_lengths)
    updates, opt_state = tx.update(grad, opt_state)
    return optax.apply_updates(log_lengths, updates), opt_state, value


def main():
    tips = jnp.asarray(tip_states(TIPS, SITES, seed=4))
    log_lengths = jnp.full(NODES, jnp.log(0.2))
    opt_state = tx.init(log_lengths)
    for _ in range(2):
        log_lengths, opt_state, value = climb(log_lengths, opt_state, tips)
    value.block_until_ready()
    steps = 40
    start = time.perf_counter()
    for _ in range(steps):
        log_lengths, opt_state, value = climb(log_lengths, opt_state, tips)
    value.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(value), float(jnp.exp(log_lengths).mean()))


if __name__ == "__main__":
    main()
