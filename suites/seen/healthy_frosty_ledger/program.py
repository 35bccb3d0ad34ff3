"""Next-token training of a small decoder on a synthetic grammar."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.ln2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attend(self, x):
        b, t, w = x.shape
        qkv = self.qkv(x).view(b, t, 3, self.heads, w // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, w))

    def forward(self, x):
        x = x + self.attend(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Decoder(nn.Module):
    def __init__(self, vocab, width, heads, depth, context):
        super().__init__()
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Parameter(0.02 * torch.randn(context, width))
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.tok.weight
        nn.init.normal_(self.tok.weight, std=0.02)

    def forward(self, ids):
        x = self.tok(ids) + self.pos[: ids.shape[1]]
        return self.head(self.norm(self.blocks(x)))


class Corpus:
    """Markov text: each token has a few likely successors."""

    def __init__(self, vocab, length, gen):
        successors = torch.randint(0, vocab, (vocab, 4), generator=gen).tolist()
        choice = torch.randint(0, 4, (length,), generator=gen).tolist()
        state, text = 0, []
        for c in choice:
            state = successors[state][c]
            text.append(state)
        self.tokens = torch.tensor(text)
        self.gen = gen

    def batch(self, size, context):
        start = torch.randint(0, len(self.tokens) - context - 1, (size, 1), generator=self.gen)
        window = self.tokens[start + torch.arange(context + 1)]
        return window[:, :-1], window[:, 1:]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(30)
    gen = torch.Generator().manual_seed(30)
    vocab, context = 256, 128
    corpus = Corpus(vocab, 60_000, gen)
    model = Decoder(vocab, 192, 6, 3, context)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05, fused=True)

    def step():
        ids, target = corpus.batch(16, context)
        optimizer.zero_grad()
        logits = model(ids)
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.detach()

    step()
    steps = 24
    losses = []
    start = time.perf_counter()
    for k in range(steps):
        losses.append(step())
        if (k + 1) % 12 == 0:
            print(f"step {k + 1} loss {losses[-1].item():.4f}")
    elapsed = time.perf_counter() - start
    losses = torch.stack(losses)
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.mean().item():.6f} {losses[-1].item():.6f}")


if __name__ == "__main__":
    main()
