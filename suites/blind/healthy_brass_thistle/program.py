"""Hierarchical logistic model of hospital outcomes sampled with NUTS, chains in parallel."""
import time

import blackjax
import jax
import jax.numpy as jnp
import jax.scipy.stats as stats
import numpy as np

N_PATIENTS = 2000
N_HOSPITALS = 30
N_FEATURES = 8
N_CHAINS = 2
DRAWS_PER_BLOCK = 5
N_BLOCKS = 20


def synth_patients(rng):
    x = rng.normal(size=(N_PATIENTS, N_FEATURES))
    hospital = rng.integers(0, N_HOSPITALS, N_PATIENTS)
    beta = 0.4 * rng.normal(size=N_FEATURES)
    effect = 0.3 * rng.normal(size=N_HOSPITALS)
    prob = 1.0 / (1.0 + np.exp(-(x @ beta + effect[hospital] - 0.3)))
    y = (rng.uniform(size=N_PATIENTS) < prob).astype(np.float32)
    return jnp.asarray(x, jnp.float32), jnp.asarray(hospital), jnp.asarray(y)


def make_logdensity(x, hospital, y):
    def logdensity(q):
        scale = jnp.exp(q["log_scale"])
        logits = x @ q["beta"] + scale * q["raw"][hospital] + q["intercept"]
        fit = jnp.sum(y * logits - jnp.logaddexp(0.0, logits))
        prior = stats.norm.logpdf(q["beta"], 0.0, 1.0).sum()
        prior += stats.norm.logpdf(q["raw"]).sum()
        prior += stats.norm.logpdf(q["intercept"], 0.0, 2.0)
        prior += stats.norm.logpdf(q["log_scale"], -1.0, 0.5)
        return fit + prior

    return logdensity


def initial_position(key):
    k1, k2 = jax.random.split(key)
    return {
        "beta": 0.1 * jax.random.normal(k1, (N_FEATURES,)),
        "raw": 0.1 * jax.random.normal(k2, (N_HOSPITALS,)),
        "intercept": jnp.array(0.0),
        "log_scale": jnp.array(-1.0),
    }


def main():
    data = synth_patients(np.random.default_rng(3))
    logdensity = make_logdensity(*data)
    dim = N_FEATURES + N_HOSPITALS + 2
    kernel = blackjax.nuts(
        logdensity, step_size=0.07, inverse_mass_matrix=jnp.ones(dim), max_num_doublings=6
    )

    @jax.jit
    def sample_block(states, key):
        def draw(states, key):
            states, info = jax.vmap(kernel.step)(jax.random.split(key, N_CHAINS), states)
            kept = {"beta": states.position["beta"], "log_scale": states.position["log_scale"]}
            return states, (kept, info.acceptance_rate)

        return jax.lax.scan(draw, states, jax.random.split(key, DRAWS_PER_BLOCK))

    key = jax.random.PRNGKey(11)
    positions = jax.vmap(initial_position)(jax.random.split(key, N_CHAINS))
    states = jax.vmap(kernel.init)(positions)
    states, _ = jax.block_until_ready(sample_block(states, key))

    start = time.perf_counter()
    draws, rates = [], []
    for block_key in jax.random.split(jax.random.PRNGKey(12), N_BLOCKS):
        states, (kept, acceptance) = sample_block(states, block_key)
        draws.append(kept)
        rates.append(acceptance)
    jax.block_until_ready((states, draws, rates))
    elapsed = time.perf_counter() - start

    beta = np.concatenate([np.asarray(d["beta"]) for d in draws])
    print(f"{N_BLOCKS} steps in {elapsed:.3f} s")
    print(f"checksum {np.abs(beta.mean(axis=(0, 1))).sum():.3f} {np.mean([np.mean(r) for r in rates]):.3f}")


if __name__ == "__main__":
    main()
