"""Growth of kelp fronds as a logistic curve, sampled by Hamiltonian Monte Carlo."""

import time

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

FRONDS, DRAWS = 40, 6000
DAYS = jnp.linspace(0.0, 60.0, 12)


def curve(position):
    """Length of each frond on each day."""
    top = jnp.exp(position["top"])[:, None]
    rate = jnp.exp(position["rate"])
    return top / (1.0 + jnp.exp(-rate * (DAYS - position["middle"])))


def log_density(position, lengths):
    prior = -0.5 * jnp.square((position["top"] - 1.0) / 0.5).sum()
    prior -= 0.5 * jnp.square((position["rate"] + 2.0) / 0.5)
    prior -= 0.5 * jnp.square((position["middle"] - 30.0) / 10.0)
    return prior - 0.5 * jnp.square((lengths - curve(position)) / 0.1).sum()


def make_lengths(key):
    top_key, noise_key = jax.random.split(key)
    truth = {
        "top": 1.0 + 0.3 * jax.random.normal(top_key, (FRONDS,)),
        "rate": jnp.log(0.12),
        "middle": jnp.array(28.0),
    }
    return curve(truth) + 0.1 * jax.random.normal(noise_key, (FRONDS, DAYS.size))


def draw(key, kernel, state, count):
    """Draws from the posterior, with the share of accepted proposals."""
    rates, accepted = [], []
    for own in jax.random.split(key, count):
        state, info = kernel(own, state)
        rates.append(state.position["rate"])
        accepted.append(info.acceptance_rate)
    return state, np.array(jax.device_get(rates)), np.array(jax.device_get(accepted))


def main():
    data_key, warm_key, key = jax.random.split(jax.random.key(4), 3)
    lengths = make_lengths(data_key)
    scales = jnp.concatenate([jnp.array([0.15]), jnp.array([0.012]), jnp.full((FRONDS,), 0.015)])
    sampler = blackjax.hmc(
        lambda position: log_density(position, lengths),
        step_size=0.25,
        inverse_mass_matrix=jnp.square(scales),
        num_integration_steps=8,
    )
    start_at = {"top": jnp.ones(FRONDS), "rate": jnp.array(-2.0), "middle": jnp.array(30.0)}
    kernel = jax.jit(sampler.step)
    state, _, _ = draw(warm_key, kernel, sampler.init(start_at), DRAWS)
    start = time.perf_counter()
    state, rates, accepted = draw(key, kernel, state, DRAWS)
    jax.block_until_ready(rates)
    print(f"{DRAWS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.exp(rates).mean()), float(accepted.mean()))


if __name__ == "__main__":
    main()
