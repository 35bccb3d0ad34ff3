"""Bees that forage over a landscape of scent, for many hives at once."""

import time

import jax
import jax.numpy as jnp

HIVES, BEES, SIDE = 16, 60, 64
TURNS, REFRESH, EPISODES = 100, 20, 40


def smell(flowers):
    """Scent that spreads from the flowers over the land."""
    scent = jnp.fft.rfft2(flowers)
    wave = jnp.square(jnp.fft.fftfreq(SIDE))[:, None] + jnp.square(jnp.fft.rfftfreq(SIDE))
    return jnp.fft.irfft2(scent * jnp.exp(-400.0 * wave), s=flowers.shape)


def graze(flowers, places):
    """Bees take nectar where they are; flowers grow back slowly."""
    x, y = (places * SIDE).astype(jnp.int32).T
    flowers = flowers.at[x % SIDE, y % SIDE].multiply(0.8)
    return flowers + 0.002 * (1.0 - flowers)


def turn(hive):
    """One turn of all bees of a hive."""
    key, noise_key = jax.random.split(hive["key"])
    stale = hive["count"] % REFRESH == 0
    scent = jax.lax.cond(stale, lambda: smell(hive["flowers"]), lambda: hive["scent"])
    places = hive["places"]
    x, y = (places * SIDE).astype(jnp.int32).T
    slope = jnp.stack(
        [
            scent[(x + 1) % SIDE, y % SIDE] - scent[(x - 1) % SIDE, y % SIDE],
            scent[x % SIDE, (y + 1) % SIDE] - scent[x % SIDE, (y - 1) % SIDE],
        ],
        axis=1,
    )
    places = (places + 0.05 * slope + 0.004 * jax.random.normal(noise_key, places.shape)) % 1.0
    flowers = graze(hive["flowers"], places)
    return {"key": key, "count": hive["count"] + 1, "scent": scent, "places": places, "flowers": flowers}


@jax.jit
def episode(hives):
    def one_turn(hives, _):
        hives = jax.vmap(turn)(hives)
        return hives, hives["flowers"].mean()

    return jax.lax.scan(one_turn, hives, length=TURNS)


def make_hives(key):
    own_key, flower_key, place_key = jax.random.split(key, 3)
    return {
        "key": jax.random.split(own_key, HIVES),
        "count": jnp.zeros(HIVES, jnp.int32),
        "scent": jnp.zeros((HIVES, SIDE, SIDE)),
        "places": jax.random.uniform(place_key, (HIVES, BEES, 2)),
        "flowers": jax.random.uniform(flower_key, (HIVES, SIDE, SIDE)),
    }


def main():
    hives = make_hives(jax.random.key(12))
    hives, _ = episode(hives)
    jax.block_until_ready(hives)
    start = time.perf_counter()
    left = []
    for _ in range(EPISODES):
        hives, nectar = episode(hives)
        left.append(nectar[-1])
    jax.block_until_ready(left)
    print(f"{EPISODES} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(left[-1]), float(jnp.stack(left).mean()))


if __name__ == "__main__":
    main()
