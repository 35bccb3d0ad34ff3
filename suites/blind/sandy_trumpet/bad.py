"""Yield and heat of an ignition-like autocatalytic network over a range of rate constants."""
import time

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

N_SCENARIOS = 500
T_END = 5.0
N_SAVE = 40


class Kinetics(eqx.Module):
    """Autocatalysis (Robertson type) coupled to a slow thermal mode."""

    rates: jax.Array
    heat: float

    def __call__(self, t, y, args):
        a, b, c, temp = y
        k1, k2, k3 = self.rates
        boost = 1.0 + 0.2 * jnp.tanh(temp)
        r1 = k1 * a
        r2 = k2 * b * b
        r3 = k3 * b * c
        da = -boost * r1 + r3
        db = boost * r1 - r2 - r3
        dc = r2
        dtemp = self.heat * r2 - 0.1 * temp
        return jnp.stack([da, db, dc, dtemp])


class Simulator:
    def __init__(self, rtol=1e-5, atol=1e-8):
        self.solver = diffrax.Tsit5()
        self.controller = diffrax.PIDController(rtol=rtol, atol=atol)
        self.times = jnp.linspace(0.1, T_END, N_SAVE)
        self.run = jax.jit(self._run)

    def _run(self, rates, initial):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(Kinetics(rates, 0.5)),
            self.solver,
            t0=0.0,
            t1=T_END,
            dt0=1e-4,
            y0=initial,
            saveat=diffrax.SaveAt(ts=self.times),
            stepsize_controller=self.controller,
            max_steps=200_000,
        )
        return solution.ys

    def yield_and_heat(self, rates, initial):
        ys = self.run(rates, initial)
        return ys[:, 2], jnp.max(ys[:, 3])


def scenarios(rng, n):
    for _ in range(n):
        rates = np.array([0.04, 3.0e7, 1.0e4]) * np.exp(0.1 * rng.normal(size=3))
        initial = np.array([rng.uniform(0.8, 1.2), 0.0, rng.uniform(0.0, 0.05), 0.0])
        yield jnp.asarray(rates), jnp.asarray(initial)


def main():
    rng = np.random.default_rng(9)
    simulator = Simulator()
    study = jax.jit(simulator.yield_and_heat)
    cases = list(scenarios(rng, N_SCENARIOS))
    jax.block_until_ready(study(*cases[0]))

    start = time.perf_counter()
    outcomes = jax.block_until_ready([study(*case) for case in cases])
    elapsed = time.perf_counter() - start

    products = np.array([np.asarray(p) for p, _ in outcomes])
    heats = np.array([np.asarray(t) for _, t in outcomes])
    print(f"{N_SCENARIOS} steps in {elapsed:.3f} s")
    print(f"checksum {products.sum():.6f} {np.abs(heats).sum():.5f}")


if __name__ == "__main__":
    main()
