"""Recommends songs: the nearest of many embeddings to what a listener heard (dm-haiku)."""

import time

import haiku as hk
import jax
import jax.numpy as jnp

SONGS, WIDTH, LISTENERS, SHOWN = 40_000, 32, 8, 20


@hk.without_apply_rng
@hk.transform
def taste(heard):
    """The embedding of a listener, from those of the songs that were heard."""
    return hk.nets.MLP([64, WIDTH])(heard.mean(axis=1))


@jax.jit
def recommend(params, songs, heard):
    scores = taste.apply(params, songs[heard]) @ songs.T
    order = jnp.argsort(-scores, axis=1)[:, :SHOWN]
    return order, jnp.take_along_axis(scores, order, axis=1)


def main():
    key, song_key, heard_key = jax.random.split(jax.random.key(5), 3)
    songs = jax.random.normal(song_key, (SONGS, WIDTH))
    heard = list(jax.random.randint(heard_key, (24, LISTENERS, 12), 0, SONGS))
    params = taste.init(key, songs[heard[0]])
    jax.block_until_ready(recommend(params, songs, heard[0]))
    steps = 24
    start = time.perf_counter()
    found = [recommend(params, songs, one) for one in heard]
    jax.block_until_ready(found)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack([scores for _, scores in found]).sum()), int(found[-1][0].max()))


if __name__ == "__main__":
    main()
