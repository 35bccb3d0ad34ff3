"""Where are the comets tonight?  Kepler's equation for a catalogue, night after night."""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx

COUNT = 300


class Catalogue(eqx.Module):
    """Orbital elements of the comets, one array for each element."""

    axis: jax.Array
    eccentricity: jax.Array
    perihelion: jax.Array
    passage: jax.Array

    @property
    def motion(self):
        return 2.0 * jnp.pi / (365.25 * self.axis**1.5)

    def mean_anomaly(self, day):
        phase = self.motion * (day - self.passage)
        return jnp.mod(phase + jnp.pi, 2.0 * jnp.pi) - jnp.pi


def make_catalogue(rng):
    return Catalogue(
        axis=jnp.asarray(rng.uniform(2.0, 12.0, COUNT), jnp.float32),
        eccentricity=jnp.asarray(rng.uniform(0.1, 0.7, COUNT), jnp.float32),
        perihelion=jnp.asarray(rng.uniform(0, 2 * np.pi, COUNT), jnp.float32),
        passage=jnp.asarray(rng.uniform(0, 2000, COUNT), jnp.float32),
    )


def kepler(anomaly, args):
    eccentricity, mean_anomaly = args
    return anomaly - eccentricity * jnp.sin(anomaly) - mean_anomaly


def eccentric_anomaly(eccentricity, mean_anomaly):
    solver = optx.Newton(rtol=1e-5, atol=1e-5)
    guess = mean_anomaly + 0.85 * eccentricity * jnp.sign(mean_anomaly)
    args = (eccentricity, mean_anomaly)
    return optx.root_find(kepler, solver, guess, args, max_steps=40, throw=False).value


def positions(catalogue, day):
    """Rectangular coordinates in the plane of each orbit."""
    e = catalogue.eccentricity
    anomaly = eccentric_anomaly(e, catalogue.mean_anomaly(day))
    x = catalogue.axis * (jnp.cos(anomaly) - e)
    y = catalogue.axis * jnp.sqrt(1.0 - e**2) * jnp.sin(anomaly)
    turn_x, turn_y = jnp.cos(catalogue.perihelion), jnp.sin(catalogue.perihelion)
    return jnp.stack([turn_x * x - turn_y * y, turn_y * x + turn_x * y], axis=-1)


@eqx.filter_jit
def tonight(catalogue, day, earth):
    """Distances from the Earth, and the number of comets that a small telescope shows."""
    comets = positions(catalogue, day)
    to_sun = jnp.linalg.norm(comets, axis=-1)
    to_earth = jnp.linalg.norm(comets - earth, axis=-1)
    magnitude = 6.0 + 5.0 * jnp.log10(to_earth) + 10.0 * jnp.log10(to_sun)
    return to_earth.mean(), jax.nn.sigmoid(4.0 * (13.0 - magnitude)).sum()


def earth_at(day):
    angle = 2.0 * jnp.pi * day / 365.25
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=-1)


def main():
    catalogue = make_catalogue(np.random.default_rng(1))
    nights = jnp.arange(0.0, 240.0, 4.0)
    earths = earth_at(nights)
    jax.block_until_ready(tonight(catalogue, nights[0], earths[0]))

    start = time.perf_counter()
    found = [tonight(catalogue, day, earth) for day, earth in zip(nights, earths)]
    distance, visible = (jnp.stack(column) for column in zip(*found))
    mean, total = float(distance.mean()), float(visible.mean())
    print(f"{len(found)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {mean:.5f} {total:.5f}")


if __name__ == "__main__":
    main()
