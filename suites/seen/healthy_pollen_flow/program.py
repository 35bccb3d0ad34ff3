"""Density of pollen measurements with a coupling flow in Equinox."""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

FEATURES = 16
BATCH = 1024
LAYERS = 6


def measurements(seed, count):
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(FEATURES, FEATURES)) / np.sqrt(FEATURES)
    grains = rng.normal(size=(count, FEATURES)) @ mixing
    grains[:, ::2] += np.sin(2.0 * grains[:, 1::2])
    return grains.astype(np.float32)


class Coupling(eqx.Module):
    net: eqx.nn.MLP
    flip: bool = eqx.field(static=True)

    def __init__(self, flip, key):
        half = FEATURES // 2
        self.net = eqx.nn.MLP(half, 2 * half, 128, 2, activation=jax.nn.relu, key=key)
        self.flip = flip

    def __call__(self, x):
        first, second = jnp.split(x, 2)
        if self.flip:
            first, second = second, first
        shift, log_scale = jnp.split(self.net(first), 2)
        log_scale = 1.5 * jnp.tanh(log_scale)
        second = (second - shift) * jnp.exp(-log_scale)
        parts = [second, first] if self.flip else [first, second]
        return jnp.concatenate(parts), -log_scale.sum()


class Flow(eqx.Module):
    layers: list

    def __init__(self, key):
        self.layers = [Coupling(i % 2 == 1, k) for i, k in enumerate(jax.random.split(key, LAYERS))]

    def log_prob(self, x):
        total = 0.0
        for layer in self.layers:
            x, log_det = layer(x)
            total = total + log_det
        return total - 0.5 * jnp.sum(x**2) - 0.5 * FEATURES * jnp.log(2.0 * jnp.pi)


optimizer = optax.adam(1e-3)


@eqx.filter_jit(donate="all-except-first")
def train_step(batch, flow, opt_state):
    @eqx.filter_value_and_grad
    def loss_fn(flow):
        return -jax.vmap(flow.log_prob)(batch).mean()

    loss, grads = loss_fn(flow)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(flow, updates), opt_state, loss


def main():
    flow = Flow(jax.random.key(0))
    opt_state = optimizer.init(eqx.filter(flow, eqx.is_array))
    batches = measurements(1, 81 * BATCH).reshape(81, BATCH, FEATURES)
    flow, opt_state, loss = train_step(batches[0], flow, opt_state)
    loss.block_until_ready()

    start = time.perf_counter()
    losses = []
    for batch in batches[1:]:
        flow, opt_state, loss = train_step(batch, flow, opt_state)
        losses.append(loss)
    losses = jax.block_until_ready(jnp.stack(losses))
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(losses.mean()):.3f} {float(losses[-1]):.3f}")


if __name__ == "__main__":
    main()
