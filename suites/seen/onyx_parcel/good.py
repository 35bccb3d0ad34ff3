"""Completions from a small decoder-only transformer, greedy decoding of a batch of prompts."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

VOCAB = 512
DIM = 160
HEADS = 4
LAYERS = 3
CONTEXT = 320
PROMPT = 24
NEW_TOKENS = 120
BATCH = 2
REQUESTS = 11


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, cache, start):
        b, t, d = x.shape
        qkv = self.qkv(x).view(b, t, 3, self.heads, d // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        cache[0][:, :, start:start + t] = k
        cache[1][:, :, start:start + t] = v
        k = cache[0][:, :, :start + t]
        v = cache[1][:, :, :start + t]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1)
        return self.proj(y.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, cache, start):
        x = x + self.attn(self.norm1(x), cache, start)
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCAB, DIM)
        self.position = nn.Embedding(CONTEXT, DIM)
        self.blocks = nn.ModuleList([Block(DIM, HEADS) for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB, bias=False)

    def new_cache(self, batch):
        shape = (2, batch, HEADS, CONTEXT, DIM // HEADS)
        return [torch.zeros(shape) for _ in self.blocks]

    def forward(self, tokens, caches, start):
        pos = torch.arange(start, start + tokens.shape[1])
        x = self.token(tokens) + self.position(pos)
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache, start)
        return self.head(self.norm(x[:, -1]))


@torch.inference_mode()
def generate(model, prompt, count):
    tokens = [prompt]
    caches = model.new_cache(prompt.shape[0])
    start = 0
    score = torch.zeros(prompt.shape[0])
    for _ in range(count):
        logits = model(tokens[-1], caches, start)
        start += tokens[-1].shape[1]
        logp = logits.log_softmax(-1)
        best, chosen = logp.max(-1)
        score += best
        tokens.append(chosen[:, None])
    return torch.cat(tokens, dim=1), score


def main():
    gen = torch.Generator().manual_seed(29)
    model = Decoder().eval()
    prompts = [torch.randint(0, VOCAB, (BATCH, PROMPT), generator=gen) for _ in range(REQUESTS)]
    generate(model, prompts[0], 4)

    token_sum = 0
    score_sum = 0.0
    start = time.perf_counter()
    for prompt in prompts:
        tokens, score = generate(model, prompt, NEW_TOKENS)
        token_sum += tokens.sum().item()
        score_sum += score.mean().item()
    elapsed = time.perf_counter() - start
    print(f"{REQUESTS * NEW_TOKENS} steps in {elapsed:.2f} s")
    print(f"checksum {token_sum} {score_sum / REQUESTS:.3f}")


if __name__ == "__main__":
    main()
