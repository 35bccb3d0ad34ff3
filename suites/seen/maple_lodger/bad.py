"""Matching bags of word vectors between documents with entropic transport."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from ott.geometry import costs, pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn


class Corpus:
    def __init__(self, n_docs, n_words, dim, seed):
        rng = np.random.default_rng(seed)
        topics = rng.normal(size=(5, dim))
        topics /= np.linalg.norm(topics, axis=1, keepdims=True)
        mix = rng.dirichlet(np.ones(5) * 0.4, n_docs)
        docs, weights = [], []
        for d in range(n_docs):
            pick = rng.choice(5, n_words, p=mix[d])
            docs.append(topics[pick] + 0.35 * rng.normal(size=(n_words, dim)) / np.sqrt(dim))
            w = rng.gamma(1.5, size=n_words)
            weights.append(w / w.sum())
        self.vectors = jnp.asarray(np.array(docs), jnp.float32)
        self.weights = jnp.asarray(np.array(weights), jnp.float32)
        self.mix = mix


def make_geometry(x, y, epsilon):
    return pointcloud.PointCloud(x, y, cost_fn=costs.SqEuclidean(), epsilon=epsilon)


def make_distance(epsilon, n_iterations):
    solver = sinkhorn.Sinkhorn(
        threshold=-1.0,
        inner_iterations=n_iterations,
        min_iterations=n_iterations,
        max_iterations=n_iterations,
    )

    @jax.jit
    def distance(x, a, y, b):
        geometry = make_geometry(x, y, epsilon)
        problem = linear_problem.LinearProblem(geometry, a=a, b=b)
        out = solver(problem)
        return out.reg_ot_cost, out.f, out.g

    return distance


def nearest(distances, row):
    order = np.argsort(distances)
    return [int(i) for i in order if i != row][:3]


def main():
    corpus = Corpus(n_docs=8, n_words=640, dim=160, seed=13)
    distance = make_distance(epsilon=0.1, n_iterations=60)
    query = 0
    jax.block_until_ready(
        distance(corpus.vectors[0], corpus.weights[0], corpus.vectors[1], corpus.weights[1]))
    n_steps = 24
    table = np.zeros((3, 8))
    potentials = []
    t0 = time.perf_counter()
    for step in range(n_steps):
        row, col = divmod(step, 8)
        cost, f, g = distance(
            corpus.vectors[query + row], corpus.weights[query + row],
            corpus.vectors[col], corpus.weights[col])
        table[row, col] = float(cost)
        potentials.append(jnp.abs(f).mean() + jnp.abs(g).mean())
    potentials = np.asarray(jax.block_until_ready(potentials))
    t = time.perf_counter() - t0
    neighbours = sum(sum(nearest(table[r], r)) for r in range(3))
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {table.sum():.4f} {potentials.sum():.4f} {neighbours}")


if __name__ == "__main__":
    main()
