"""Second-stage ranking service: score candidate items for a user and diversify the answer."""
import time

import torch

torch.set_num_threads(1)

ITEMS, DIMENSION, CANDIDATES, ANSWER = 120000, 128, 1500, 8


class Catalogue:
    """Item vectors, popularity and category; one column of the matrix is one item."""

    def __init__(self, seed=0):
        gen = torch.Generator().manual_seed(seed)
        basis = torch.randn(DIMENSION, 32, generator=gen)
        loading = torch.randn(32, ITEMS, generator=gen)
        vectors = basis @ loading + 0.5 * torch.randn(DIMENSION, ITEMS, generator=gen)
        self.vectors = vectors / vectors.norm(dim=0, keepdim=True)
        self.popularity = torch.rand(ITEMS, generator=gen)

    def lookup(self, ids):
        return self.vectors[:, ids], self.popularity[ids]

    def centre(self, ids):
        return self.vectors[:, ids].mean(dim=1)


class Ranker:
    def __init__(self, catalogue, diversity=0.3, boost=0.1):
        self.catalogue = catalogue
        self.diversity = diversity
        self.boost = boost

    def profile(self, history):
        user = self.catalogue.centre(history)
        return user / user.norm()

    def rank(self, history, candidates):
        """Greedy maximal marginal relevance over the candidates."""
        vectors, popularity = self.catalogue.lookup(candidates)
        relevance = self.profile(history) @ vectors + self.boost * popularity
        closest = torch.zeros(len(candidates))
        taken = torch.zeros(len(candidates), dtype=torch.bool)
        answer = []
        for _ in range(ANSWER):
            score = (relevance - self.diversity * closest).masked_fill(taken, -torch.inf)
            pick = score.argmax()
            answer.append(pick)
            taken[pick] = True
            closest = torch.maximum(closest, vectors[:, pick] @ vectors)
        picks = torch.stack(answer)
        return candidates[picks], relevance[picks]


class Traffic:
    """Random users: a short history, and candidates from the first stage."""

    def __init__(self, seed=1):
        self.gen = torch.Generator().manual_seed(seed)

    def __iter__(self):
        return self

    def __next__(self):
        history = torch.randint(0, ITEMS, (20,), generator=self.gen)
        candidates = torch.randint(0, ITEMS, (CANDIDATES,), generator=self.gen)
        return history, candidates


@torch.inference_mode()
def main(steps=1200):
    ranker = Ranker(Catalogue())
    traffic = Traffic()
    for _ in range(5):
        ranker.rank(*next(traffic))

    relevance = torch.zeros(ANSWER)
    begin = time.perf_counter()
    for _ in range(steps):
        ids, score = ranker.rank(*next(traffic))
        relevance += score
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    print(f"checksum {(relevance / steps).mean().item():.5f} {(relevance[0] / steps).item():.5f}")


if __name__ == "__main__":
    main()
