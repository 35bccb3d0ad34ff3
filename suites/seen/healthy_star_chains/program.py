"""Distances of a star cluster, sampled by many chains that run side by side."""

import time

import blackjax
import jax
import jax.numpy as jnp

STARS, CHAINS, DRAWS, ROUNDS = 2000, 16, 50, 15


def log_density(position, colors, magnitudes):
    """A main sequence with a bend, and noise with long tails."""
    color = colors - 0.8
    absolute = 5.0 + position["slope"] * color + position["bend"] * jnp.square(color)
    off = (magnitudes - absolute - position["modulus"]) / jnp.exp(position["spread"])
    likelihood = -2.5 * jnp.log1p(jnp.square(off) / 4.0) - position["spread"]
    prior = sum(-0.5 * jnp.square(value / 10.0) for value in position.values())
    return likelihood.sum() + prior


@jax.jit
def sample(key, states, colors, magnitudes):
    """Draws for all chains in one loop."""
    kernel = blackjax.hmc(
        lambda position: log_density(position, colors, magnitudes),
        step_size=0.3,
        inverse_mass_matrix=jnp.square(jnp.array([0.04, 0.008, 0.015, 0.02])),
        num_integration_steps=10,
    )

    def one_step(states, key):
        states, info = jax.vmap(kernel.step)(jax.random.split(key, CHAINS), states)
        return states, (states.position["modulus"], info.acceptance_rate.mean())

    return jax.lax.scan(one_step, states, jax.random.split(key, DRAWS))


@jax.jit
def start_chains(key, colors, magnitudes):
    middle = {"bend": -1.0, "modulus": 8.0, "spread": -1.6, "slope": 5.0}
    keys = dict(zip(middle, jax.random.split(key, len(middle))))
    places = {name: value + 0.02 * jax.random.normal(keys[name], (CHAINS,)) for name, value in middle.items()}
    return jax.vmap(lambda place: blackjax.hmc.init(place, lambda p: log_density(p, colors, magnitudes)))(places)


def make_cluster(key):
    color_key, noise_key = jax.random.split(key)
    colors = jax.random.uniform(color_key, (STARS,), minval=0.2, maxval=1.6)
    noise = 0.2 * jax.random.t(noise_key, 4.0, (STARS,))
    return colors, 13.0 + 5.0 * (colors - 0.8) - 1.0 * jnp.square(colors - 0.8) + noise


def main():
    data_key, start_key, *keys = jax.random.split(jax.random.key(5), ROUNDS + 3)
    colors, magnitudes = make_cluster(data_key)
    states = start_chains(start_key, colors, magnitudes)
    states, _ = sample(keys[0], states, colors, magnitudes)
    jax.block_until_ready(states)
    start = time.perf_counter()
    draws = []
    for key in keys[1:]:
        states, (modulus, accepted) = sample(key, states, colors, magnitudes)
        draws.append(modulus)
    jax.block_until_ready(draws)
    print(f"{ROUNDS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack(draws).mean()), float(accepted.mean()))


if __name__ == "__main__":
    main()
