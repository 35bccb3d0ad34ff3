"""Character-level generation with a small decoder-only transformer."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

ALPHABET = 64
CONTEXT = 160


class CausalSelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, cache, start):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        keys, values = cache
        keys[:, :, start:start + t] = k
        values[:, :, start:start + t] = v
        k, v = keys[:, :, :start + t], values[:, :, :start + t]
        a = F.scaled_dot_product_attention(q, k, v, is_causal=start == 0)
        return self.proj(a.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = CausalSelfAttention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, cache, start):
        x = x + self.attn(self.norm1(x), cache, start)
        return x + self.ff(self.norm2(x))


class CharGPT(nn.Module):
    def __init__(self, dim=96, heads=4, depth=4):
        super().__init__()
        self.tok = nn.Embedding(ALPHABET, dim)
        self.pos = nn.Embedding(CONTEXT, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, ALPHABET, bias=False)

    def new_cache(self, batch):
        heads = self.blocks[0].attn.heads
        shape = (batch, heads, CONTEXT, self.tok.embedding_dim // heads)
        return [(torch.zeros(shape), torch.zeros(shape)) for _ in self.blocks]

    def forward(self, idx, caches, start):
        x = self.tok(idx) + self.pos(torch.arange(start, start + idx.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache, start)
        return self.head(self.norm(x))


@torch.inference_mode()
def generate(model, prompt, n_new, temperature):
    batch, length = prompt.shape
    out = torch.empty(batch, length + n_new, dtype=torch.long)
    out[:, :length] = prompt
    score = torch.zeros(batch)
    caches = model.new_cache(batch)
    done = 0
    for t in range(length, length + n_new):
        logits = model(out[:, done:t], caches, done)[:, -1] / temperature
        done = t
        logp = F.log_softmax(logits, dim=-1)
        choice = logp.argmax(dim=-1)
        score += logp.gather(1, choice[:, None]).squeeze(1)
        out[:, t] = choice
    return out, score


def main():
    torch.manual_seed(42)
    model = CharGPT().eval()
    prompts = torch.randint(0, ALPHABET, (24, 2, 16))
    generate(model, prompts[0], 8, 0.8)

    n_steps = 24
    used = torch.zeros(ALPHABET)
    scores = []
    start = time.perf_counter()
    for i in range(n_steps):
        text, score = generate(model, prompts[i], 112, 0.8)
        used += torch.bincount(text.flatten(), minlength=ALPHABET)
        scores.append(score.sum())
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {torch.stack(scores).sum().item():.4f} {(used > 0).sum().item()}")


if __name__ == "__main__":
    main()
