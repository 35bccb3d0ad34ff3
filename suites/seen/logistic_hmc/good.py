"""Hamiltonian Monte Carlo for a logistic regression, with blackjax.

Runs one long chain and reports how far it has come; posterior means and the
acceptance rate are printed at the end.
"""

import time

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

ROWS, COLUMNS, DRAWS = 400, 8, 2000


class Progress:
    """Says how far the chain is and how often it accepted of late."""

    def __init__(self, draws):
        self.draws = draws

    def advance(self, index, acceptance):
        print(f"draw {int(index) + 1} of {self.draws}, acceptance {float(acceptance):.2f}")


def credit_records(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, COLUMNS))
    beta = rng.normal(size=COLUMNS)
    y = rng.random(ROWS) < 1 / (1 + np.exp(-x @ beta))
    return x.astype(np.float32), y.astype(np.float32)


def make_logdensity(x, y):
    def logdensity(beta):
        logits = x @ beta
        likelihood = jnp.sum(y * logits - jax.nn.softplus(logits))
        return likelihood - 0.5 * jnp.sum(beta**2) / 4.0

    return logdensity


def make_chain(x, y, progress):
    hmc = blackjax.hmc(
        make_logdensity(x, y),
        step_size=0.08,
        inverse_mass_matrix=jnp.ones(COLUMNS),
        num_integration_steps=8,
    )

    @jax.jit
    def run(state, key):
        def one_draw(state, key):
            state, info = hmc.step(key, state)
            return state, (state.position, info.acceptance_rate)

        def block(state, inputs):
            index, keys = inputs
            state, (draws, rates) = jax.lax.scan(one_draw, state, keys)
            jax.debug.callback(progress.advance, index, rates.mean())
            return state, (draws, rates)

        keys = jax.random.split(key, DRAWS).reshape(-1, 1000)
        last = 1000 * jnp.arange(1, DRAWS // 1000 + 1) - 1
        state, (draws, rates) = jax.lax.scan(block, state, (last, keys))
        return state, (draws.reshape(DRAWS, COLUMNS), rates.reshape(DRAWS))

    return hmc.init(jnp.zeros(COLUMNS)), run


def main():
    x, y = jax.device_put(credit_records())
    state, run = make_chain(x, y, Progress(DRAWS))
    keys = jax.random.split(jax.random.key(0), 4)
    state, (draws, rate) = run(state, keys[0])
    draws.block_until_ready()
    steps = 3
    start = time.perf_counter()
    for key in keys[1:]:
        state, (draws, rate) = run(state, key)
        draws.block_until_ready()
    jax.effects_barrier()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.abs(draws.mean(0)).sum()), float(rate.mean()))


if __name__ == "__main__":
    main()
