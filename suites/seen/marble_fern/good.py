"""Local alignment of protein-like sequences with a jitted score table."""
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

ALPHABET = 20
STOP, DIAG, UP, LEFT = 0, 1, 2, 3
N_CANDIDATES = 10


def substitution_matrix(seed):
    rng = np.random.default_rng(seed)
    m = rng.normal(-1.0, 1.0, (ALPHABET, ALPHABET))
    m = (m + m.T) / 2
    np.fill_diagonal(m, 5.0)
    return jnp.asarray(m.round(), jnp.float32)


@partial(jax.jit, static_argnums=3)
def score_table(a, b, sub, gap=4.0):
    """Smith-Waterman by anti-diagonals; returns scores and move codes."""
    n, m = a.shape[0], b.shape[0]
    rows = jnp.arange(1, n + 1)

    def diagonal(carry, d):
        prev2, prev = carry
        cols = d - rows
        ok = (cols >= 1) & (cols <= m)
        pair = sub[a[rows - 1], b[jnp.clip(cols - 1, 0, m - 1)]]
        shift = lambda v: jnp.concatenate([jnp.zeros(1), v[:-1]])
        options = jnp.stack([jnp.zeros(n), shift(prev2) + pair, shift(prev) - gap, prev - gap])
        options = jnp.where(ok, options, 0.0)
        best = options.max(0)
        move = jnp.where(ok, options.argmax(0), STOP)
        return (prev, best), (best, move)

    start = (jnp.zeros(n), jnp.zeros(n))
    _, (scores, moves) = jax.lax.scan(diagonal, start, jnp.arange(2, n + m + 1))
    return scores, moves


class Alignment:
    def __init__(self, pairs, score):
        self.pairs = pairs
        self.score = score

    def identity(self, a, b):
        same = sum(int(a[i] == b[j]) for i, j in self.pairs)
        return same / max(len(self.pairs), 1)


def traceback(scores, moves):
    d, r = np.unravel_index(int(jnp.argmax(scores)), scores.shape)
    best = float(scores[d, r])
    moves = np.asarray(moves)
    i, j = r + 1, d + 2 - (r + 1)
    pairs = []
    while i > 0 and j > 0:
        move = moves[i + j - 2, i - 1]
        if move == STOP:
            break
        if move == DIAG:
            pairs.append((i - 1, j - 1))
            i, j = i - 1, j - 1
        elif move == UP:
            i -= 1
        else:
            j -= 1
    return Alignment(pairs[::-1], best)


def mutate(seq, rng, rate):
    out = []
    for s in seq:
        u = rng.random()
        if u < rate * 0.2:
            continue
        out.append(rng.integers(ALPHABET) if u < rate else s)
    out = np.array(out)
    return np.resize(out, len(seq))


def main():
    rng = np.random.default_rng(8)
    sub = substitution_matrix(2)
    length, n_steps = 450, 30
    family = rng.integers(0, ALPHABET, length)
    members = [mutate(family, rng, rng.uniform(0.2, 0.5)) for _ in range(40)]
    library = [jnp.asarray(m) for m in members]
    query = jnp.asarray(family)
    traceback(*score_table(query, library[-1], sub, 4.0))
    total, identity = 0.0, 0.0
    t0 = time.perf_counter()
    for k in range(n_steps):
        picks = [(k * 7 + 3 * c) % len(library) for c in range(N_CANDIDATES)]
        tables = [score_table(query, library[p], sub, 4.0) for p in picks]
        best = int(np.argmax(jax.device_get([scores.max() for scores, _ in tables])))
        alignment = traceback(*tables[best])
        total += alignment.score
        identity += alignment.identity(family, members[picks[best]])
    t = time.perf_counter() - t0
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {total:.3f} {identity:.5f}")


if __name__ == "__main__":
    main()
