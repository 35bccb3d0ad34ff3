"""Salinity of an estuary from sensor readings, by a flax network on random minibatches."""

import time
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

READINGS = 50_000
FEATURES = 10
BATCH = 256
BLOCKS = 6
BLOCK_STEPS = 20


def make_readings(key):
    """Temperature, depth, tide and other channels; the salinity depends on some of them."""
    keys = jax.random.split(key, 2)
    channels = jax.random.normal(keys[0], (READINGS, FEATURES))
    salinity = jnp.tanh(channels[:, 0]) * channels[:, 1] + 0.5 * jnp.sin(2.0 * channels[:, 2])
    return channels, salinity + 0.1 * jax.random.normal(keys[1], (READINGS,))


class SalinityNet(nn.Module):
    width: int = 48

    @nn.compact
    def __call__(self, channels):
        x = nn.silu(nn.Dense(self.width)(channels))
        x = nn.silu(nn.Dense(self.width)(x))
        return nn.Dense(1)(x)[..., 0]


MODEL = SalinityNet()
OPTIMIZER = optax.adam(optax.exponential_decay(3e-3, 100, 0.5))


def mean_square(params, channels, salinity):
    return jnp.mean((MODEL.apply(params, channels) - salinity) ** 2)


def draw_batch(key, channels, salinity):
    """Readings at random places of the table."""
    rows = jax.random.randint(key, (BATCH,), 0, READINGS)
    return channels[rows], salinity[rows]


def train_step(carry, key, channels, salinity):
    params, state = carry
    batch = draw_batch(key, channels, salinity)
    loss, gradient = jax.value_and_grad(mean_square)(params, *batch)
    updates, state = OPTIMIZER.update(gradient, state, params)
    return (optax.apply_updates(params, updates), state), loss


@partial(jax.jit, donate_argnums=0)
def train_block(carry, key, channels, salinity):
    """A block of steps in one compiled loop."""
    keys = jax.random.split(key, BLOCK_STEPS)
    step = partial(train_step, channels=channels, salinity=salinity)
    return jax.lax.scan(step, carry, keys)


def main():
    keys = jax.random.split(jax.random.key(5), BLOCKS + 2)
    channels, salinity = make_readings(keys[-1])
    params = MODEL.init(keys[-2], channels[:1])
    carry = (params, OPTIMIZER.init(params))
    held_channels, held_salinity = channels[:4000], salinity[:4000]
    carry, losses = jax.block_until_ready(train_block(carry, keys[-2], channels, salinity))

    start = time.perf_counter()
    for key in keys[:BLOCKS]:
        carry, losses = train_block(carry, key, channels, salinity)
    jax.block_until_ready(losses)
    print(f"{BLOCKS * BLOCK_STEPS} steps in {time.perf_counter() - start:.3f} s")
    error = jax.jit(mean_square)(carry[0], held_channels, held_salinity)
    print(f"checksum {error + 1.0:.4f}")


if __name__ == "__main__":
    main()
