"""Trains a network that stands in for a slow model of the flow through a pipe (equinox)."""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

SAMPLES, BATCH = 8192, 256


def pressure_drop(x):
    speed, width, roughness, length = x.T
    friction = 0.02 + 0.01 * roughness / width
    return jnp.log1p(friction * length * speed**2 / width)


@eqx.filter_jit(donate="all-except-first")
def epoch(inputs, model, opt_state, tx):
    x, y, key = inputs
    order = jax.random.permutation(key, SAMPLES).reshape(-1, BATCH)
    params, static = eqx.partition(model, eqx.is_inexact_array)

    def loss(params, at):
        predicted = jax.vmap(eqx.combine(params, static))(x[at])
        return jnp.square(predicted - y[at]).mean()

    def update(carry, at):
        params, opt_state = carry
        value, grads = jax.value_and_grad(loss)(params, at)
        updates, opt_state = tx.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state), value

    (params, opt_state), values = jax.lax.scan(update, (params, opt_state), order)
    return eqx.combine(params, static), opt_state, values.mean()


def main():
    data_key, model_key, key = jax.random.split(jax.random.key(3), 3)
    x = jax.random.uniform(data_key, (SAMPLES, 4), minval=0.2, maxval=2.0)
    data = x, pressure_drop(x)
    model = eqx.nn.MLP(4, "scalar", 192, 3, activation=jax.nn.silu, key=model_key)
    tx = optax.adamw(1e-3)
    opt_state = tx.init(eqx.filter(model, eqx.is_inexact_array))
    keys = list(jax.random.split(key, 13))
    model, opt_state, value = epoch((*data, keys[0]), model, opt_state, tx)
    value.block_until_ready()
    start = time.perf_counter()
    for key in keys[1:]:
        model, opt_state, value = epoch((*data, key), model, opt_state, tx)
    value.block_until_ready()
    print(f"{len(keys) - 1} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(value))


if __name__ == "__main__":
    main()
