"""A synthetic corpus kept as one array of tokens, and the loader of its batches."""

import numpy as np
from corpus import VOCAB, documents

__all__ = ["VOCAB", "Loader", "documents"]


class Loader:
    """Windows of `length + 1` tokens from random places of the corpus."""

    def __init__(self, docs, length, batch, seed):
        self.tokens = np.concatenate([np.asarray(doc, np.int32) for doc in docs])
        self.length, self.batch = length, batch
        self.rng = np.random.default_rng(seed)

    def next_batch(self):
        limit = len(self.tokens) - self.length - 1
        starts = self.rng.integers(0, limit, self.batch)
        return self.tokens[starts[:, None] + np.arange(self.length + 1)]
