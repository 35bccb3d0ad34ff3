"""Nutrients on a coral reef: slow growth of algae, fast exchange between water and film."""

import time

import diffrax
import jax
import jax.numpy as jnp

HOURS = 240.0
REEFS = 8

jax.config.update("jax_enable_x64", True)


def make_reefs(key):
    """Rates of each reef: exchange, uptake, grazing and inflow."""
    low = jnp.array([900.0, 0.15, 0.05, 0.04])
    high = jnp.array([1600.0, 0.30, 0.12, 0.08])
    return jax.random.uniform(key, (REEFS, 4), minval=low, maxval=high)


def inflow(hour, strength):
    """Nutrients that come with the tide."""
    return strength * (1.0 + 0.6 * jnp.sin(2 * jnp.pi * hour / 12.4))


def reef_rates(hour, state, rates):
    exchange, uptake, grazing, strength = rates
    water, film, algae, fish = state
    swap = exchange * (water - 2.0 * film / (1.0 + film))
    eaten = uptake * film * algae / (0.5 + film)
    grazed = grazing * algae * fish / (0.3 + algae)
    return jnp.stack(
        [
            inflow(hour, strength) - swap - 0.02 * water,
            swap - eaten,
            eaten - grazed - 0.01 * algae,
            0.4 * grazed - 0.015 * fish,
        ]
    )


def observed_share(state):
    """What a diver would estimate: the cover of algae and the number of fish."""
    return jnp.stack([state[2] / (state[2] + 0.5), state[3]])


@jax.jit
def season(start, rates):
    """The reef every six hours of one season."""
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(reef_rates),
        diffrax.Kvaerno3(),
        t0=0.0,
        t1=HOURS,
        dt0=1e-4,
        y0=start,
        args=rates,
        saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, HOURS, 41)),
        stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-6),
        max_steps=20_000,
    )
    covers = jax.vmap(observed_share)(solution.ys)
    return solution.ys[-1], covers.mean(axis=0)


def main():
    reefs = make_reefs(jax.random.key(6))
    start = jnp.array([1.0, 0.2, 0.3, 0.2])
    jax.block_until_ready(season(start, reefs[0]))

    begin = time.perf_counter()
    ends, covers = [], []
    for rates in reefs:
        end, cover = season(start, rates)
        ends.append(end)
        covers.append(cover)
    ends, covers = jax.block_until_ready((jnp.stack(ends), jnp.stack(covers)))
    print(f"{REEFS} steps in {time.perf_counter() - begin:.3f} s")
    print(f"checksum {ends[:, 2].mean():.4f} {ends[:, 3].mean():.4f} {covers[:, 0].mean():.4f} {covers[:, 1].mean():.4f}")


if __name__ == "__main__":
    main()
