"""Sampling from a small GPT-style language model.

The model is a decoder-only transformer over characters with a fixed random initialisation. Given a batch of
prompts, it writes a continuation for each of them by greedy decoding and reports the mean
log-probability of the chosen characters.
"""
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

VOCAB = 96
WIDTH = 192
HEADS = 6
LAYERS = 4
PROMPT = 48
NEW_TOKENS = 120
BATCH = 4


class CausalSelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (
            z.view(b, t, self.heads, c // self.heads).transpose(1, 2)
            for z in self.qkv(x).chunk(3, dim=-1)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = CausalSelfAttention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCAB, WIDTH)
        self.position = nn.Embedding(PROMPT + NEW_TOKENS, WIDTH)
        self.blocks = nn.ModuleList(Block(WIDTH, HEADS) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1])
        x = self.token(tokens) + self.position(positions)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, -1]))


@torch.inference_mode()
def generate(model, prompts, new_tokens):
    """Greedy decoding; returns the texts and the mean log-probability of the new tokens."""
    b, length = prompts.shape
    tokens = torch.empty(b, length + new_tokens, dtype=torch.long)
    tokens[:, :length] = prompts
    score = torch.zeros(b)
    start = None
    for step in range(new_tokens):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        logits = model(tokens[:, : length + step])
        logp, choice = F.log_softmax(logits, dim=-1).max(dim=-1)
        tokens[:, length + step] = choice
        score += logp
    elapsed = time.perf_counter() - start
    return tokens, score / new_tokens, elapsed


def make_prompts(n, length):
    """Printable pseudo-words with spaces in between."""
    generator = torch.Generator().manual_seed(3)
    prompts = torch.randint(1, VOCAB, (n, length), generator=generator)
    prompts[:, ::6] = 0
    return prompts


def main():
    torch.manual_seed(0)
    model = TinyGPT().eval()
    with torch.no_grad():
        model.head.weight.mul_(4 * math.sqrt(WIDTH) / 8)
    prompts = make_prompts(BATCH, PROMPT)

    tokens, score, elapsed = generate(model, prompts, NEW_TOKENS)

    print(f"{NEW_TOKENS - 1} steps in {elapsed:.2f} s")
    print(f"{score.mean():.5f} {score.std():.5f} {tokens.float().mean():.4f}")


if __name__ == "__main__":
    main()
