"""Fits a mixture-density network to a multi-valued inverse problem, with optax."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

MIX, WIDTH, DEPTH, BATCH = 6, 48, 3, 512


def simulate(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.uniform(-3, 3, n)
    x = y + 2.0 * np.sin(1.5 * y) + 0.2 * rng.standard_normal(n)
    return x.astype(np.float32)[:, None], y.astype(np.float32)


def init(key):
    params = {}
    sizes = [1] + [WIDTH] * DEPTH
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        key, sub = jax.random.split(key)
        params[f"dense_{i}"] = {
            "kernel": jax.random.normal(sub, (a, b)) / jnp.sqrt(a),
            "bias": jnp.zeros(b),
            "scale": jnp.ones(b),
        }
    for name in ("logit", "mean", "log_std"):
        key, sub = jax.random.split(key)
        params[name] = {"kernel": 0.3 * jax.random.normal(sub, (WIDTH, MIX)), "bias": jnp.zeros(MIX)}
    return params


def heads(params, x):
    for i in range(DEPTH):
        p = params[f"dense_{i}"]
        x = jnp.tanh(x @ p["kernel"] + p["bias"]) * p["scale"]
    return [x @ params[n]["kernel"] + params[n]["bias"] for n in ("logit", "mean", "log_std")]


def nll(params, x, y):
    logit, mean, log_std = heads(params, x)
    log_std = jnp.clip(log_std, -1.5, 3)
    z = (y[:, None] - mean) * jnp.exp(-log_std)
    comp = jax.nn.log_softmax(logit) - 0.5 * z ** 2 - log_std - 0.9189385
    return -jnp.mean(jax.nn.logsumexp(comp, axis=-1))


value_and_grad = jax.jit(jax.value_and_grad(nll))


def make_optimizer(total):
    schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 50, total)
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-4))


def train(params, data, optimizer, opt_state, steps, seed):
    x, y = data
    rng = np.random.default_rng(seed)
    history = []
    for _ in range(steps):
        idx = rng.integers(0, len(y), BATCH)
        loss, grads = value_and_grad(params, x[idx], y[idx])
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        history.append(loss)
    return params, opt_state, np.asarray(jnp.stack(history))


def main(steps=720):
    data = simulate(4000, seed=0)
    params = init(jax.random.key(0))
    optimizer = make_optimizer(steps)
    train(params, data, optimizer, optimizer.init(params), 3, seed=1)
    t0 = time.perf_counter()
    params, _, losses = train(params, data, optimizer, optimizer.init(params), steps, seed=2)
    print(f"{steps} steps in {time.perf_counter() - t0:.2f} s")
    print(f"checksum {losses[:50].mean():.4f} {losses.mean():.4f}")


if __name__ == "__main__":
    main()
