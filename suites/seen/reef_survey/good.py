"""How the cover of corals falls with depth, sampled by NUTS (blackjax)."""

import time
from functools import partial

import blackjax
import jax
import jax.numpy as jnp

SURVEYS = 150


def surveys(key):
    depth_key, noise_key = jax.random.split(key)
    depth = jax.random.uniform(depth_key, (SURVEYS,), minval=1.0, maxval=25.0)
    return depth, 0.8 * jnp.exp(-depth / 9.0) + 0.05 * jax.random.normal(noise_key, (SURVEYS,))


def main():
    data_key, warmup_key, key = jax.random.split(jax.random.key(8), 3)
    depth, cover = surveys(data_key)

    def log_density(p):
        expected = jnp.exp(p["log_top"] - depth / jnp.exp(p["log_scale"]))
        noise = jnp.exp(p["log_noise"])
        fit = jax.scipy.stats.norm.logpdf(cover, expected, noise).sum()
        return fit - 0.5 * (p["log_top"] ** 2 + (p["log_scale"] - 2.0) ** 2 + (p["log_noise"] + 2.0) ** 2)

    initial = {"log_top": jnp.array(-0.3), "log_scale": jnp.array(2.0), "log_noise": jnp.array(-2.0)}
    sampler = blackjax.nuts(log_density, step_size=0.4, inverse_mass_matrix=jnp.array([0.003, 0.004, 0.001]))

    @partial(jax.jit, static_argnames="draws")
    def chain(key, state, draws):
        def body(state, own):
            state, info = sampler.step(own, state)
            return state, (jnp.exp(state.position["log_scale"]), info.acceptance_rate)

        state, (scales, accepted) = jax.lax.scan(body, state, jax.random.split(key, draws))
        return scales.mean(), accepted.mean(), state

    state = sampler.init(initial)
    _, _, state = chain(warmup_key, state, 1000)
    steps = 1000
    start = time.perf_counter()
    scale, accepted, state = chain(key, state, steps)
    scale.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(scale), float(accepted))


if __name__ == "__main__":
    main()
