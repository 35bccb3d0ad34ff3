"""Character-level sampling from a small decoder-only transformer."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, past):
        b, t, w = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        keys, values, n = past
        keys[:, :, n:n + t] = k
        values[:, :, n:n + t] = v
        y = F.scaled_dot_product_attention(
            q, keys[:, :, :n + t], values[:, :, :n + t], is_causal=n == 0
        )
        return self.out(y.transpose(1, 2).reshape(b, t, w))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.ln2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, past):
        x = x + self.attn(self.ln1(x), past)
        return x + self.mlp(self.ln2(x))


class CharModel(nn.Module):
    def __init__(self, vocab, width=512, heads=8, depth=6, context=128):
        super().__init__()
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)

    def new_cache(self, batch, length):
        heads = self.blocks[0].attn.heads
        size = (batch, heads, length, self.tok.embedding_dim // heads)
        return [(torch.empty(size), torch.empty(size)) for _ in self.blocks]

    def forward(self, ids, cache, n):
        t = ids.shape[1]
        x = self.tok(ids) + self.pos.weight[n:n + t]
        for block, (k, v) in zip(self.blocks, cache):
            x = block(x, (k, v, n))
        return self.head(self.norm(x[:, -1]))


@torch.inference_mode()
def generate(model, prompt, n_new):
    ids = fresh = prompt
    cache = model.new_cache(ids.shape[0], ids.shape[1] + n_new)
    entropy = 0.0
    for _ in range(n_new):
        logits = model(fresh, cache, ids.shape[1] - fresh.shape[1])
        logp = F.log_softmax(logits, dim=-1)
        entropy += -(logp.exp() * logp).sum(-1).mean()
        fresh = logits.argmax(-1, keepdim=True)
        ids = torch.cat([ids, fresh], dim=1)
    return ids, entropy / n_new


def main():
    torch.set_num_threads(1)
    torch.manual_seed(21)
    vocab = 96
    model = CharModel(vocab).eval()
    gen = torch.Generator().manual_seed(2)
    prompts = [torch.randint(0, vocab, (1, 16), generator=gen) for _ in range(6)]
    generate(model, prompts[0], 4)

    n_new = 40
    total = 0.0
    used = 0
    start = time.perf_counter()
    for prompt in prompts:
        ids, entropy = generate(model, prompt, n_new)
        total += entropy.item()
        used += ids.float().mean().item()
    elapsed = time.perf_counter() - start
    print(f"{n_new * len(prompts)} steps in {elapsed:.3f} s")
    print(f"checksum {total:.6f} {used:.4f}")


if __name__ == "__main__":
    main()
