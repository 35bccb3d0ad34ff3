"""Equinox autoencoder for short spectra, trained with Optax."""
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

N_SPECTRA = 8192
LENGTH = 256
BATCH = 512
EPOCHS = 10


def make_spectra(seed=3):
    rng = np.random.default_rng(seed)
    grid = np.linspace(0, 1, LENGTH, dtype=np.float32)
    centres = rng.random((N_SPECTRA, 3, 1), dtype=np.float32)
    widths = 0.02 + 0.05 * rng.random((N_SPECTRA, 3, 1), dtype=np.float32)
    lines = np.exp(-0.5 * ((grid - centres) / widths) ** 2).sum(axis=1)
    return lines + 0.02 * rng.standard_normal((N_SPECTRA, LENGTH), dtype=np.float32)


class Autoencoder(eqx.Module):
    encoder: eqx.nn.MLP
    decoder: eqx.nn.MLP

    def __init__(self, key, latent=12):
        k1, k2 = jax.random.split(key)
        self.encoder = eqx.nn.MLP(LENGTH, latent, 384, 2, activation=jax.nn.gelu, key=k1)
        self.decoder = eqx.nn.MLP(latent, LENGTH, 384, 2, activation=jax.nn.gelu, key=k2)

    def __call__(self, x):
        return self.decoder(self.encoder(x))


def loss_fn(model, batch):
    return jnp.mean((jax.vmap(model)(batch) - batch) ** 2)


def make_step(optimizer):
    @eqx.filter_jit(donate="all-except-first")
    def step(batch, model, opt_state):
        loss, grads = eqx.filter_value_and_grad(loss_fn)(model, batch)
        updates, opt_state = optimizer.update(grads, opt_state, eqx.filter(model, eqx.is_array))
        return eqx.apply_updates(model, updates), opt_state, loss

    return step


def batches(rng, spectra):
    order = rng.permutation(N_SPECTRA)
    for i in range(0, N_SPECTRA, BATCH):
        yield spectra[order[i:i + BATCH]]


def fresh(optimizer):
    model = Autoencoder(jax.random.PRNGKey(0))
    return model, optimizer.init(eqx.filter(model, eqx.is_array))


def main():
    spectra = make_spectra()
    optimizer = optax.adamw(1e-3)
    step = make_step(optimizer)
    jax.block_until_ready(step(spectra[:BATCH], *fresh(optimizer)))

    model, opt_state = fresh(optimizer)
    rng = np.random.default_rng(1)
    losses = []
    start = time.perf_counter()
    for _ in range(EPOCHS):
        for batch in batches(rng, spectra):
            model, opt_state, loss = step(batch, model, opt_state)
            losses.append(loss)
    losses = np.asarray(jax.device_get(losses))
    elapsed = time.perf_counter() - start

    print(f"{len(losses)} steps in {elapsed:.2f} s")
    print(f"checksum first={losses[0]:.4f} last={losses[-16:].mean():.4f}")


if __name__ == "__main__":
    main()
