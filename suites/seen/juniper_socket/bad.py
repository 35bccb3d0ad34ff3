"""Bayesian optimisation of a process with a Gaussian-process surrogate."""
import time

import jax
import jax.numpy as jnp
import numpy as np

DIM = 3
N_INITIAL = 40
N_STEPS = 5
N_CANDIDATES = 50_000
FIT_STEPS = 150


def process_yield(x):
    """The expensive experiment (to be maximised)."""
    a, b, c = x
    return float(np.exp(-8 * (a - 0.3) ** 2 - 5 * (b - 0.7) ** 2) + 0.3 * np.cos(4 * c) - 0.1 * a * b)


def kernel(log_scale, x1, x2):
    diff = (x1[:, None, :] - x2[None, :, :]) / jnp.exp(log_scale)
    return jnp.exp(-0.5 * jnp.sum(diff**2, axis=-1))


def covariance(params, x):
    noise = jnp.exp(params["log_noise"]) + 1e-4
    return kernel(params["log_scale"], x, x) + noise * jnp.eye(x.shape[0])


def neg_log_likelihood(params, x, y):
    chol = jnp.linalg.cholesky(covariance(params, x))
    alpha = jax.scipy.linalg.solve_triangular(chol, y, lower=True)
    prior = jnp.sum(params["log_scale"] ** 2) + 0.1 * (params["log_noise"] + 5) ** 2
    return 0.5 * jnp.sum(alpha**2) + jnp.sum(jnp.log(jnp.diag(chol))) + prior


def fit(x, y):
    params = {"log_scale": jnp.zeros(DIM), "log_noise": jnp.array(-4.0)}

    def body(_, params):
        grads = jax.grad(neg_log_likelihood)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.03 * jnp.clip(g, -5, 5), params, grads)

    return jax.lax.fori_loop(0, FIT_STEPS, body, params)


@jax.jit
def propose(x, y, candidates):
    """The candidate with the best upper confidence bound."""
    mean, std = jnp.mean(y), jnp.std(y) + 1e-6
    z = (y - mean) / std
    params = fit(x, z)
    chol = jnp.linalg.cholesky(covariance(params, x))
    cross = kernel(params["log_scale"], candidates, x)
    alpha = jax.scipy.linalg.cho_solve((chol, True), z)
    half = jax.scipy.linalg.solve_triangular(chol, cross.T, lower=True)
    var = jnp.clip(1.0 - jnp.sum(half**2, axis=0), 1e-9)
    bound = cross @ alpha + 1.0 * jnp.sqrt(var)
    return candidates[jnp.argmax(bound)]


class Campaign:
    def __init__(self, rng):
        self.rng = rng
        self.x = rng.random((N_INITIAL, DIM)).astype(np.float32)
        self.y = np.array([process_yield(x) for x in self.x], np.float32)

    def suggest(self):
        candidates = self.rng.random((N_CANDIDATES, DIM)).astype(np.float32)
        return np.asarray(propose(self.x, self.y, candidates))

    def tell(self, x, value):
        self.x = np.concatenate([self.x, x[None]])
        self.y = np.append(self.y, np.float32(value))


def main():
    campaign = Campaign(np.random.default_rng(30))
    Campaign(np.random.default_rng(1)).suggest()

    start = time.perf_counter()
    for _ in range(N_STEPS):
        x = campaign.suggest()
        campaign.tell(x, process_yield(x))
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.2f} s")
    print(f"checksum best={campaign.y.max():.3f} evaluated={len(campaign.y)}")


if __name__ == "__main__":
    main()
