"""Where do the frogs call?  A spatial logistic model sampled with blackjax, chains side by side."""

import time

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

PONDS = 3000
FEATURES = 20
CHAINS = 8
DRAWS = 10


def survey(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(PONDS, FEATURES))
    weights = rng.normal(size=FEATURES) * 0.5
    heard = rng.random(PONDS) < 1.0 / (1.0 + np.exp(-(table @ weights - 0.3)))
    return jnp.asarray(table, jnp.float32), jnp.asarray(heard, jnp.float32)


def make_log_density(table, heard):
    def log_density(position):
        logits = table @ position["weights"] + position["base"]
        likelihood = jnp.sum(heard * logits - jax.nn.softplus(logits))
        prior = -0.5 * jnp.sum(position["weights"] ** 2) - 0.5 * position["base"] ** 2
        return likelihood + prior

    return log_density


class FrogSampler:
    def __init__(self, table, heard):
        self.kernel = blackjax.hmc(
            make_log_density(table, heard),
            step_size=0.02,
            inverse_mass_matrix=jnp.ones(FEATURES + 1),
            num_integration_steps=12,
        )
        self.advance = jax.jit(self._advance)

    def start(self, key):
        def one(key):
            return self.kernel.init({"weights": 0.1 * jax.random.normal(key, (FEATURES,)), "base": jnp.zeros(())})

        return jax.vmap(one)(jax.random.split(key, CHAINS))

    def _advance(self, states, key):
        def draw(states, key):
            states, info = jax.vmap(self.kernel.step)(jax.random.split(key, CHAINS), states)
            return states, (states.position, info.acceptance_rate.mean())

        return jax.lax.scan(draw, states, jax.random.split(key, DRAWS))


def main():
    sampler = FrogSampler(*survey(5))
    states = sampler.start(jax.random.key(0))
    jax.block_until_ready(sampler.advance(states, jax.random.key(1)))

    start = time.perf_counter()
    weights, rates = [], []
    for block in range(30):
        states, (positions, rate) = sampler.advance(states, jax.random.key(block))
        weights.append(positions["weights"])
        rates.append(rate)
    jax.block_until_ready(weights)
    print(f"{len(weights)} steps in {time.perf_counter() - start:.3f} s")
    kept = jnp.concatenate(weights[10:])
    print(f"checksum {float(jnp.abs(kept.mean(axis=(0, 1))).sum()):.3f} {float(jnp.stack(rates).mean()):.3f}")


if __name__ == "__main__":
    main()
