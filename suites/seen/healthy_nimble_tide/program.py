"""Sampling a Bayesian logistic regression with blackjax, many chains at once."""
import time

import blackjax
import jax
import jax.numpy as jnp
import numpy as np


def synthetic(n, d, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)).astype(np.float32)
    w = rng.normal(size=d)
    y = (rng.random(n) < 1 / (1 + np.exp(-x @ w))).astype(np.float32)
    return jnp.asarray(x), jnp.asarray(y)


def make_logdensity(x, y):
    def logdensity(w):
        logits = x @ w
        loglik = jnp.sum(y * logits - jax.nn.softplus(logits))
        return loglik - 0.5 * jnp.sum(w**2) / 4.0

    return logdensity


def make_sampler(logdensity, step_size, inverse_mass, n_leapfrog, thin):
    kernel = blackjax.hmc(logdensity, step_size, inverse_mass, n_leapfrog)

    def one_chain(key, state):
        def body(state, k):
            state, info = kernel.step(k, state)
            return state, (state.position, info.acceptance_rate)

        return jax.lax.scan(body, state, jax.random.split(key, thin))

    @jax.jit
    def block(key, states):
        n_chains = states.logdensity.shape[0]
        keys = jax.random.split(key, n_chains)
        return jax.vmap(one_chain)(keys, states)

    return kernel, block


def split_rhat(draws):
    chains, n, _ = draws.shape
    halves = draws[:, : n // 2 * 2].reshape(chains * 2, n // 2, -1)
    within = halves.var(1, ddof=1).mean(0)
    between = halves.mean(1).var(0, ddof=1)
    return np.sqrt(1.0 + between / within)


def main():
    x, y = synthetic(2000, 20, seed=5)
    logdensity = make_logdensity(x, y)
    kernel, block = make_sampler(logdensity, 0.03, jnp.ones(20), 12, thin=10)
    key = jax.random.PRNGKey(0)
    n_chains, n_steps = 16, 40
    states = jax.vmap(kernel.init)(0.1 * jax.random.normal(key, (n_chains, 20)))
    states, _ = block(key, states)
    draws, rates = [], []
    t0 = time.perf_counter()
    for step in range(n_steps):
        states, (position, rate) = block(jax.random.fold_in(key, step), states)
        draws.append(position)
        rates.append(rate.mean())
    jax.block_until_ready((draws, rates))
    t = time.perf_counter() - t0
    draws = np.concatenate([np.asarray(d) for d in draws], axis=1)
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"rhat {split_rhat(draws).max():.4f} acceptance {np.mean(rates):.3f}")
    print(f"checksum {draws.mean():.5f} {draws.std():.5f}")


if __name__ == "__main__":
    main()
