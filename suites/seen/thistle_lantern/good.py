"""Variational autoencoder on synthetic 12x12 blob images, with KL warm-up.

A small Equinox VAE is trained with Adam.  The weight of the KL term (beta) is
raised linearly from a small value to one over the epochs, which avoids
posterior collapse early in training.
"""
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

SIDE = 12
LATENT = 6
HIDDEN = 256
BATCH = 128
EPOCHS = 3
LEARNING_RATE = 1e-3


def make_images(n, seed=0):
    """Grey images with one soft blob each, flattened to vectors in [0, 1]."""
    rng = np.random.default_rng(seed)
    grid = np.arange(SIDE)
    cx, cy = rng.uniform(2, SIDE - 3, (2, n, 1, 1))
    width = rng.uniform(1.0, 2.5, (n, 1, 1))
    d2 = (grid[None, :, None] - cx) ** 2 + (grid[None, None, :] - cy) ** 2
    images = np.exp(-d2 / (2 * width**2))
    return images.reshape(n, -1).astype(np.float32)


class VAE(eqx.Module):
    encoder: eqx.nn.MLP
    decoder: eqx.nn.MLP

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.encoder = eqx.nn.MLP(SIDE * SIDE, 2 * LATENT, HIDDEN, 1, key=k1)
        self.decoder = eqx.nn.MLP(LATENT, SIDE * SIDE, HIDDEN, 1, key=k2)

    def __call__(self, x, noise):
        mean, log_var = jnp.split(self.encoder(x), 2)
        z = mean + jnp.exp(0.5 * log_var) * noise
        return self.decoder(z), mean, log_var


def elbo_loss(model, x, key, beta):
    noise = jax.random.normal(key, (x.shape[0], LATENT))
    logits, mean, log_var = jax.vmap(model)(x, noise)
    recon = optax.sigmoid_binary_cross_entropy(logits, x).sum(-1)
    kl = -0.5 * (1 + log_var - mean**2 - jnp.exp(log_var)).sum(-1)
    return jnp.mean(recon + beta * kl)


optimizer = optax.adam(LEARNING_RATE)


@eqx.filter_jit
def train_step(model, opt_state, x, key, beta):
    loss, grads = eqx.filter_value_and_grad(elbo_loss)(model, x, key, beta)
    updates, opt_state = optimizer.update(grads, opt_state, model)
    model = eqx.apply_updates(model, updates)
    return model, opt_state, loss


def kl_weight(epoch):
    """Linear warm-up of the KL weight."""
    return min(1.0, 0.1 + 0.3 * epoch)


def main():
    images = jnp.asarray(make_images(4096))
    batches = images.reshape(-1, BATCH, SIDE * SIDE)
    model = VAE(jax.random.PRNGKey(1))
    opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
    key = jax.random.PRNGKey(2)

    # warm-up step; its result is not kept
    jax.block_until_ready(train_step(model, opt_state, batches[0], key, jnp.asarray(kl_weight(0), jnp.float32))[2])

    start = time.perf_counter()
    steps = 0
    epoch_losses = []
    for epoch in range(EPOCHS):
        beta = jnp.asarray(kl_weight(epoch + 1), jnp.float32)
        losses = []
        for x in batches:
            key, sub = jax.random.split(key)
            model, opt_state, loss = train_step(model, opt_state, x, sub, beta)
            losses.append(loss)
            steps += 1
        epoch_losses.append(jnp.stack(losses).mean())
    jax.block_until_ready(epoch_losses)
    elapsed = time.perf_counter() - start

    print(f"{steps} steps in {elapsed:.2f} s")
    print(f"checksums {float(epoch_losses[0]):.4f} {float(epoch_losses[-1]):.4f}")


if __name__ == "__main__":
    main()
