"""American put on a Crank-Nicolson grid for a strip of volatilities."""
import time

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np


class Grid:
    def __init__(self, strike, s_max, n_space, maturity, n_time):
        self.strike = strike
        self.s = jnp.linspace(0.0, s_max, n_space + 2)[1:-1]
        self.ds = s_max / (n_space + 1)
        self.dt = maturity / n_time
        self.payoff = jnp.maximum(strike - self.s, 0.0)
        self.index = self.s / self.ds


def coefficients(grid, sigma, rate):
    i = grid.index
    alpha = 0.25 * grid.dt * (sigma**2 * i**2 - rate * i)
    beta = -0.5 * grid.dt * (sigma**2 * i**2 + rate)
    gamma = 0.25 * grid.dt * (sigma**2 * i**2 + rate * i)
    return alpha, beta, gamma


def implicit_operator(alpha, beta, gamma):
    return lx.TridiagonalLinearOperator(1.0 - beta, -alpha[1:], -gamma[:-1])


def explicit_side(alpha, beta, gamma, value, boundary):
    left = jnp.concatenate([jnp.array([boundary]), value[:-1]])
    right = jnp.concatenate([value[1:], jnp.zeros(1)])
    rhs = alpha * left + (1.0 + beta) * value + gamma * right
    return rhs.at[0].add(alpha[0] * boundary)


def step_back(grid, rate, sigma, value):
    alpha, beta, gamma = coefficients(grid, sigma, rate)
    operator = implicit_operator(alpha, beta, gamma)
    rhs = explicit_side(alpha, beta, gamma, value, grid.strike)
    continuation = lx.linear_solve(operator, rhs).value
    return jnp.maximum(continuation, grid.payoff)


def local_vol(base, t):
    return base * (1.0 + 0.15 * jnp.sin(2.0 * jnp.pi * t))


def make_step(grid, rate, base_vols):
    @jax.jit
    def step(values, k):
        def body(carry, j):
            vols = local_vol(base_vols, (k * INNER + j) * grid.dt)
            new = jax.vmap(step_back, in_axes=(None, None, 0, 0))(grid, rate, vols, carry)
            return new, None

        values, _ = jax.lax.scan(body, values, jnp.arange(INNER))
        return values, values.mean()

    return step


INNER = 100
jax.tree_util.register_pytree_node(
    Grid,
    lambda g: ((g.strike, g.s, g.ds, g.dt, g.payoff, g.index), None),
    lambda _, c: _rebuild(c),
)


def _rebuild(children):
    grid = object.__new__(Grid)
    grid.strike, grid.s, grid.ds, grid.dt, grid.payoff, grid.index = children
    return grid


def main():
    n_steps = 70
    grid = Grid(strike=100.0, s_max=300.0, n_space=40, maturity=1.0, n_time=n_steps * INNER)
    vols = jnp.linspace(0.12, 0.55, 32)
    step = make_step(grid, 0.03, vols)
    values = jnp.tile(grid.payoff, (vols.shape[0], 1))
    jax.block_until_ready(step(values, 0))
    means = []
    t0 = time.perf_counter()
    for k in range(n_steps):
        values, m = step(values, k)
        means.append(m)
    jax.block_until_ready((values, means))
    t = time.perf_counter() - t0
    at_money = jax.vmap(lambda v: jnp.interp(100.0, grid.s, v))(values)
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {float(at_money.sum()):.4f} {float(np.mean(means)):.5f}")


if __name__ == "__main__":
    main()
