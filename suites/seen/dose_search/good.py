"""Searches the dose of a drug that keeps its level in the blood within bounds (diffrax)."""

import time

import diffrax
import jax
import jax.numpy as jnp

ABSORPTION, CLEARANCE, VOLUME, EXCHANGE = 1.2, 0.35, 5.0, 0.4
HOURS = jnp.linspace(0.0, 48.0, 97)


def rate(t, amounts, args):
    dose, interval = args
    gut, blood, tissue = amounts
    given = dose * jnp.exp(-(((t % interval) - 0.5) ** 2) / 0.05)
    exchanged = EXCHANGE * (blood - 0.7 * tissue)
    return jnp.stack([given - ABSORPTION * gut, ABSORPTION * gut - CLEARANCE * blood - exchanged, exchanged])


@jax.jit
def levels(dose, interval):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(rate),
        diffrax.Tsit5(),
        t0=0.0,
        t1=48.0,
        dt0=0.1,
        y0=jnp.zeros(3),
        args=(dose, interval),
        saveat=diffrax.SaveAt(ts=HOURS),
        stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-5),
    )
    return solution.ys[:, 1] / VOLUME


def search(low, high, interval, target, rounds):
    """Bisection on the largest level that is reached."""
    tried = []
    for _ in range(rounds):
        dose = 0.5 * (low + high)
        peak = float(levels(dose, interval).max())
        tried.append(peak)
        low, high = (dose, high) if peak < target else (low, dose)
    return dose, tried


def main():
    search(1.0, 60.0, 8.0, 1.0, 1)
    rounds = 6
    start = time.perf_counter()
    dose, tried = search(1.0, 60.0, 8.0, 1.5, rounds)
    print(f"{rounds} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", dose, sum(tried))


if __name__ == "__main__":
    main()
