"""Rates of enzymes from the course of their reactions, all wells of a plate at once."""

import time

import diffrax
import jax
import jax.numpy as jnp
import optimistix

WELLS, TIMES, PLATES = 768, 20, 6
ROUNDS = 8
MINUTES = jnp.linspace(0.5, 10.0, TIMES)


def reaction(t, y, rates):
    """Substrate turns into a product that slows the enzyme down."""
    substrate, product = y
    fastest, half, slowing = jnp.exp(rates)
    speed = fastest * substrate / (half * (1.0 + product / slowing) + substrate)
    return jnp.stack([-speed, speed])


def course(rates, first):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(reaction),
        diffrax.Heun(),
        t0=0.0,
        t1=10.0,
        dt0=0.1,
        y0=jnp.stack([first, jnp.zeros_like(first)]),
        args=rates,
        saveat=diffrax.SaveAt(ts=MINUTES),
        max_steps=128,
        adjoint=diffrax.ForwardMode(),
    )
    return solution.ys[:, 1]


def fit_well(first, measured):
    """Least squares over three starting amounts of one enzyme."""

    def residuals(rates, _):
        misfit = jax.vmap(course, in_axes=(None, 0))(rates, first) - measured
        return misfit, 0.05 * rates

    solver = optimistix.LevenbergMarquardt(rtol=1e-4, atol=1e-5)
    solution = optimistix.least_squares(residuals, solver, jnp.zeros(3), max_steps=ROUNDS, throw=False)
    return solution.value


fit_plate = jax.jit(jax.vmap(fit_well, in_axes=(None, 0)))


@jax.jit
def make_plate(key, first):
    rate_key, noise_key = jax.random.split(key)
    rates = 0.3 * jax.random.normal(rate_key, (WELLS, 3))
    courses = jax.vmap(lambda own: jax.vmap(course, in_axes=(None, 0))(own, first))(rates)
    return courses + 0.02 * jax.random.normal(noise_key, courses.shape)


def main():
    first = jnp.array([1.0, 2.0, 5.0])
    plates = [make_plate(key, first) for key in jax.random.split(jax.random.key(4), PLATES + 1)]
    fit_plate(first, plates[0]).block_until_ready()
    start = time.perf_counter()
    fits = [fit_plate(first, plate) for plate in plates[1:]]
    jax.block_until_ready(fits)
    print(f"{PLATES} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.abs(jnp.stack(fits)).mean()))


if __name__ == "__main__":
    main()
