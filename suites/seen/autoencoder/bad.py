"""A denoising autoencoder of spectra in equinox, with its loss and gradient norm logged."""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

CHANNELS, CODE, BATCH = 512, 16, 256


class Autoencoder(eqx.Module):
    encoder: eqx.nn.MLP
    decoder: eqx.nn.MLP

    def __init__(self, key):
        down, up = jax.random.split(key)
        self.encoder = eqx.nn.MLP(CHANNELS, CODE, 256, 2, key=down)
        self.decoder = eqx.nn.MLP(CODE, CHANNELS, 256, 2, key=up)

    def __call__(self, spectrum):
        return self.decoder(self.encoder(spectrum))


def spectra(key, count):
    """Sums of Gaussian lines on a sloping continuum."""
    place_key, height_key, slope_key = jax.random.split(key, 3)
    channel = jnp.linspace(0.0, 1.0, CHANNELS)
    place = jax.random.uniform(place_key, (count, 5, 1))
    height = jax.random.exponential(height_key, (count, 5, 1))
    slope = jax.random.normal(slope_key, (count, 1))
    lines = (height * jnp.exp(-0.5 * ((channel - place) / 0.02) ** 2)).sum(1)
    return lines + slope * channel


def loss_fn(model, clean, noisy):
    return jnp.mean((jax.vmap(model)(noisy) - clean) ** 2)


tx = optax.adam(1e-3)


@eqx.filter_jit
def evaluate(model, clean, noisy):
    return loss_fn(model, clean, noisy)


@eqx.filter_jit
def gradient_norm(model, clean, noisy):
    return optax.global_norm(eqx.filter_grad(loss_fn)(model, clean, noisy))


@eqx.filter_jit
def update(model, opt_state, clean, noisy):
    grads = eqx.filter_grad(loss_fn)(model, clean, noisy)
    updates, opt_state = tx.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state


class Trainer:
    """Holds the model and the history of a run."""

    def __init__(self, key):
        self.model = Autoencoder(key)
        self.opt_state = tx.init(eqx.filter(self.model, eqx.is_array))
        self.losses, self.norms = [], []

    def step(self, clean, noisy):
        self.losses.append(evaluate(self.model, clean, noisy))
        self.norms.append(gradient_norm(self.model, clean, noisy))
        self.model, self.opt_state = update(self.model, self.opt_state, clean, noisy)


def main():
    key = jax.random.key(0)
    batches = []
    for sub in jax.random.split(key, 6):
        clean = spectra(sub, BATCH)
        batches.append((clean, clean + 0.1 * jax.random.normal(sub, clean.shape)))
    trainer = Trainer(key)
    for batch in batches[:2]:
        trainer.step(*batch)
    jax.block_until_ready((trainer.norms, trainer.model))
    steps = 60
    start = time.perf_counter()
    for i in range(steps):
        trainer.step(*batches[i % len(batches)])
    jax.block_until_ready((trainer.losses, trainer.norms, trainer.opt_state))
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(trainer.losses[-1]), float(trainer.norms[-1]))


if __name__ == "__main__":
    main()
