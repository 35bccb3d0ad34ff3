"""Learns the density of two moons by a flow of affine couplings (distrax)."""

import time

import distrax
import jax
import jax.numpy as jnp
import optax

LAYERS, WIDTH, BATCH = 6, 64, 1024


def conditioner(params, x):
    hidden = jax.nn.relu(x @ params["w1"] + params["b1"])
    shift, log_scale = jnp.split(hidden @ params["w2"], 2, axis=-1)
    return shift, 0.5 * jnp.tanh(log_scale)


def flow(params):
    layers = []
    for i, layer in enumerate(params):
        mask = jnp.arange(2) % 2 == i % 2

        def bijector(coupling):
            shift, log_scale = coupling
            return distrax.Block(distrax.ScalarAffine(shift=shift, log_scale=log_scale), 0)

        layers.append(distrax.MaskedCoupling(mask, lambda x, layer=layer: conditioner(layer, x), bijector))
    base = distrax.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2))
    return distrax.Transformed(base, distrax.Inverse(distrax.Chain(layers)))


def moons(key, count):
    upper, noise = jax.random.split(key)
    angle = jnp.pi * jax.random.uniform(upper, (count,))
    side = jnp.arange(count) % 2
    x = jnp.stack([jnp.cos(angle) * (1 - 2 * side) + side, jnp.sin(angle) * (1 - 2 * side) + 0.5 * side], 1)
    return x + 0.08 * jax.random.normal(noise, x.shape)


def initial(key):
    keys = jax.random.split(key, LAYERS)
    one = lambda key: {"w1": jax.random.normal(key, (2, WIDTH)), "b1": jnp.zeros(WIDTH), "w2": 0.01 * jax.random.normal(key, (WIDTH, 4))}  # noqa: E731
    return [one(key) for key in keys]


def main():
    params = initial(jax.random.key(0))
    tx = optax.adam(1e-3)

    @jax.jit
    def block(params, opt_state, key):
        def body(carry, key):
            params, opt_state = carry
            x = moons(key, BATCH)
            value, grads = jax.value_and_grad(lambda p: -flow(p).log_prob(x).mean())(params)
            updates, opt_state = tx.update(grads, opt_state)
            return (optax.apply_updates(params, updates), opt_state), value

        (params, opt_state), values = jax.lax.scan(body, (params, opt_state), jax.random.split(key, 10))
        return params, opt_state, values.mean()

    opt_state = tx.init(params)
    keys = list(jax.random.split(jax.random.key(1), 31))
    params, opt_state, value = block(params, opt_state, keys[0])
    value.block_until_ready()
    start = time.perf_counter()
    for key in keys[1:]:
        params, opt_state, value = block(params, opt_state, key)
    value.block_until_ready()
    print(f"30 steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(value))


if __name__ == "__main__":
    main()
