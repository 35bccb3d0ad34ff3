"""A discrete autoencoder for sensor frames whose codes are relaxed less and less."""

import math
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

FRAME, CODES, CLASSES, BATCH, STEPS = 128, 8, 16, 1024, 8


class Autoencoder(eqx.Module):
    encoder: eqx.nn.MLP
    decoder: eqx.nn.MLP

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.encoder = eqx.nn.MLP(FRAME, CODES * CLASSES, 256, 1, key=first)
        self.decoder = eqx.nn.MLP(CODES * CLASSES, FRAME, 256, 1, key=second)

    def __call__(self, frame, temperature, key):
        logits = self.encoder(frame).reshape(CODES, CLASSES)
        noisy = logits + jax.random.gumbel(key, logits.shape)
        codes = jax.nn.softmax(noisy / temperature, axis=-1)
        return self.decoder(codes.reshape(-1)), logits


def loss_fn(model, frames, temperature, key):
    keys = jax.random.split(key, frames.shape[0])
    rebuilt, logits = jax.vmap(model, in_axes=(0, None, 0))(frames, temperature, keys)
    usage = jax.nn.softmax(logits).mean(axis=0)
    entropy = -jnp.sum(usage * jnp.log(usage + 1e-8), axis=-1).mean()
    return jnp.square(rebuilt - frames).mean() - 1e-3 * entropy


optimizer = optax.adam(1e-3)


@eqx.filter_jit
def train_step(model, opt_state, frames, temperature, key):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, frames, temperature, key)
    updates, opt_state = optimizer.update(grads, opt_state, model)
    return eqx.apply_updates(model, updates), opt_state, loss


def annealed(step):
    return max(0.4, math.exp(-0.05 * step))


def make_frames(key):
    amplitude, phase = jax.random.normal(key, (2, BATCH, 4, 1))
    grid = jnp.arange(FRAME) / FRAME
    waves = jnp.sin(2 * jnp.pi * jnp.arange(1, 5)[:, None] * grid + phase)
    return (amplitude * waves).sum(axis=1)


def main():
    model_key, data_key, key = jax.random.split(jax.random.key(0), 3)
    model = Autoencoder(model_key)
    opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
    frames = make_frames(data_key)
    model, opt_state, loss = train_step(model, opt_state, frames, jnp.asarray(annealed(0)), key)
    loss.block_until_ready()
    start = time.perf_counter()
    for step in range(1, STEPS + 1):
        temperature = jnp.asarray(annealed(step))
        model, opt_state, loss = train_step(model, opt_state, frames, temperature, jax.random.fold_in(key, step))
    loss.block_until_ready()
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(loss))


if __name__ == "__main__":
    main()
