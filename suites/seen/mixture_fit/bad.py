"""Fits a mixture of normal distributions to waiting times (distrax)."""

import time

import distrax
import jax
import jax.numpy as jnp
import optax


def mixture(params):
    return distrax.MixtureSameFamily(
        mixture_distribution=distrax.Categorical(logits=params["logits"]),
        components_distribution=distrax.Normal(params["loc"], jnp.exp(params["log_scale"])),
    )


def loss(params, times):
    return -mixture(params).log_prob(times).mean()


def waiting_times(count):
    key, short, long = jax.random.split(jax.random.key(1), 3)
    is_long = jax.random.bernoulli(key, 0.6, (count,))
    return jnp.where(is_long, 4.3 + 0.4 * jax.random.normal(long, (count,)), 2.0 + 0.3 * jax.random.normal(short, (count,)))


def main():
    times = waiting_times(4000)
    params = {"logits": jnp.zeros(4), "loc": jnp.linspace(1.0, 5.0, 4), "log_scale": jnp.zeros(4)}
    tx = optax.adam(0.03)
    opt_state = tx.init(params)

    def update(params, opt_state):
        value, grads = jax.value_and_grad(loss)(params, times)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, value

    params, opt_state, value = update(params, opt_state)
    steps = 40
    start = time.perf_counter()
    for _ in range(steps):
        params, opt_state, value = update(params, opt_state)
    value.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(value))


if __name__ == "__main__":
    main()
