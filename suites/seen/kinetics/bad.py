"""Rate constants of Robertson's autocatalytic reaction, by random search.

Each candidate triple of rate constants is integrated with diffrax and compared
with a concentration record taken at forty points in time.
"""

import time

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

SAMPLE_TIMES = jnp.linspace(0.0, 100.0, 40)
TRUE_RATES = jnp.array([0.04, 3e7, 1e4])


class Reaction(eqx.Module):
    """A -> B, B + B -> C + B, B + C -> A + C."""

    rates: jax.Array

    def __call__(self, t, y, args):
        k1, k2, k3 = self.rates
        a, b, c = y
        da = -k1 * a + k3 * b * c
        dc = k2 * b**2
        return jnp.stack([da, -da - dc, dc])


@eqx.filter_jit
def integrate(rates):
    return diffrax.diffeqsolve(
        diffrax.ODETerm(Reaction(rates)),
        diffrax.Tsit5(),
        t0=0.0,
        t1=100.0,
        dt0=1e-4,
        y0=jnp.array([1.0, 0.0, 0.0]),
        saveat=diffrax.SaveAt(ts=SAMPLE_TIMES),
        stepsize_controller=diffrax.PIDController(rtol=1e-6, atol=1e-9),
        max_steps=None,
    ).ys


@eqx.filter_jit
def misfit(rates, record):
    ys = integrate(rates)
    scale = jnp.array([1.0, 3e-5, 1.0])
    return jnp.mean(((ys - record) / scale) ** 2)


def propose(key, centre, width):
    return centre * jnp.exp(width * jax.random.normal(key, centre.shape))


def main():
    record = integrate(TRUE_RATES)
    keys = jax.random.split(jax.random.key(11), 10)
    best, best_rates = jnp.inf, TRUE_RATES * 1.05
    misfit(best_rates, record).block_until_ready()
    steps = len(keys)
    start = time.perf_counter()
    for key in keys:
        rates = propose(key, best_rates, 0.02)
        value = misfit(rates, record)
        if value < best:
            best, best_rates = value, rates
    jax.block_until_ready(best)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(best), float(best_rates[0]))


if __name__ == "__main__":
    main()
