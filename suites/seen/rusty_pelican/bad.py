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

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, w))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.ln2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class CharModel(nn.Module):
    def __init__(self, vocab, width=512, heads=8, depth=6, context=128):
        super().__init__()
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        t = ids.shape[1]
        x = self.tok(ids) + self.pos.weight[:t]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, -1]))


@torch.inference_mode()
def generate(model, prompt, n_new):
    ids = prompt
    entropy = 0.0
    for _ in range(n_new):
        logits = model(ids)
        logp = F.log_softmax(logits, dim=-1)
        entropy += -(logp.exp() * logp).sum(-1).mean()
        ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], dim=1)
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
