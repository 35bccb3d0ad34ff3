"""Growth of kelp fronds as a logistic curve, sampled by Hamiltonian Monte Carlo."""

import functools
import time

import blackjax
import jax
import jax.numpy as jnp

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


@functools.partial(jax.jit, static_argnames=("kernel", "count"))
def draw(key, kernel, state, count):
    """Draws from the posterior, with the share of accepted proposals."""

    def one_step(state, own):
        state, info = kernel(own, state)
        return state, (state.position["rate"], info.acceptance_rate)

    state, (rates, accepted) = jax.lax.scan(one_step, state, jax.random.split(key, count))
    return state, rates, accepted


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
    kernel = sampler.step
    state, _, _ = draw(warm_key, kernel, sampler.init(start_at), DRAWS)
    start = time.perf_counter()
    state, rates, accepted = draw(key, kernel, state, DRAWS)
    jax.block_until_ready(rates)
    print(f"{DRAWS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.exp(rates).mean()), float(accepted.mean()))


if __name__ == "__main__":
    main()
