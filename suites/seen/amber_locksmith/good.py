"""Fit the hyper-parameters of a Gaussian process to a stellar light curve."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tinygp import GaussianProcess
from tinygp.kernels import quasisep

jax.config.update("jax_enable_x64", True)

N_OBS = 1500
N_STEPS = 5


def make_light_curve(seed=4):
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0.0, 60.0, N_OBS))
    spots = 0.8 * np.sin(2 * np.pi * t / 7.3) + 0.3 * np.cos(2 * np.pi * t / 3.1)
    drift = np.cumsum(rng.normal(0.0, 0.03, N_OBS))
    yerr = rng.uniform(0.08, 0.16, N_OBS)
    y = 1.2 + spots + drift + yerr * rng.normal(size=N_OBS)
    return jnp.asarray(t), jnp.asarray(y), jnp.asarray(yerr)


def initial_params():
    return {
        "mean": jnp.array(0.0),
        "log_amp": jnp.array(0.0),
        "log_scale": jnp.log(jnp.array(8.0)),
        "log_jitter": jnp.array(-3.0),
    }


def build_gp(params, t, yerr):
    kernel = jnp.exp(2 * params["log_amp"]) * quasisep.Matern32(
        scale=jnp.exp(params["log_scale"])
    )
    return GaussianProcess(
        kernel,
        t,
        diag=yerr**2 + jnp.exp(2 * params["log_jitter"]),
        mean=params["mean"],
    )


def neg_log_likelihood(params, t, y, yerr):
    return -build_gp(params, t, yerr).log_probability(y)


def make_step(optimizer):
    @jax.jit
    def step(params, opt_state, t, y, yerr):
        loss, grads = jax.value_and_grad(neg_log_likelihood)(params, t, y, yerr)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def fit(step, params, opt_state, data, n_steps):
    losses = []
    for _ in range(n_steps):
        params, opt_state, loss = step(params, opt_state, *data)
        losses.append(loss)
    return params, opt_state, jnp.stack(losses)


def main():
    data = make_light_curve()
    optimizer = optax.adam(5e-2)
    step = make_step(optimizer)
    params = initial_params()
    opt_state = optimizer.init(params)

    # compile before the clock starts
    jax.block_until_ready(step(params, opt_state, *data))

    start = time.perf_counter()
    params, opt_state, losses = fit(step, params, opt_state, data, N_STEPS)
    losses.block_until_ready()
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.2f} s")
    print(
        f"checksum loss={float(losses[-1]):.4f} mean={float(params['mean']):.4f} "
        f"scale={float(params['log_scale']):.4f}"
    )


if __name__ == "__main__":
    main()
