"""Predator-prey ensembles: sensitivity of the mean prey level to uncertain rates."""
import time

import diffrax as dfx
import jax
import jax.numpy as jnp


def lotka_volterra(t, y, rates):
    prey, predator = y
    birth, eaten, growth, death = rates
    return jnp.stack([
        birth * prey * (1.0 - prey / 12.0) - eaten * prey * predator,
        growth * prey * predator - death * predator,
    ])


def trajectory(rates, y0, times):
    sol = dfx.diffeqsolve(
        dfx.ODETerm(lotka_volterra),
        dfx.Tsit5(),
        t0=times[0],
        t1=times[-1],
        dt0=None,
        y0=y0,
        args=rates,
        saveat=dfx.SaveAt(ts=times),
        stepsize_controller=dfx.PIDController(rtol=1e-4, atol=1e-6),
        max_steps=2048,
    )
    return sol.ys


def sample_rates(key, n):
    center = jnp.array([1.0, 0.3, 0.2, 0.5])
    return center * jnp.exp(0.15 * jax.random.normal(key, (n, 4)))


@jax.jit
def ensemble(key, y0, times):
    rates = sample_rates(key, 1024)
    ys = jax.vmap(trajectory, in_axes=(0, None, None))(rates, y0, times)
    level = jnp.mean(ys[..., 0], axis=1)
    centered = jnp.log(rates) - jnp.mean(jnp.log(rates), axis=0)
    slopes, *_ = jnp.linalg.lstsq(centered, level - jnp.mean(level))
    return jnp.mean(level), slopes, jnp.quantile(ys[:, -1, 0], jnp.array([0.1, 0.5, 0.9]))


def main():
    key = jax.random.key(3)
    y0 = jnp.array([5.0, 2.0])
    times = jnp.linspace(0.0, 30.0, 61)
    jax.block_until_ready(ensemble(key, y0, times))

    n_steps = 30
    results = []
    start = time.perf_counter()
    for i in range(n_steps):
        results.append(ensemble(jax.random.fold_in(key, i), y0, times))
    jax.block_until_ready(results)
    elapsed = time.perf_counter() - start

    levels = jnp.stack([r[0] for r in results])
    slopes = jnp.stack([r[1] for r in results])
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {float(levels.mean()):.5f} {float(jnp.abs(slopes).mean()):.5f}")


if __name__ == "__main__":
    main()
