"""Skip-gram word vectors with negative sampling on a synthetic corpus."""
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)

VOCABULARY, DIMENSION, TOPICS = 60000, 64, 200


def make_corpus(length, generator):
    """Words of slowly changing topics, with a heavy-tailed frequency."""
    topic = torch.randint(0, TOPICS, (length // 50 + 1,), generator=generator).repeat_interleave(50)[:length]
    rank = torch.rand(length, generator=generator).pow(3.0) * (VOCABULARY // TOPICS)
    return topic * (VOCABULARY // TOPICS) + rank.long()


class PairSampler:
    """Draws (centre, context, negatives) from the corpus."""

    def __init__(self, corpus, window=4, negatives=5, seed=1):
        self.corpus = corpus
        self.window = window
        self.negatives = negatives
        self.generator = torch.Generator().manual_seed(seed)
        counts = torch.bincount(corpus, minlength=VOCABULARY).float().pow(0.75)
        self.cumulative = torch.cumsum(counts / counts.sum(), 0)

    def draw(self, batch):
        high = len(self.corpus) - self.window
        centre = torch.randint(self.window, high, (batch,), generator=self.generator)
        offset = torch.randint(1, self.window + 1, (batch,), generator=self.generator)
        uniform = torch.rand(batch, self.negatives, generator=self.generator)
        negative = torch.searchsorted(self.cumulative, uniform).clamp(max=VOCABULARY - 1)
        return self.corpus[centre], self.corpus[centre + offset], negative


class SkipGram(nn.Module):
    def __init__(self, vocabulary, dimension):
        super().__init__()
        self.centre = nn.Embedding(vocabulary, dimension, sparse=True)
        self.context = nn.Embedding(vocabulary, dimension, sparse=True)
        nn.init.uniform_(self.centre.weight, -0.5, 0.5)
        nn.init.uniform_(self.context.weight, -0.1, 0.1)

    def forward(self, centre, positive, negative):
        v = self.centre(centre)
        good = (v * self.context(positive)).sum(-1)
        bad = torch.bmm(self.context(negative), v.unsqueeze(-1)).squeeze(-1)
        return -(F.logsigmoid(good) + F.logsigmoid(-bad).sum(-1)).sum() / 16.0


def train_step(model, optimizer, batch):
    optimizer.zero_grad()
    loss = model(*batch)
    loss.backward()
    optimizer.step()
    return loss.detach()


def neighbours(model, words, k=5):
    vectors = F.normalize(model.centre.weight.detach(), dim=1)
    return (vectors[words] @ vectors.T).topk(k, dim=1).values


def main(steps=300):
    torch.manual_seed(0)
    corpus = make_corpus(400000, torch.Generator().manual_seed(0))
    sampler = PairSampler(corpus)
    model = SkipGram(VOCABULARY, DIMENSION)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
    for _ in range(3):
        train_step(model, optimizer, sampler.draw(1024))

    losses = []
    begin = time.perf_counter()
    for _ in range(steps):
        losses.append(train_step(model, optimizer, sampler.draw(1024)))
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    losses = torch.stack(losses)
    similarity = neighbours(model, torch.arange(0, 2000, 100))
    print(f"checksum {losses.mean().item():.4f} {losses[-20:].mean().item():.4f} {similarity.mean().item():.4f}")


if __name__ == "__main__":
    main()
