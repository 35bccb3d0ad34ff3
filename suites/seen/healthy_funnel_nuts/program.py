"""A non-centered hierarchical posterior sampled by blackjax's No-U-Turn sampler.

Steps are blocks of draws: each block is one compiled scan.
"""

import time

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

GROUPS, ROWS, BLOCK = 12, 2000, 20


def simulate(seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, GROUPS, ROWS)
    effect = rng.normal(size=GROUPS) * 0.7
    value = 1.0 + effect[group] + rng.normal(size=ROWS)
    return jnp.asarray(group), jnp.asarray(value, jnp.float32)


def main():
    group, value = simulate()

    def logdensity(p):
        spread = jnp.exp(p["log_spread"])
        location = p["mean"] + spread * p["raw"]
        prior = -0.5 * (p["mean"] ** 2 / 4 + p["log_spread"] ** 2 + jnp.sum(p["raw"] ** 2))
        return prior - 0.5 * jnp.sum((value - location[group]) ** 2)

    nuts = blackjax.nuts(logdensity, step_size=0.05, inverse_mass_matrix=jnp.ones(GROUPS + 2), max_num_doublings=5)

    @jax.jit
    def draw_block(state, key):
        def body(state, key):
            state, info = nuts.step(key, state)
            return state, (state.position["mean"], info.num_integration_steps)

        return jax.lax.scan(body, state, jax.random.split(key, BLOCK))

    state = nuts.init({"mean": jnp.float32(1.0), "log_spread": jnp.float32(0.0), "raw": jnp.zeros(GROUPS)})
    keys = jax.random.split(jax.random.key(0), 21)
    state, _ = draw_block(state, keys[0])
    jax.block_until_ready(state)
    draws = []
    start = time.perf_counter()
    for key in keys[1:]:
        state, (mean, _) = draw_block(state, key)
        draws.append(mean)
    jax.block_until_ready(draws)
    print(f"{len(draws)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack(draws).mean()))


if __name__ == "__main__":
    main()
