"""How large a recurrent network has to be to forecast the tide."""

import time

import haiku as hk
import jax
import jax.numpy as jnp
import optax

BATCH, HOURS, UPDATES = 16, 24, 15
SIZES = (12, 20, 28)


def make_tides(key):
    """Levels by the hour: sums of waves of the moon and of the sun."""
    phase_key, noise_key = jax.random.split(key)
    phases = jax.random.uniform(phase_key, (BATCH, 3, 1), maxval=2 * jnp.pi)
    periods = jnp.array([12.42, 12.0, 25.82])[:, None]
    waves = jnp.sin(2 * jnp.pi * jnp.arange(HOURS + 1) / periods + phases)
    levels = (jnp.array([1.0, 0.4, 0.3])[:, None] * waves).sum(axis=1)
    return levels + 0.02 * jax.random.normal(noise_key, levels.shape)


def forecaster(size):
    def forecast(levels):
        core = hk.DeepRNN([hk.GRU(size), jax.nn.tanh, hk.GRU(size)])
        state = core.initial_state(levels.shape[0])
        inputs = levels.T[:, :, None]
        hidden, _ = hk.static_unroll(core, inputs, state)
        return hk.BatchApply(hk.Linear(1))(hidden)[:, :, 0].T

    return hk.without_apply_rng(hk.transform(forecast))


def train(size, key, tides):
    """Loss of a network of this size after a short training."""
    network = forecaster(size)
    params = network.init(key, tides[:, :-1])
    optimizer = optax.adam(1e-2)

    def loss_fn(params):
        return jnp.square(network.apply(params, tides[:, :-1]) - tides[:, 1:]).mean()

    @jax.jit
    def update(params, opt_state):
        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    opt_state = optimizer.init(params)
    for _ in range(UPDATES):
        params, opt_state, loss = update(params, opt_state)
    return float(loss)


def main():
    data_key, key = jax.random.split(jax.random.key(2))
    tides = make_tides(data_key)
    train(8, key, tides)
    start = time.perf_counter()
    losses = {size: train(size, key, tides) for size in SIZES}
    print(f"{len(SIZES)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", sum(losses.values()))


if __name__ == "__main__":
    main()
