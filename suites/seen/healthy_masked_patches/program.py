"""Learns satellite pictures by guessing patches that are hidden."""

import functools
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState

PICTURES, PATCHES, PIXELS, WIDTH, BATCH, STEPS = 512, 36, 64, 128, 64, 16


class Layer(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = x + nn.MultiHeadDotProductAttention(num_heads=4)(nn.LayerNorm()(x))
        hidden = nn.gelu(nn.Dense(4 * WIDTH)(nn.LayerNorm()(x)))
        return x + nn.Dense(WIDTH)(hidden)


class PatchModel(nn.Module):
    @nn.compact
    def __call__(self, patches, hidden):
        empty = self.param("empty", nn.initializers.normal(0.02), (WIDTH,))
        places = self.param("places", nn.initializers.normal(0.02), (PATCHES, WIDTH))
        x = jnp.where(hidden[..., None], empty, nn.Dense(WIDTH)(patches)) + places
        for _ in range(2):
            x = Layer()(x)
        return nn.Dense(PIXELS)(nn.LayerNorm()(x))


def loss_fn(params, apply_fn, patches, key):
    hidden = jax.random.bernoulli(key, 0.6, patches.shape[:2])
    guess = apply_fn({"params": params}, patches, hidden)
    error = jnp.square(guess - patches).mean(axis=-1)
    return jnp.sum(error * hidden) / jnp.sum(hidden)


@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, pictures, key):
    batch_key, hide_key = jax.random.split(jax.random.fold_in(key, state.step))
    rows = jax.random.randint(batch_key, (BATCH,), 0, PICTURES)
    loss, grads = jax.value_and_grad(loss_fn)(state.params, state.apply_fn, pictures[rows], hide_key)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def make_pictures(key):
    """Fields and woods: a few smooth waves in each picture, cut into patches."""
    phase_key, noise_key = jax.random.split(key)
    phase = jax.random.uniform(phase_key, (PICTURES, 3, 1, 1), maxval=2 * jnp.pi)
    side = jnp.arange(48) / 48.0
    waves = jnp.array([3.0, 7.0, 11.0])[:, None, None]
    picture = jnp.sin(waves * side[:, None] + phase) * jnp.cos(waves * side + 2.0 * phase)
    picture = picture.sum(axis=1) + 0.05 * jax.random.normal(noise_key, (PICTURES, 48, 48))
    return picture.reshape(PICTURES, 6, 8, 6, 8).swapaxes(2, 3).reshape(PICTURES, PATCHES, PIXELS)


def main():
    data_key, model_key, key = jax.random.split(jax.random.key(0), 3)
    pictures = make_pictures(data_key)
    model = PatchModel()
    params = jax.jit(model.init)(model_key, pictures[:1], jnp.zeros((1, PATCHES), bool))["params"]
    state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))
    state, loss = train_step(state, pictures, key)
    loss.block_until_ready()
    start = time.perf_counter()
    losses = []
    for _ in range(STEPS):
        state, loss = train_step(state, pictures, key)
        losses.append(loss)
    jax.block_until_ready(losses)
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack(losses).mean()))


if __name__ == "__main__":
    main()
