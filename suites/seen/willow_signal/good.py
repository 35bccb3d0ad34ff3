"""Discrete bottleneck autoencoder for single-cell marker profiles (Gumbel-softmax codes).

The relaxation temperature is lowered a little at every round of updates.
"""
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS = 6
ROUND = 8
MARKERS = 512
CODES = 16
LEVELS = 8
BATCH = 512


class Autoencoder(eqx.Module):
    encoder: eqx.nn.MLP
    decoder: eqx.nn.MLP

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.encoder = eqx.nn.MLP(MARKERS, CODES * LEVELS, 512, 1, key=k1)
        self.decoder = eqx.nn.MLP(CODES * LEVELS, MARKERS, 512, 1, key=k2)

    def __call__(self, profile, temperature, key):
        logits = self.encoder(profile).reshape(CODES, LEVELS)
        noise = jax.random.gumbel(key, logits.shape)
        codes = jax.nn.softmax((logits + noise) / temperature, axis=-1)
        return self.decoder(codes.reshape(-1)), logits


def loss_fn(model, profiles, temperature, key):
    keys = jax.random.split(key, profiles.shape[0])
    recon, logits = jax.vmap(model, in_axes=(0, None, 0))(profiles, temperature, keys)
    log_q = jax.nn.log_softmax(logits, axis=-1)
    entropy = -jnp.sum(jnp.exp(log_q) * log_q, axis=(-2, -1))
    return jnp.mean((recon - profiles) ** 2) - 1e-4 * jnp.mean(entropy)


optim = optax.adam(3e-4)


@eqx.filter_jit
def make_step(model, opt_state, profiles, temperature, key):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, profiles, temperature, key)
    updates, opt_state = optim.update(grads, opt_state, eqx.filter(model, eqx.is_inexact_array))
    model = eqx.apply_updates(model, updates)
    return model, opt_state, loss


def make_cells(seed=2, count=4096):
    rng = np.random.default_rng(seed)
    types = rng.normal(size=(12, MARKERS))
    kind = rng.integers(0, 12, size=count)
    cells = types[kind] + 0.3 * rng.normal(size=(count, MARKERS))
    return jnp.asarray(cells, dtype=jnp.float32)


def temperature_at(step):
    return max(0.5, 1.0 * 0.9**step)


def main():
    cells = make_cells()
    key = jax.random.key(0)
    model_key, key = jax.random.split(key)
    model = Autoencoder(model_key)
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))

    temperature = jnp.asarray(temperature_at(0))
    jax.block_until_ready(make_step(model, opt_state, cells[:BATCH], temperature, key))

    start = time.perf_counter()
    losses = []
    for step in range(STEPS):
        temperature = jnp.asarray(temperature_at(step))
        for inner in range(ROUND):
            key, sub = jax.random.split(key)
            offset = ((step * ROUND + inner) * BATCH) % cells.shape[0]
            batch = cells[offset : offset + BATCH]
            model, opt_state, loss = make_step(model, opt_state, batch, temperature, sub)
            losses.append(loss)
    jax.block_until_ready((model, losses))
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    values = np.asarray(jax.device_get(losses))
    print(f"checksum {values[0]:.4f} {values[-1]:.4f} {values.mean():.4f}")


if __name__ == "__main__":
    main()
