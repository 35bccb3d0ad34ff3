"""Sentiment of product reviews with a GRU.

Reviews are lists of word indices of very different lengths (most have a few dozen words, a few are
whole essays). A GRU reads them, the state after the last word goes through a linear layer, and the
model is trained with binary cross-entropy.
"""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

VOCAB = 3000
BATCH = 32
STEPS = 24
PAD = 0


def make_reviews(n, seed=11):
    """Log-normal lengths; positive reviews use the upper half of the vocabulary more often."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.exp(3.1 + 0.55 * torch.randn(n, generator=generator)).long().clamp(5, 400)
    lengths[::200] = 400
    labels = torch.randint(0, 2, (n,), generator=generator)
    reviews = []
    for length, label in zip(lengths.tolist(), labels.tolist()):
        words = torch.randint(1, VOCAB // 2, (length,), generator=generator)
        shifted = torch.rand(length, generator=generator) < 0.2 + 0.4 * label
        reviews.append(words + shifted * (VOCAB // 2))
    return reviews, labels.float()


class ReviewCorpus:
    """Holds the tokenised reviews and hands out batches."""

    def __init__(self, reviews, labels):
        self.reviews = reviews
        self.labels = labels
        self.max_len = max(len(r) for r in reviews)

    def __len__(self):
        return len(self.reviews)

    def collate(self, index):
        """Batch of word indices (batch, time), their true lengths and the labels."""
        chosen = [self.reviews[i] for i in index.tolist()]
        lengths = torch.tensor([len(r) for r in chosen])
        tokens = torch.full((len(chosen), self.max_len), PAD, dtype=torch.long)
        for row, review in enumerate(chosen):
            tokens[row, : len(review)] = review
        return tokens, lengths, self.labels[index]


class SentimentGRU(nn.Module):
    def __init__(self, vocab, embed=48, hidden=64):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embed, padding_idx=PAD)
        self.gru = nn.GRU(embed, hidden, batch_first=True)
        self.dropout = nn.Dropout(0.0)
        self.classify = nn.Linear(hidden, 1)

    def forward(self, tokens, lengths):
        states, _ = self.gru(self.embedding(tokens))
        # state after the last real word of each review
        last = states[torch.arange(len(lengths)), lengths - 1]
        return self.classify(self.dropout(last)).squeeze(-1)


def train_step(model, optimizer, tokens, lengths, labels):
    logits = model(tokens, lengths)
    loss = F.binary_cross_entropy_with_logits(logits, labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(0)
    reviews, labels = make_reviews(2000)
    corpus = ReviewCorpus(reviews, labels)
    model = SentimentGRU(VOCAB + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    order = torch.randperm(len(corpus), generator=torch.Generator().manual_seed(2))
    losses = []
    for step in range(STEPS + 1):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        index = order[step * BATCH : (step + 1) * BATCH]
        tokens, lengths, target = corpus.collate(index)
        losses.append(train_step(model, optimizer, tokens, lengths, target))
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"{losses[0]:.5f} {losses[-6:].mean():.5f} {model.classify.weight.norm():.5f}")


if __name__ == "__main__":
    main()
