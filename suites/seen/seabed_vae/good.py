"""Beta-VAE on sonar patches of the sea floor, with a warm-up of the KL weight."""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

PATCH = 16
LATENT = 8
BATCH = 64
EPOCHS = 6
BATCHES = 12


def make_patches(seed, count):
    rng = np.random.default_rng(seed)
    axis = np.linspace(0.0, 1.0, PATCH)
    waves = rng.uniform(2.0, 12.0, size=(count, 2))
    phase = rng.uniform(0.0, 2 * np.pi, size=(count, 1, 1))
    ripples = np.sin(waves[:, 0, None, None] * axis[None, :, None] + waves[:, 1, None, None] * axis[None, None, :] + phase)
    noise = 0.1 * rng.normal(size=ripples.shape)
    return (ripples + noise).reshape(count, -1).astype(np.float32)


class SonarVAE(eqx.Module):
    encoder: eqx.nn.MLP
    decoder: eqx.nn.MLP

    def __init__(self, key):
        enc_key, dec_key = jax.random.split(key)
        self.encoder = eqx.nn.MLP(PATCH * PATCH, 2 * LATENT, 128, 2, activation=jax.nn.gelu, key=enc_key)
        self.decoder = eqx.nn.MLP(LATENT, PATCH * PATCH, 128, 2, activation=jax.nn.gelu, key=dec_key)

    def __call__(self, patch, key):
        mean, log_var = jnp.split(self.encoder(patch), 2)
        code = mean + jnp.exp(0.5 * log_var) * jax.random.normal(key, mean.shape)
        return self.decoder(code), mean, log_var


def elbo_loss(model, patches, key, beta):
    keys = jax.random.split(key, patches.shape[0])
    recon, mean, log_var = jax.vmap(model)(patches, keys)
    error = jnp.mean(jnp.sum((recon - patches) ** 2, axis=-1))
    kl = -0.5 * jnp.mean(jnp.sum(1.0 + log_var - mean**2 - jnp.exp(log_var), axis=-1))
    return error + beta * kl


optimizer = optax.adam(1e-3)


@eqx.filter_jit
def train_step(model, opt_state, patches, key, beta):
    loss, grads = eqx.filter_value_and_grad(elbo_loss)(model, patches, key, beta)
    updates, opt_state = optimizer.update(grads, opt_state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), opt_state, loss


def kl_weight(epoch):
    return 0.05 + 0.95 * min(1.0, epoch / EPOCHS)


def main():
    model = SonarVAE(jax.random.key(0))
    opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
    data = jnp.asarray(make_patches(0, BATCH * BATCHES)).reshape(BATCHES, BATCH, -1)
    key = jax.random.key(1)
    model, opt_state, loss = train_step(model, opt_state, data[0], key, jnp.asarray(kl_weight(0)))
    loss.block_until_ready()

    start = time.perf_counter()
    steps = 0
    for epoch in range(1, EPOCHS + 1):
        beta = jnp.asarray(kl_weight(epoch))
        losses = []
        for batch in range(BATCHES):
            key, sub = jax.random.split(key)
            model, opt_state, loss = train_step(model, opt_state, data[batch], sub, beta)
            losses.append(loss)
            steps += 1
        mean_loss = float(jnp.stack(losses).mean())
    print(f"{steps} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {mean_loss:.4f} {float(loss):.4f}")


if __name__ == "__main__":
    main()
