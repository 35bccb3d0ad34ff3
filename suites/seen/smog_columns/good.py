"""A box model of smog: three species that react at very different speeds."""

import time

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


class BoxModel(eqx.Module):
    """Mass action kinetics of a precursor, a radical and a product."""

    decay: jax.Array
    radical: jax.Array
    regain: jax.Array

    def __call__(self, t, y, args):
        sunlight = args
        precursor, radical, product = y
        first = self.decay * sunlight * precursor
        second = self.radical * radical**2
        third = self.regain * radical * product
        return jnp.stack([-first + third, first - second - third, second])


@eqx.filter_jit
def simulate(model, start, sunlight, hours):
    """Concentrations at a few hours of two days."""
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(model),
        diffrax.Kvaerno5(),
        t0=0.0,
        t1=hours[-1],
        dt0=1e-4,
        y0=start,
        args=sunlight,
        saveat=diffrax.SaveAt(ts=hours),
        stepsize_controller=diffrax.PIDController(rtol=1e-6, atol=1e-9),
        max_steps=1_000_000,
    )
    return solution.ys


def scenarios(count, rng):
    """Concentrations at dawn and the strength of the sun for a number of days."""
    start = np.zeros((count, 3))
    start[:, 0] = rng.uniform(0.8, 1.2, size=count)
    start[:, 2] = rng.uniform(0.0, 0.1, size=count)
    return jnp.asarray(start), jnp.asarray(rng.uniform(0.7, 1.3, size=count))


def exposure(ys, hours):
    """Dose of the product over both days by the trapezoidal rule."""
    return jnp.sum(0.5 * (ys[1:, 2] + ys[:-1, 2]) * jnp.diff(hours))


def main():
    model = BoxModel(jnp.asarray(0.04), jnp.asarray(3e7), jnp.asarray(1e4))
    hours = jnp.linspace(0.0, 48.0, 9)
    starts, suns = scenarios(10, np.random.default_rng(4))
    jax.block_until_ready(simulate(model, starts[0], suns[0], hours))

    begin = time.perf_counter()
    doses, finals = [], []
    for start, sun in zip(starts, suns):
        ys = simulate(model, start, sun, hours)
        doses.append(exposure(ys, hours))
        finals.append(ys[-1, 0])
    dose, final = float(jnp.stack(doses).mean()), float(jnp.stack(finals).mean())
    print(f"{len(doses)} steps in {time.perf_counter() - begin:.3f} s")
    print(f"checksum {dose:.6f} {final:.6f}")


if __name__ == "__main__":
    main()
