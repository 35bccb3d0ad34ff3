"""A synthetic corpus of tokenized documents and the loader of its batches."""

import numpy as np

VOCAB = 256


def documents(count, seed):
    """Token lists, as a tokenizer gives them back."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        words = rng.integers(0, VOCAB, (40, 6))
        out.append(words[rng.zipf(1.5, 200) % 40].ravel().tolist())
    return out


class Loader:
    """Windows of `length + 1` tokens from random places of the corpus."""

    def __init__(self, docs, length, batch, seed):
        self.tokens = [token for doc in docs for token in doc]
        self.length, self.batch = length, batch
        self.rng = np.random.default_rng(seed)

    def next_batch(self):
        limit = len(self.tokens) - self.length - 1
        starts = self.rng.integers(0, limit, self.batch)
        return [self.tokens[s : s + self.length + 1] for s in starts]
