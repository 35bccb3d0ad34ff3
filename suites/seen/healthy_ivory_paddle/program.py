"""Search service: exact nearest neighbours of query batches in a vector collection."""
import time

import jax
import jax.numpy as jnp
import numpy as np

N_ITEMS = 20_000
DIM = 256
TOP = 10
BATCH = 256
N_BATCHES = 80


class Index:
    """Unit vectors and a compiled search for a fixed batch size."""

    def __init__(self, vectors):
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        self.vectors = jnp.asarray(vectors / norms)
        self._search = jax.jit(self._search_fn)

    @staticmethod
    def _search_fn(vectors, queries):
        queries = queries / jnp.linalg.norm(queries, axis=1, keepdims=True)
        return jax.lax.top_k(queries @ vectors.T, TOP)

    def search(self, queries):
        return self._search(self.vectors, queries)


def make_collection(rng):
    topics = rng.standard_normal((200, DIM), dtype=np.float32)
    which = rng.integers(200, size=N_ITEMS)
    return topics[which] + 0.8 * rng.standard_normal((N_ITEMS, DIM), dtype=np.float32)


def make_queries(rng, vectors):
    rows = rng.integers(N_ITEMS, size=(N_BATCHES, BATCH))
    noise = 0.5 * rng.standard_normal((N_BATCHES, BATCH, DIM), dtype=np.float32)
    return vectors[rows] + noise, rows


def serve(index, batches):
    answers = []
    for queries in batches:
        answers.append(index.search(queries))
    scores, ids = zip(*jax.device_get(answers))
    return np.stack(scores), np.stack(ids)


def main():
    rng = np.random.default_rng(12)
    vectors = make_collection(rng)
    batches, rows = make_queries(rng, vectors)
    index = Index(vectors)
    jax.block_until_ready(index.search(batches[0]))

    start = time.perf_counter()
    scores, ids = serve(index, batches)
    elapsed = time.perf_counter() - start

    recall = (ids == rows[..., None]).any(axis=-1).mean()
    print(f"{N_BATCHES} steps in {elapsed:.2f} s")
    print(f"checksum recall={recall:.4f} score={scores.mean():.4f}")


if __name__ == "__main__":
    main()
