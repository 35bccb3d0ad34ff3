"""Samples text from a character GRU, one character at a time."""

import time

import torch
from torch import nn

ALPHABET = "abcdefghijklmnopqrstuvwxyz .,\n"


class CharModel(nn.Module):
    def __init__(self, size=len(ALPHABET), width=192):
        super().__init__()
        self.embed = nn.Embedding(size, 48)
        self.gru = nn.GRU(48, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, size)

    def forward(self, tokens, hidden=None):
        out, hidden = self.gru(self.embed(tokens), hidden)
        return self.head(out), hidden


@torch.no_grad()
def sample(model, prompts, length, temperature=0.8):
    tokens, latest, hidden = prompts, prompts, None
    for _ in range(length):
        logits, hidden = model(latest, hidden)
        probs = torch.softmax(logits[:, -1] / temperature, dim=-1)
        # The most likely character, with a nudge that keeps it from repeating itself.
        latest = (probs * nudge(tokens)).argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, latest], dim=1)
    return tokens


def nudge(tokens):
    recent = torch.zeros(tokens.shape[0], len(ALPHABET)).scatter_(1, tokens[:, -5:], 1.0)
    return 1.0 - 0.9 * recent


def main():
    torch.set_num_threads(1)  # The machine is shared.
    torch.manual_seed(3)
    model = CharModel().eval()
    prompts = torch.randint(0, len(ALPHABET), (8, 12))
    sample(model, prompts, 4)
    steps = 4
    start = time.perf_counter()
    total = 0
    for i in range(steps):
        texts = sample(model, prompts.roll(i, dims=1), 140)
        total += int(texts.sum())
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", total)


if __name__ == "__main__":
    main()
