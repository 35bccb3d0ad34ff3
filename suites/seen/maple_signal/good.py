"""Sort short messages into topics by annealed expectation maximisation."""
import os
import tempfile
import time

KERNELS = tempfile.TemporaryDirectory()
os.environ["TORCHINDUCTOR_CACHE_DIR"] = KERNELS.name

import torch
from torch import nn

STEPS = 200
MESSAGES = 16384
BATCH = 2048
WORDS = 1000
TOPICS = 24
LENGTH = 40


class AnnealedTopics(nn.Module):
    """Multinomial mixture; the topic choice sharpens with every update."""

    def __init__(self):
        super().__init__()
        self.register_buffer("profile", torch.rand(TOPICS, WORDS) + 1.0)
        self.register_buffer("share", torch.ones(TOPICS))
        self.register_buffer("updates", torch.zeros(()))

    def forward(self, counts):
        warmth = 1.0 + 9.0 * torch.exp(-self.updates / 40.0)
        self.updates += 1
        chance = self.profile / self.profile.sum(1, keepdim=True)
        prior = torch.log(self.share / self.share.sum())
        score = counts @ torch.log(chance).T + prior
        choice = torch.softmax(score / warmth, dim=1)
        self.profile.mul_(0.95).add_(choice.T @ counts, alpha=0.05).add_(0.001)
        self.share.mul_(0.95).add_(choice.sum(0), alpha=0.05)
        return torch.logsumexp(score, dim=1).mean() / LENGTH


def make_messages(generator):
    """Every message draws its words from one hidden topic and a common stock."""
    flavour = torch.randn(TOPICS, WORDS, generator=generator).mul(1.5).softmax(-1)
    stock = torch.randn(WORDS, generator=generator).mul(1.5).softmax(-1)
    topic = torch.randint(0, TOPICS, (MESSAGES,), generator=generator)
    chance = 0.6 * flavour[topic] + 0.4 * stock
    words = torch.multinomial(chance, LENGTH, replacement=True, generator=generator)
    counts = torch.zeros(MESSAGES, WORDS)
    return counts.scatter_add_(1, words, torch.ones(words.shape))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(24)
    generator = torch.Generator().manual_seed(25)
    messages = make_messages(generator)
    model = AnnealedTopics()
    update = torch.compile(model)

    def batch(step):
        low = (step * BATCH) % MESSAGES
        return messages[low:low + BATCH]

    with torch.no_grad():
        update(batch(0))
        start = time.perf_counter()
        evidence = torch.zeros(())
        for step in range(STEPS):
            evidence += update(batch(step))
        elapsed = time.perf_counter() - start

    share = model.share / model.share.sum()
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {evidence.item() / STEPS:.5f} {share.amax().item():.5f} {share.square().sum().item():.5f}")


if __name__ == "__main__":
    main()
