"""Ensemble of overdamped particles in a tilted double-well potential (stochastic resonance)."""
import time

import diffrax as dfx
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr


class DoubleWell(eqx.Module):
    barrier: jax.Array
    tilt: jax.Array
    omega: jax.Array

    def drift(self, t, y, args):
        x, v = y[0], y[1]
        force = 4.0 * self.barrier * x * (1.0 - x * x) + self.tilt * jnp.cos(self.omega * t)
        return jnp.stack([v, force - 1.5 * v])

    def diffusion(self, t, y, args):
        return jnp.array([0.0, 1.0]) * args


class Experiment:
    def __init__(self, horizon=4.0, dt=1.0 / 128, n_paths=128):
        self.horizon = horizon
        self.dt = dt
        self.n_paths = n_paths
        self.potential = DoubleWell(jnp.array(0.8), jnp.array(0.35), jnp.array(2.1))
        self.save_ts = jnp.linspace(0.0, horizon, 33)

    def path(self, key, noise):
        brownian = dfx.VirtualBrownianTree(
            0.0, self.horizon, tol=1e-6, shape=(), key=key
        )
        terms = dfx.MultiTerm(
            dfx.ODETerm(self.potential.drift),
            dfx.ControlTerm(self.potential.diffusion, brownian),
        )
        sol = dfx.diffeqsolve(
            terms,
            dfx.Euler(),
            t0=0.0,
            t1=self.horizon,
            dt0=self.dt,
            y0=jnp.array([-1.0, 0.0]),
            args=noise,
            saveat=dfx.SaveAt(ts=self.save_ts),
            max_steps=1024,
        )
        return sol.ys

    def ensemble(self, key, noise):
        keys = jr.split(key, self.n_paths)
        ys = jax.vmap(self.path, in_axes=(0, None))(keys, noise)
        position = ys[..., 0]
        occupancy = jnp.mean(position > 0.0, axis=0)
        energy = jnp.mean(0.5 * ys[..., 1] ** 2, axis=0)
        return occupancy, energy


def main():
    exp = Experiment()
    run = jax.jit(exp.ensemble)
    levels = jnp.linspace(0.4, 1.4, 12)
    key = jr.key(7)
    jax.block_until_ready(run(key, levels[0]))

    n_steps = 18
    occupancies, energies = [], []
    start = time.perf_counter()
    for i in range(n_steps):
        occ, energy = run(jr.fold_in(key, i), levels[i % len(levels)])
        occupancies.append(occ)
        energies.append(energy)
    jax.block_until_ready((occupancies, energies))
    elapsed = time.perf_counter() - start

    occupancy = jnp.stack(occupancies)
    energy = jnp.stack(energies)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"final right-well occupancy {float(occupancy[:, -1].mean()):.4f}")
    print(f"checksum {float(occupancy.mean()):.6f} {float(energy[:, 1:].mean()):.6f}")


if __name__ == "__main__":
    main()
