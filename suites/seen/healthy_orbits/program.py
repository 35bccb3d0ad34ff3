"""The orbits of many satellites at once around a flattened planet (diffrax)."""

import time

import diffrax
import jax
import jax.numpy as jnp

FLATNESS, SATELLITES = 1e-3, 2048


def motion(t, state, args):
    position, velocity = state
    square = jnp.sum(position**2)
    z = position[2] ** 2 / square
    bulge = 1.5 * FLATNESS / square * (5.0 * z - jnp.array([1.0, 1.0, 3.0]))
    return velocity, -position / square**1.5 * (1.0 - bulge)


@jax.jit
@jax.vmap
def last_position(position, velocity):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(motion),
        diffrax.Dopri8(),
        t0=0.0,
        t1=20.0,
        dt0=0.1,
        y0=(position, velocity),
        saveat=diffrax.SaveAt(t1=True),
        stepsize_controller=diffrax.PIDController(rtol=1e-5, atol=1e-6),
        max_steps=1000,
    )
    return solution.ys[0][0]


def launch(key):
    height_key, tilt_key = jax.random.split(key)
    radius = jax.random.uniform(height_key, (SATELLITES,), minval=1.1, maxval=1.5)
    tilt = jax.random.uniform(tilt_key, (SATELLITES,), maxval=jnp.pi / 2)
    none = jnp.zeros(SATELLITES)
    position = jnp.stack([radius, none, none], axis=1)
    velocity = jnp.stack([none, jnp.cos(tilt), jnp.sin(tilt)], axis=1) / jnp.sqrt(radius)[:, None]
    return position, velocity


def main():
    fleets = [launch(key) for key in jax.random.split(jax.random.key(0), 17)]
    last_position(*fleets[0]).block_until_ready()
    start = time.perf_counter()
    found = [last_position(*fleet) for fleet in fleets[1:]]
    jax.block_until_ready(found)
    print(f"{len(found)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.linalg.norm(jnp.concatenate(found), axis=1).mean()))


if __name__ == "__main__":
    main()
