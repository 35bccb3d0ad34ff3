"""Rotation and granulation of stars from noisy light curves: fit of a Gaussian process."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tinygp import GaussianProcess, kernels

jax.config.update("jax_enable_x64", True)

N_EPOCHS = 750
N_STARS = 4
STEPS_PER_STAR = 22


def make_star(rng):
    t = np.sort(rng.uniform(0.0, 80.0, N_EPOCHS))
    period = rng.uniform(6.0, 14.0)
    flux = 0.8 * np.sin(2 * np.pi * t / period) + 0.3 * np.sin(4 * np.pi * t / period + 0.4)
    flux = flux + 0.02 * t + 0.1 * rng.normal(size=t.shape)
    err = np.full_like(t, 0.1)
    return jnp.asarray(t), jnp.asarray(flux), jnp.asarray(err)


def init_params():
    return {
        "log_amp": jnp.log(jnp.array([1.0, 0.4])),
        "log_scale": jnp.log(jnp.array([4.0, 0.7])),
        "log_jitter": jnp.log(jnp.array(0.05)),
        "mean": jnp.array(0.0),
        "slope": jnp.array(0.0),
    }


def build_gp(params, t, err):
    amp = jnp.exp(params["log_amp"])
    scale = jnp.exp(params["log_scale"])
    slow = amp[0] ** 2 * kernels.quasisep.Matern32(scale=scale[0])
    fast = amp[1] ** 2 * kernels.quasisep.Exp(scale=scale[1])
    diag = err**2 + jnp.exp(2 * params["log_jitter"])
    return GaussianProcess(
        slow + fast, t, diag=diag, mean=lambda x: params["mean"] + params["slope"] * x
    )


def negative_log_likelihood(params, t, flux, err):
    gp = build_gp(params, t, err)
    return -gp.log_probability(flux) / t.shape[0]


class LightCurveFitter:
    def __init__(self, learning_rate=0.05):
        self.optimizer = optax.adam(learning_rate)
        self.step = jax.jit(self._step)

    def _step(self, params, state, t, flux, err):
        loss, grads = jax.value_and_grad(negative_log_likelihood)(params, t, flux, err)
        updates, state = self.optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    def fit(self, star, n_steps):
        params = init_params()
        state = self.optimizer.init(params)
        for _ in range(n_steps):
            params, state, loss = self.step(params, state, *star)
        return params, loss


def main():
    rng = np.random.default_rng(11)
    stars = [make_star(rng) for _ in range(N_STARS)]
    fitter = LightCurveFitter()
    jax.block_until_ready(fitter.fit(stars[0], 2))

    start = time.perf_counter()
    results = [fitter.fit(star, STEPS_PER_STAR) for star in stars]
    jax.block_until_ready(results)
    elapsed = time.perf_counter() - start

    total = sum(float(loss) for _, loss in results)
    scales = sum(float(jnp.sum(p["log_scale"] - p["log_jitter"])) for p, _ in results)
    print(f"{N_STARS * STEPS_PER_STAR} steps in {elapsed:.3f} s")
    print(f"checksum {total:.8f} {scales:.8f}")


if __name__ == "__main__":
    main()
