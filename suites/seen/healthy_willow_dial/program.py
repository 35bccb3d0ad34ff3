"""Haiku GRU that forecasts several correlated load curves, trained in scanned epochs."""
import time
from functools import partial

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def forecast(x):
    core = hk.GRU(128)
    x = jnp.swapaxes(x, 0, 1)
    out, _ = hk.dynamic_unroll(core, x, core.initial_state(x.shape[1]))
    return jnp.swapaxes(hk.BatchApply(hk.Linear(x.shape[-1]))(out), 0, 1)


net = hk.without_apply_rng(hk.transform(forecast))
opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(2e-3))


def loss_fn(params, window):
    pred = net.apply(params, window[:, :-1])
    return jnp.mean(optax.huber_loss(pred, window[:, 1:]))


def windows(series, start, length):
    slice_one = lambda s: jax.lax.dynamic_slice_in_dim(series, s, length, 0)
    return jax.vmap(slice_one)(start)


@partial(jax.jit, static_argnames=("length",), donate_argnums=(0, 1))
def run_block(params, opt_state, series, starts, length):
    def body(carry, start):
        params, opt_state = carry
        loss, grads = jax.value_and_grad(loss_fn)(params, windows(series, start, length))
        updates, opt_state = opt.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state), loss

    (params, opt_state), losses = jax.lax.scan(body, (params, opt_state), starts)
    return params, opt_state, losses


def load_curves(n, d, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(n)[:, None]
    day = np.sin(2 * np.pi * t / 24 + rng.uniform(0, 6, d))
    week = 0.5 * np.sin(2 * np.pi * t / 168 + rng.uniform(0, 6, d))
    noise = np.cumsum(rng.normal(size=(n, d)), 0) * 0.01 + 0.1 * rng.normal(size=(n, d))
    mix = np.eye(d) + 0.1 * rng.normal(size=(d, d))
    out = (day + week + noise) @ mix
    return ((out - out.mean(0)) / out.std(0)).astype(np.float32)


def main():
    rng = np.random.default_rng(0)
    series = jnp.asarray(load_curves(6000, 12, seed=3))
    length, batch, inner, n_steps = 48, 64, 4, 24
    params = net.init(jax.random.PRNGKey(0), jnp.zeros((batch, length - 1, 12)))
    opt_state = opt.init(params)
    starts = jnp.asarray(rng.integers(0, 6000 - length, (n_steps + 1, inner, batch)))
    params, opt_state, _ = run_block(params, opt_state, series, starts[-1], length)
    losses = []
    t0 = time.perf_counter()
    for block in range(n_steps):
        params, opt_state, loss = run_block(params, opt_state, series, starts[block], length)
        losses.append(loss)
    jax.block_until_ready((params, losses))
    t = time.perf_counter() - t0
    losses = np.concatenate([np.asarray(v) for v in losses])
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {losses.mean():.5f} {losses[-8:].mean():.5f}")


if __name__ == "__main__":
    main()
