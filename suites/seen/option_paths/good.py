"""Asian options under a mean-reverting volatility, by Monte Carlo with diffrax."""

import time

import diffrax as dfx
import equinox as eqx
import jax
import jax.numpy as jnp

PATHS = 2000
HORIZON = 1.0
DT = 1.0 / 100
RATE = 0.03


class Market(eqx.Module):
    reversion: jax.Array
    level: jax.Array
    vol_of_vol: jax.Array
    rho: jax.Array

    def drift(self, t, state, args):
        log_price, log_vol, _ = state
        vol = jnp.exp(log_vol)
        return jnp.stack([RATE - 0.5 * vol**2, self.reversion * (self.level - log_vol), jnp.exp(log_price)])

    def diffusion(self, t, state, args):
        vol = jnp.exp(state[1])
        other = jnp.sqrt(1.0 - self.rho**2)
        zero = jnp.zeros(())
        return jnp.stack(
            [
                jnp.stack([vol, zero]),
                jnp.stack([self.vol_of_vol * self.rho, self.vol_of_vol * other]),
                jnp.stack([zero, zero]),
            ]
        )


def simulate_path(market, key):
    noise = dfx.UnsafeBrownianPath(shape=(2,), key=key)
    terms = dfx.MultiTerm(dfx.ODETerm(market.drift), dfx.ControlTerm(market.diffusion, noise))
    start = jnp.stack([jnp.zeros(()), market.level, jnp.zeros(())])
    solution = dfx.diffeqsolve(
        terms,
        dfx.Euler(),
        0.0,
        HORIZON,
        DT,
        start,
        stepsize_controller=dfx.ConstantStepSize(),
        adjoint=dfx.ForwardMode(),
        max_steps=128,
    )
    return solution.ys[-1]


@jax.jit
def price(market, key, strike):
    keys = jax.random.split(key, PATHS)
    final = jax.vmap(simulate_path, in_axes=(None, 0))(market, keys)
    average = final[:, 2] / HORIZON
    payoff = jnp.exp(-RATE * HORIZON) * jnp.maximum(average - strike, 0.0)
    return jnp.mean(payoff), jnp.mean(jnp.exp(final[:, 0]))


def scenarios(count):
    for i in range(count):
        yield Market(
            reversion=jnp.asarray(1.0 + 0.2 * i),
            level=jnp.log(jnp.asarray(0.15 + 0.01 * i)),
            vol_of_vol=jnp.asarray(0.3),
            rho=jnp.asarray(-0.5),
        )


def main():
    key = jax.random.key(7)
    strike = jnp.asarray(0.8)
    warm = next(scenarios(1))
    jax.block_until_ready(price(warm, key, strike))

    start = time.perf_counter()
    prices, forwards = [], []
    for i, market in enumerate(scenarios(12)):
        value, forward = price(market, jax.random.fold_in(key, i), strike)
        prices.append(value)
        forwards.append(forward)
    prices = jax.block_until_ready(jnp.stack(prices))
    print(f"{len(forwards)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(prices.mean()):.5f} {float(jnp.stack(forwards).mean()):.5f}")


if __name__ == "__main__":
    main()
