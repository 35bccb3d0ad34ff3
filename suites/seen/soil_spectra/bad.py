"""Carbon content of soil from infrared spectra, by a residual network."""

import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState

SAMPLES, BANDS, BATCH, STEPS = 4096, 240, 64, 60


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        hidden = nn.LayerNorm()(x)
        hidden = nn.gelu(nn.Dense(2 * self.width)(hidden))
        return x + nn.Dense(self.width)(hidden)


class SpectraNet(nn.Module):
    width: int = 96
    depth: int = 12

    @nn.compact
    def __call__(self, spectra):
        x = nn.Dense(self.width)(spectra)
        for _ in range(self.depth):
            x = Block(self.width)(x)
        return nn.Dense(1)(nn.LayerNorm()(x))[:, 0]


def make_spectra(key):
    mix_key, noise_key = jax.random.split(key)
    shares = jax.random.dirichlet(mix_key, jnp.ones(8), (SAMPLES,))
    bands = jnp.linspace(0.0, 1.0, BANDS)
    pure = jnp.exp(-jnp.square((bands - jnp.linspace(0.1, 0.9, 8)[:, None]) / 0.08))
    spectra = shares @ pure + 0.01 * jax.random.normal(noise_key, (SAMPLES, BANDS))
    return spectra, jnp.sqrt(shares[:, 0] + 0.2 * shares[:, 3])


@jax.jit
def compute_gradients(state, spectra, carbon):
    def loss_fn(params):
        return optax.huber_loss(state.apply_fn({"params": params}, spectra), carbon).mean()

    return jax.value_and_grad(loss_fn)(state.params)


def train_step(state, spectra, carbon):
    loss, grads = compute_gradients(state, spectra, carbon)
    return state.apply_gradients(grads=grads), loss


def create_state(key):
    model = SpectraNet()
    params = model.init(key, jnp.zeros((1, BANDS)))["params"]
    schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 20, STEPS)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-4))
    return TrainState.create(apply_fn=model.apply, params=params, tx=optimizer)


def main():
    spectra, carbon = make_spectra(jax.random.key(0))
    state = create_state(jax.random.key(1))
    batches = [(spectra[i : i + BATCH], carbon[i : i + BATCH]) for i in range(0, SAMPLES, BATCH)]
    state, loss = train_step(state, *batches[0])
    loss.block_until_ready()
    start = time.perf_counter()
    for step in range(STEPS):
        state, loss = train_step(state, *batches[step % len(batches)])
    jax.block_until_ready(state.params)
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(loss), float(optax.global_norm(state.params)))


if __name__ == "__main__":
    main()
