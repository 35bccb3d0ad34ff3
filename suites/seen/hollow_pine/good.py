"""Stellar rotation from a light curve: a Gaussian process with a quasi-periodic and a slow term."""
import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # shared machine

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tinygp import GaussianProcess, kernels

jax.config.update("jax_enable_x64", True)

STEPS = 80
POINTS = 1100


def make_light_curve(seed=8):
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0.0, 60.0, size=POINTS))
    phase = 2.0 * np.pi * t / 7.3
    flux = 0.8 * np.sin(phase) + 0.3 * np.sin(2.0 * phase + 0.5) + 0.2 * np.cos(t / 11.0)
    error = rng.uniform(0.08, 0.15, size=POINTS)
    return jnp.asarray(t), jnp.asarray(flux + error * rng.normal(size=POINTS)), jnp.asarray(error)


def build_gp(params, t, error):
    amp = jnp.exp(params["log_amp"])
    scale = jnp.exp(params["log_scale"])
    slow = jnp.exp(params["log_slow_amp"])
    slow_scale = jnp.exp(params["log_slow_scale"])
    spot = kernels.quasisep.Matern32(scale=scale, sigma=amp)
    trend = kernels.quasisep.Matern52(scale=slow_scale, sigma=slow)
    diag = error**2 + jnp.exp(2.0 * params["log_jitter"])
    return GaussianProcess(spot + trend, t, diag=diag, mean=params["mean"])


def loss_fn(params, t, flux, error):
    return -build_gp(params, t, error).log_probability(flux) / t.shape[0]


def make_update(optimizer):
    @jax.jit
    def update(params, opt_state, t, flux, error):
        loss, grads = jax.value_and_grad(loss_fn)(params, t, flux, error)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return update


def main():
    t, flux, error = make_light_curve()
    params = {
        "mean": jnp.mean(flux),
        "log_amp": jnp.log(0.5),
        "log_scale": jnp.log(2.0),
        "log_slow_amp": jnp.log(0.3),
        "log_slow_scale": jnp.log(15.0),
        "log_jitter": jnp.log(0.05),
    }
    params = {name: jnp.asarray(value, dtype=jnp.float64) for name, value in params.items()}
    optimizer = optax.adam(0.03)
    opt_state = optimizer.init(params)
    update = make_update(optimizer)

    jax.block_until_ready(update(params, opt_state, t, flux, error))

    start = time.perf_counter()
    losses = []
    for _ in range(STEPS):
        params, opt_state, loss = update(params, opt_state, t, flux, error)
        losses.append(loss)
    jax.block_until_ready((params, losses))
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    scale = float(jnp.exp(params["log_scale"]))
    amp = float(jnp.exp(params["log_amp"]))
    print(f"checksum {float(losses[0]):.5f} {float(losses[-1]):.5f} {scale:.4f} {amp:.4f}")


if __name__ == "__main__":
    main()
