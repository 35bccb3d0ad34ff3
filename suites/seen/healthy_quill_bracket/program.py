"""Seismic spectra autoencoder: reconstruct noisy station spectra with a small flax network."""
import time
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

N_BANDS, BATCH, PER_CHUNK = 256, 128, 50


class AutoEncoder(nn.Module):
    latent: int = 16

    @nn.compact
    def __call__(self, x):
        h = nn.gelu(nn.Dense(256)(x))
        z = nn.Dense(self.latent)(nn.gelu(nn.Dense(128)(h)))
        h = nn.gelu(nn.Dense(128)(z))
        return nn.Dense(N_BANDS)(nn.gelu(nn.Dense(256)(h)))


def spectra(seed, n):
    rng = np.random.default_rng(seed)
    f = np.linspace(0.0, 1.0, N_BANDS)
    corner = rng.uniform(0.1, 0.6, size=(n, 1))
    fall = rng.uniform(1.5, 3.0, size=(n, 1))
    clean = 1.0 / (1.0 + (f / corner) ** (2 * fall))
    return (clean + 0.05 * rng.normal(size=clean.shape)).astype(np.float32)


def make_chunk(model, optimizer):
    def loss_fn(params, x):
        return jnp.mean((model.apply(params, x) - x) ** 2)

    @partial(jax.jit, donate_argnums=(0, 1))
    def train_chunk(params, opt_state, data, key):
        order = jax.random.randint(key, (PER_CHUNK, BATCH), 0, data.shape[0])

        def body(carry, rows):
            params, opt_state = carry
            loss, grads = jax.value_and_grad(loss_fn)(params, data[rows])
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return (optax.apply_updates(params, updates), opt_state), loss

        (params, opt_state), losses = jax.lax.scan(body, (params, opt_state), order)
        return params, opt_state, jnp.mean(losses)

    return train_chunk


def main():
    data = jnp.asarray(spectra(0, 4096))
    model = AutoEncoder()
    optimizer = optax.adamw(1e-3)
    key = jax.random.key(0)
    params = jax.jit(model.init)(key, data[:1])
    opt_state = jax.jit(optimizer.init)(params)
    train_chunk = make_chunk(model, optimizer)
    params, opt_state, _ = jax.block_until_ready(train_chunk(params, opt_state, data, key))

    n_steps = 40
    losses = []
    start = time.perf_counter()
    for i in range(n_steps):
        params, opt_state, loss = train_chunk(params, opt_state, data, jax.random.fold_in(key, i))
        losses.append(loss)
    jax.block_until_ready((params, losses))
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {float(losses[0]):.6f} {float(losses[-1]):.6f}")


if __name__ == "__main__":
    main()
