"""Screen rate constants of the Robertson reaction against measurements."""
import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

T_END = 80.0
SAVE_TS = jnp.linspace(2.0, T_END, 25)
N_STEPS = 64


def reaction(t, y, args):
    k1, k2, k3 = args
    a, b, c = y
    r1 = k1 * a
    r2 = k2 * b**2
    r3 = k3 * b * c
    return jnp.stack([-r1 + r3, r1 - r2 - r3, r2])


@jax.jit
def simulate(k1):
    sol = diffrax.diffeqsolve(
        diffrax.ODETerm(reaction),
        diffrax.Tsit5(),
        t0=0.0,
        t1=T_END,
        dt0=1e-4,
        y0=jnp.array([1.0, 0.0, 0.0]),
        args=(k1, 3e7, 1e4),
        saveat=diffrax.SaveAt(ts=SAVE_TS),
        stepsize_controller=diffrax.PIDController(rtol=1e-6, atol=1e-9),
        max_steps=None,
    )
    return sol.ys


class Screening:
    """Golden-section search for the rate that explains the measurements."""

    ratio = 0.6180339887498949

    def __init__(self, measured, low, high):
        self.measured = measured
        self.low = low
        self.high = high
        self.best = (np.inf, None)

    def misfit(self, k1):
        ys = simulate(jnp.asarray(k1))
        value = float(jnp.sum((ys[:, (0, 2)] - self.measured[:, (0, 2)]) ** 2))
        if value < self.best[0]:
            self.best = (value, k1)
        return value

    def step(self):
        width = self.ratio * (self.high - self.low)
        left, right = self.high - width, self.low + width
        if self.misfit(left) < self.misfit(right):
            self.high = right
        else:
            self.low = left


def make_measurements(seed=0):
    rng = np.random.default_rng(seed)
    truth = np.asarray(simulate(jnp.asarray(0.04)))
    return truth * (1 + 0.002 * rng.normal(size=truth.shape))


def main():
    # also compiles the solver
    measured = jnp.asarray(make_measurements())

    screening = Screening(measured, 0.01, 0.12)
    start = time.perf_counter()
    for _ in range(N_STEPS // 2):
        screening.step()
    elapsed = time.perf_counter() - start

    misfit, k1 = screening.best
    print(f"{N_STEPS} steps in {elapsed:.2f} s")
    print(f"checksum k1={k1:.4f} misfit={misfit:.6f}")


if __name__ == "__main__":
    main()
