"""Matrix-factorisation recommender for a second-hand market.

Users and articles have embeddings and biases; a rating is predicted by their inner product. Users
meet articles of their own taste more often. The model learns from a stream of rating batches
by stochastic gradient descent.
"""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

USERS = 120_000
ARTICLES = 60_000
FACTORS = 32
BATCH = 1024
STEPS = 240


class RatingStream:
    """Batches of (user, article, rating) triples with a hidden taste of rank four."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.user_taste = torch.randn(USERS, 4, generator=self.generator)
        self.article_style = torch.randn(ARTICLES, 4, generator=self.generator)
        self.article_quality = 0.5 * torch.randn(ARTICLES, generator=self.generator)

    def popular(self, n, count):
        """Some are met far more often than others."""
        u = torch.rand(count, generator=self.generator)
        return (n * u**4).long()

    def next_batch(self):
        user = self.popular(USERS, BATCH)
        article = self.popular(ARTICLES, BATCH)
        affinity = (self.user_taste[user] * self.article_style[article]).sum(dim=1)
        noise = 0.3 * torch.randn(BATCH, generator=self.generator)
        rating = 3.0 + 0.5 * affinity + self.article_quality[article] + noise
        return user, article, rating.clamp(1.0, 5.0)


class MatrixFactorization(nn.Module):
    def __init__(self, users, articles, factors):
        super().__init__()
        self.user_factors = nn.Embedding(users, factors)
        self.article_factors = nn.Embedding(articles, factors)
        self.user_bias = nn.Embedding(users, 1)
        self.article_bias = nn.Embedding(articles, 1)
        self.mean = nn.Parameter(torch.tensor(3.0))
        for table in (self.user_factors, self.article_factors):
            nn.init.normal_(table.weight, std=0.3)
        for table in (self.user_bias, self.article_bias):
            nn.init.zeros_(table.weight)

    def forward(self, user, article):
        product = (self.user_factors(user) * self.article_factors(article)).sum(dim=1)
        bias = self.user_bias(user) + self.article_bias(article)
        return self.mean + product + bias.squeeze(1)


def train_step(model, optimizer, user, article, rating):
    predicted = model(user, article)
    loss = F.mse_loss(predicted, rating, reduction="sum") / 32
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach() * 32 / len(rating)


@torch.inference_mode()
def holdout_error(model, stream, batches=5):
    errors = []
    for _ in range(batches):
        user, article, rating = stream.next_batch()
        errors.append(F.mse_loss(model(user, article), rating))
    return torch.stack(errors).mean().sqrt()


def main():
    torch.manual_seed(0)
    stream = RatingStream(seed=51)
    model = MatrixFactorization(USERS, ARTICLES, FACTORS)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)

    losses = []
    for step in range(STEPS + 1):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        losses.append(train_step(model, optimizer, *stream.next_batch()))
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"{losses[0]:.5f} {losses[-20:].mean():.5f} {holdout_error(model, stream):.5f}")


if __name__ == "__main__":
    main()
