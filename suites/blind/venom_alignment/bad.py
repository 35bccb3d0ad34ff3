"""Global alignment scores of venom peptides, all against a few reference toxins."""

import time

import jax
import jax.numpy as jnp
import numpy as np

LENGTH = 90
PAIRS = 48
GAP = 4.0
LETTERS = 20


def substitution_matrix(seed):
    rng = np.random.default_rng(seed)
    noise = rng.integers(-3, 2, size=(LETTERS, LETTERS))
    table = (noise + noise.T) / 2.0
    np.fill_diagonal(table, rng.integers(4, 9, LETTERS))
    return jnp.asarray(table, jnp.float32)


def peptides(seed, count):
    """Relatives of one toxin, with point mutations."""
    rng = np.random.default_rng(seed)
    ancestor = rng.integers(0, LETTERS, LENGTH)
    family = np.tile(ancestor, (count, 1))
    mutated = rng.random(family.shape) < 0.3
    family[mutated] = rng.integers(0, LETTERS, mutated.sum())
    shift = rng.integers(0, 6, count)
    rolled = np.stack([np.roll(row, by) for row, by in zip(family, shift)])
    return jnp.asarray(rolled, jnp.int32)


def align_pair(left, right, scores):
    """Needleman-Wunsch score with a linear gap penalty."""
    match = scores[left[:, None], right[None, :]]
    edge = -GAP * jnp.arange(LENGTH + 1, dtype=jnp.float32)
    table = jnp.zeros((LENGTH + 1, LENGTH + 1)).at[:, 0].set(edge).at[0, :].set(edge)

    def fill_row(i, table):
        def fill_cell(j, table):
            diagonal = table[i - 1, j - 1] + match[i - 1, j - 1]
            gapped = jnp.maximum(table[i - 1, j], table[i, j - 1]) - GAP
            return table.at[i, j].set(jnp.maximum(diagonal, gapped))

        return jax.lax.fori_loop(1, LENGTH + 1, fill_cell, table)

    table = jax.lax.fori_loop(1, LENGTH + 1, fill_row, table)
    return table[-1, -1]


@jax.jit
def align_batch(left, right, scores):
    return jax.vmap(align_pair, in_axes=(0, None, None))(left, right, scores)


def nearest(per_reference):
    table = jnp.stack(per_reference)
    return table.max(axis=0), jnp.argmax(table, axis=0)


def main():
    scores = substitution_matrix(0)
    queries = peptides(1, PAIRS)
    references = peptides(1, 60)[PAIRS:]
    jax.block_until_ready(align_batch(queries, references[0], scores))

    start = time.perf_counter()
    found = []
    for reference in references:
        found.append(align_batch(queries, reference, scores))
    best, which = jax.block_until_ready(nearest(found))
    print(f"{len(found)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(best.mean()):.4f} {float(jnp.stack(found).mean()):.4f} {int(which.sum())}")


if __name__ == "__main__":
    main()
