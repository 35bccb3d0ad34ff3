"""Fit predator and prey cycles with Diffrax and Equinox.

Falcon and grouse numbers from several valleys follow Lotka-Volterra dynamics
with common rates and different starting numbers.  The rates are found by
gradient descent through the (non-stiff) differential equation solver, all the
valleys in one vmapped solve.
"""
import time

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

N_VALLEYS = 24
N_TIMES = 40
T_END = 10.0
ITERATIONS = 900
TIMES = np.linspace(0.0, T_END, N_TIMES, dtype=np.float32)


class Rates(eqx.Module):
    """Logarithms of the four positive rates."""

    log_rates: jax.Array

    def __call__(self, t, y, args):
        growth, predation, gain, death = jnp.exp(self.log_rates)
        grouse, falcons = y
        return jnp.stack([
            growth * grouse - predation * grouse * falcons,
            gain * grouse * falcons - death * falcons,
        ])


def solve(rates, y0):
    """Numbers of one valley at the observation times."""
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(rates),
        diffrax.Tsit5(),
        t0=0.0,
        t1=T_END,
        dt0=0.05,
        y0=y0,
        saveat=diffrax.SaveAt(ts=TIMES),
        stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-4),
        max_steps=256,
    )
    return solution.ys


def loss_fn(rates, y0, observed):
    """Squared error of the logarithms."""
    predicted = jax.vmap(solve, in_axes=(None, 0))(rates, y0)
    return jnp.mean((jnp.log(predicted) - observed) ** 2)


optimizer = optax.adam(0.02)


@eqx.filter_jit
def fit_step(rates, opt_state, y0, observed):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(rates, y0, observed)
    updates, opt_state = optimizer.update(grads, opt_state, rates)
    return eqx.apply_updates(rates, updates), opt_state, loss


def make_observations(seed=0):
    """Starting numbers and noisy logarithms of the numbers over time."""
    rng = np.random.default_rng(seed)
    truth = Rates(jnp.log(jnp.array([1.0, 0.5, 0.3, 0.8])))
    y0 = jnp.asarray(rng.uniform(1.0, 4.0, (N_VALLEYS, 2)), jnp.float32)
    clean = eqx.filter_jit(jax.vmap(solve, in_axes=(None, 0)))(truth, y0)
    noise = 0.05 * rng.normal(size=clean.shape)
    return truth, y0, jnp.log(clean) + jnp.asarray(noise, jnp.float32)


def main():
    truth, y0, observed = make_observations()
    rates = Rates(jnp.log(jnp.array([0.8, 0.6, 0.4, 0.7])))
    opt_state = optimizer.init(eqx.filter(rates, eqx.is_array))

    # warm-up; the result is dropped
    jax.block_until_ready(fit_step(rates, opt_state, y0, observed)[2])

    start = time.perf_counter()
    losses = []
    for _ in range(ITERATIONS):
        rates, opt_state, loss = fit_step(rates, opt_state, y0, observed)
        losses.append(loss)
    jax.block_until_ready((rates.log_rates, losses))
    elapsed = time.perf_counter() - start

    error = float(jnp.abs(rates.log_rates - truth.log_rates).max())
    print(f"largest error of a log rate {error:.3f}")
    print(f"{ITERATIONS} steps in {elapsed:.2f} s")
    print(f"checksums {float(losses[0]):.4f} {float(losses[-1]):.5f} {error:.3f}")


if __name__ == "__main__":
    main()
