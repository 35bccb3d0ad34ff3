"""Sensitivity of the Robertson reaction to its rate constants, with Diffrax.

Three chemical species react with rates that differ by many orders of
magnitude.  For a family of rate constants (drawn around the literature values)
we integrate the kinetics and record the concentrations at a few times; the
output is the mean and the spread of the final composition.
"""
import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

# the second species has concentrations around 1e-5, single precision won't do
jax.config.update("jax_enable_x64", True)

T_END = 40.0
N_FAMILIES = 12
MEMBERS = 8
SAVE_TIMES = jnp.linspace(0.0, T_END, 25)


def sample_rates(seed):
    """Log-normal scatter of the three rate constants."""
    rng = np.random.default_rng(seed)
    nominal = np.array([0.04, 3.0e7, 1.0e4])
    scatter = rng.normal(0.0, 0.15, (MEMBERS, 3))
    return jnp.asarray(nominal * np.exp(scatter))


def robertson(t, y, rates):
    """Mass action kinetics  A -> B,  B + B -> C + B,  B + C -> A + C."""
    k1, k2, k3 = rates
    a, b, c = y
    forward = k1 * a
    backward = k3 * b * c
    burn = k2 * b**2
    return jnp.stack([-forward + backward, forward - backward - burn, burn])


def integrate(rates):
    """Concentrations of A, B and C at the save times for one set of rates."""
    term = diffrax.ODETerm(robertson)
    solver = diffrax.Kvaerno5()
    controller = diffrax.PIDController(rtol=1e-6, atol=1e-9)
    solution = diffrax.diffeqsolve(
        term,
        solver,
        t0=0.0,
        t1=T_END,
        dt0=1e-5,
        y0=jnp.array([1.0, 0.0, 0.0]),
        args=rates,
        saveat=diffrax.SaveAt(ts=SAVE_TIMES),
        stepsize_controller=controller,
        max_steps=4096,
    )
    return solution.ys


@jax.jit
def run_family(rates):
    """All the members of a family at once."""
    trajectories = jax.vmap(integrate)(rates)
    return trajectories


def half_time(trajectory):
    """First save time at which A has lost a tenth of its amount."""
    index = jnp.argmax(trajectory[:, 0] < 0.9)
    return SAVE_TIMES[index]


@jax.jit
def summarise(trajectories):
    """Mean and spread over the members, and the mean half time."""
    final = trajectories[:, -1]
    total = trajectories.sum(-1)
    return {
        "mean": final.mean(0),
        "spread": final.std(0),
        "half_time": jax.vmap(half_time)(trajectories).mean(),
        "mass_error": jnp.abs(total - 1.0).max(),
    }


def main():
    families = [sample_rates(seed) for seed in range(N_FAMILIES + 1)]

    # warm-up
    jax.block_until_ready(summarise(run_family(families[-1])))

    start = time.perf_counter()
    summaries = []
    for rates in families[:N_FAMILIES]:
        summaries.append(summarise(run_family(rates)))
    jax.block_until_ready(summaries)
    elapsed = time.perf_counter() - start

    mean = np.mean([s["mean"] for s in summaries], axis=0)
    spread = np.mean([s["spread"] for s in summaries], axis=0)
    assert max(float(s["mass_error"]) for s in summaries) < 1e-3
    print(f"{N_FAMILIES} steps in {elapsed:.2f} s")
    print(f"checksums {mean[0]:.6f} {mean[1]:.6e} {mean[2]:.6f} {spread[0]:.6f}")


if __name__ == "__main__":
    main()
