"""Ozone over a day for several emission scenarios, as a box model."""

import time

import diffrax
import jax
import jax.numpy as jnp

SCENARIOS, STEPS, HOURS = 8, 4, 6.0


def reactions(t, y, rates):
    """Concentrations of NO2, NO, O3, radicals and organics, in relative units, by the hour."""
    no2, no, ozone, radical, organic = y
    light = jnp.maximum(0.0, jnp.sin(jnp.pi * (t + 3.0) / 12.0))
    photolysis = rates["photolysis"] * light * no2
    titration = rates["titration"] * no * ozone
    source = rates["source"] * light * organic
    oxidation = rates["oxidation"] * radical * no
    loss = rates["loss"] * radical * no2
    return jnp.stack(
        [
            titration + oxidation - photolysis - loss,
            photolysis - titration - oxidation + rates["emission"],
            photolysis - titration,
            source - oxidation - loss - rates["sink"] * radical,
            0.2 - 0.3 * source,
        ]
    )


def simulate(rates):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(reactions),
        diffrax.Tsit5(),
        t0=0.0,
        t1=HOURS,
        dt0=1e-5,
        y0=jnp.array([0.3, 0.1, 0.5, 0.0, 1.0]),
        args=rates,
        saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, HOURS, 25)),
        stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-6),
        max_steps=1_000_000,
    )
    return solution.ys, solution.stats["num_steps"]


simulate_all = jax.jit(jax.vmap(simulate))


def make_rates(key):
    base = {
        "photolysis": 30.0,
        "titration": 2000.0,
        "source": 2.0,
        "oxidation": 200_000.0,
        "loss": 90_000.0,
        "emission": 0.05,
        "sink": 4000.0,
    }
    keys = jax.random.split(key, len(base))
    return {
        name: value * jnp.exp(0.2 * jax.random.normal(own, (SCENARIOS,)))
        for own, (name, value) in zip(keys, base.items())
    }


def main():
    studies = [make_rates(key) for key in jax.random.split(jax.random.key(8), STEPS + 1)]
    jax.block_until_ready(simulate_all(studies[0]))
    start = time.perf_counter()
    evenings = []
    for rates in studies[1:]:
        ys, _ = simulate_all(rates)
        evenings.append(ys[:, -1, 2].mean())
    jax.block_until_ready(evenings)
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack(evenings).mean()))


if __name__ == "__main__":
    main()
