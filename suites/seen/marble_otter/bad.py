"""Trains a vector-quantised autoencoder with soft codes whose temperature is annealed, with Equinox."""
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

DIM, LATENT, CODES, BATCH, PER_EPOCH = 64, 12, 48, 128, 60


class SoftCodebook(eqx.Module):
    codes: jax.Array
    temperature: float

    def __init__(self, codes, dim, temperature, key):
        self.codes = 0.5 * jax.random.normal(key, (codes, dim))
        self.temperature = temperature

    def __call__(self, z):
        d2 = jnp.sum((self.codes - z) ** 2, axis=-1)
        weights = jax.nn.softmax(-d2 / self.temperature)
        return weights @ self.codes, weights


class AutoEncoder(eqx.Module):
    encoder: eqx.nn.MLP
    book: SoftCodebook
    decoder: eqx.nn.MLP

    def __init__(self, temperature, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.encoder = eqx.nn.MLP(DIM, LATENT, 160, 3, key=k1)
        self.book = SoftCodebook(CODES, LATENT, temperature, k2)
        self.decoder = eqx.nn.MLP(LATENT, DIM, 160, 3, key=k3)

    def __call__(self, x):
        z = self.encoder(x)
        q, weights = self.book(z)
        return self.decoder(q), z, q, weights


def loss_fn(model, x):
    recon, z, q, weights = jax.vmap(model)(x)
    usage = weights.mean(0)
    spread = jnp.sum(usage * jnp.log(usage + 1e-8))
    return jnp.mean((recon - x) ** 2) + 0.05 * jnp.mean((z - q) ** 2) + 0.01 * spread


@eqx.filter_jit
def make_step(model, opt_state, optimizer, x):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, x)
    updates, opt_state = optimizer.update(grads, opt_state, eqx.filter(model, eqx.is_inexact_array))
    return eqx.apply_updates(model, updates), opt_state, loss


def anneal(model, epoch):
    temperature = 0.2 + 1.8 * 0.6 ** epoch
    return eqx.tree_at(lambda m: m.book.temperature, model, temperature)


def make_data(n, seed):
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((24, DIM))
    return (centres[rng.integers(0, 24, n)] + 0.1 * rng.standard_normal((n, DIM))).astype(np.float32)


def run_epoch(model, opt_state, optimizer, data, epoch):
    rng = np.random.default_rng(epoch)
    model = anneal(model, epoch)
    order = rng.permutation(len(data))[: BATCH * PER_EPOCH].reshape(PER_EPOCH, BATCH)
    total = 0.0
    for idx in order:
        model, opt_state, loss = make_step(model, opt_state, optimizer, data[idx])
        total = total + loss
    return model, opt_state, float(total) / PER_EPOCH


def main(epochs=4):
    data = make_data(BATCH * PER_EPOCH, seed=0)
    optimizer = optax.adam(1e-3)
    model = anneal(AutoEncoder(2.0, jax.random.key(0)), 0)
    opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
    model, opt_state, first = run_epoch(model, opt_state, optimizer, data, 0)
    history = []
    t0 = time.perf_counter()
    for epoch in range(1, epochs + 1):
        model, opt_state, mean_loss = run_epoch(model, opt_state, optimizer, data, epoch)
        history.append(mean_loss)
    print(f"{epochs * PER_EPOCH} steps in {time.perf_counter() - t0:.2f} s")
    print(f"checksum {first:.4f} {history[0]:.4f} {np.mean(history):.4f}")


if __name__ == "__main__":
    main()
