"""Lyapunov spectrum of the Lorenz-96 weather model from an ensemble of orbits.

Every member carries its state and a full set of tangent vectors.  Both are
advanced with the classical Runge-Kutta scheme; from time to time the tangent
vectors are orthonormalised by a QR decomposition and the logarithms of the
growth factors are accumulated.
"""
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

N_SITES = 32
FORCING = 8.0
DT = 0.01
QR_EVERY = 20
N_MEMBERS = 8
N_STEPS = 3000


class Orbit(NamedTuple):
    x: jax.Array
    tangent: jax.Array
    log_growth: jax.Array
    step: jax.Array


def tendency(x):
    """Right-hand side of Lorenz-96."""
    advection = (jnp.roll(x, -1) - jnp.roll(x, 2)) * jnp.roll(x, 1)
    return advection - x + FORCING


def rk4(x):
    k1 = tendency(x)
    k2 = tendency(x + 0.5 * DT * k1)
    k3 = tendency(x + 0.5 * DT * k2)
    k4 = tendency(x + DT * k3)
    return x + DT / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)


def new_orbit(x):
    """A member at the position x with an orthonormal tangent frame."""
    return Orbit(x, jnp.eye(N_SITES), jnp.zeros(N_SITES), jnp.zeros((), jnp.int32))


def orthonormalise(tangent, log_growth):
    """Back to an orthonormal frame; the stretching goes into log_growth."""
    q, r = jnp.linalg.qr(tangent)
    return q, log_growth + jnp.log(jnp.abs(jnp.diagonal(r)))


def keep(tangent, log_growth):
    return tangent, log_growth


def advance(orbit):
    """One time step of one member."""
    x, push = jax.linearize(rk4, orbit.x)
    tangent = jax.vmap(push, in_axes=1, out_axes=1)(orbit.tangent)
    step = orbit.step + 1
    tangent, log_growth = jax.lax.cond(
        step % QR_EVERY == 0, orthonormalise, keep, tangent, orbit.log_growth)
    return Orbit(x, tangent, log_growth, step)


@jax.jit
def run(orbits):
    """All the members for N_STEPS steps."""

    def body(orbits, _):
        return jax.vmap(advance)(orbits), None

    return jax.lax.scan(body, orbits, None, length=N_STEPS)[0]


@jax.jit
def spin_up(x):
    """Let the transients die out."""
    return jax.lax.fori_loop(0, 1000, lambda _, y: jax.vmap(rk4)(y), x)


def kaplan_yorke(exponents):
    """Dimension of the attractor from the sorted exponents."""
    total = np.cumsum(exponents)
    k = int(np.nonzero(total >= 0)[0][-1])
    return k + 1 + total[k] / abs(exponents[k + 1])


def main():
    rng = np.random.default_rng(0)
    start_x = FORCING + 0.1 * rng.normal(size=(N_MEMBERS, N_SITES))
    x = spin_up(jnp.asarray(start_x, jnp.float32))

    # the first segment aligns the tangent vectors (and compiles everything)
    orbits = jax.block_until_ready(run(jax.vmap(new_orbit)(x)))
    orbits = orbits._replace(log_growth=jnp.zeros_like(orbits.log_growth))

    start = time.perf_counter()
    orbits = jax.block_until_ready(run(orbits))
    elapsed = time.perf_counter() - start

    exponents = np.asarray(orbits.log_growth.mean(0)) / (N_STEPS * DT)
    exponents = np.sort(exponents)[::-1]
    dimension = kaplan_yorke(exponents)
    print(f"largest exponent {exponents[0]:.2f}, dimension {dimension:.1f}")
    print(f"{N_STEPS} steps in {elapsed:.2f} s")
    print(f"checksums {exponents.sum():.4f} {np.abs(exponents).mean():.4f}")


if __name__ == "__main__":
    main()
