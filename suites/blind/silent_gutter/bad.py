"""Robust long-only portfolio weights from rolling covariance windows."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from jaxopt import ProjectedGradient
from jaxopt.projection import projection_simplex

N_ASSETS = 400
WINDOW = 250
N_DAYS = 800
REBALANCE = 4


def simulate_returns(rng, n_days, n_assets):
    factors = rng.normal(size=(n_days, 6)) * 0.01
    loadings = rng.normal(size=(6, n_assets)) * 0.12 + 0.05
    noise = rng.standard_t(5, size=(n_days, n_assets)) * 0.008
    return (factors @ loadings + noise + 0.0002).astype(np.float32)


def portfolio_objective(weights, covariance, expected):
    risk = 0.5 * weights @ covariance @ weights
    ridge = 0.5 * jnp.sum(weights**2)
    return risk - 0.1 * weights @ expected + ridge


def estimate(window):
    scaled = window * 100.0
    mean = jnp.mean(scaled, axis=0)
    centred = scaled - mean
    sample = centred.T @ centred / (window.shape[0] - 1)
    target = jnp.diag(jnp.diag(sample))
    return 0.7 * sample + 0.3 * target, mean


class Rebalancer:
    def __init__(self, n_assets):
        self.solver = ProjectedGradient(
            fun=portfolio_objective,
            projection=projection_simplex,
            maxiter=500,
            tol=1e-10,
            stepsize=0.2,
            acceleration=False,
            implicit_diff=False,
        )
        self.weights = jnp.full((n_assets,), 1.0 / n_assets)
        self.optimise = jax.jit(self._optimise)

    def _optimise(self, weights, window):
        covariance, expected = estimate(window)
        solution = self.solver.run(
            weights, hyperparams_proj=1.0, covariance=covariance, expected=expected
        )
        return solution.params

    def backtest(self, returns, days):
        earned, weights = [], self.weights
        for day in days:
            weights = self.optimise(weights, returns[day - WINDOW : day])
            earned.append(returns[day : day + REBALANCE] @ weights)
        return weights, jnp.stack(earned)


def main():
    rng = np.random.default_rng(17)
    returns = simulate_returns(rng, WINDOW + N_DAYS + REBALANCE, N_ASSETS)
    rebalancer = Rebalancer(N_ASSETS)
    days = list(range(WINDOW, WINDOW + N_DAYS, REBALANCE))
    jax.block_until_ready(rebalancer.backtest(returns, days[:1]))

    start = time.perf_counter()
    weights, earned = jax.block_until_ready(rebalancer.backtest(returns, days))
    elapsed = time.perf_counter() - start

    print(f"{len(days)} steps in {elapsed:.3f} s")
    print(f"checksum {float(jnp.linalg.norm(weights)):.5f} {1.0 + float(jnp.sum(earned)):.5f}")


if __name__ == "__main__":
    main()
