"""Sentence embedding service: requests are grouped by length and run through a small transformer."""
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

torch.set_num_threads(1)

VOCABULARY, PAD = 5000, 0


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Embedder(nn.Module):
    def __init__(self, width=192, heads=6, depth=3, longest=128):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width, padding_idx=PAD)
        self.positions = nn.Embedding(longest, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(depth))
        self.register_buffer("index", torch.arange(longest))

    def forward(self, tokens):
        keep = tokens != PAD
        x = self.tokens(tokens) + self.positions(self.index[: tokens.shape[1]])
        mask = keep[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        keep = keep.unsqueeze(-1)
        return F.normalize((x * keep).sum(1) / keep.sum(1), dim=1)


class Service:
    """Embeds a queue of sentences in batches of similar length, and answers in the queue's order."""

    def __init__(self, model, batch=32):
        self.model = model.eval()
        self.batch = batch

    @torch.inference_mode()
    def embed(self, sentences):
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        parts = []
        for start in range(0, len(order), self.batch):
            group = [sentences[i] for i in order[start:start + self.batch]]
            parts.append(self.model(pad_sequence(group, batch_first=True, padding_value=PAD)))
        answer = torch.empty(len(sentences), parts[0].shape[1])
        answer[torch.tensor(order)] = torch.cat(parts)
        return answer


def make_queue(count, gen):
    lengths = torch.exp(3.0 + 0.5 * torch.randn(count, generator=gen)).long().clamp(4, 100).tolist()
    words = torch.randint(1, VOCABULARY, (sum(lengths),), generator=gen)
    return list(words.split(lengths))


def main(steps=16, queue=160):
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    service = Service(Embedder())
    anchors = service.embed(make_queue(50, gen))

    nearest = []
    begin = time.perf_counter()
    for _ in range(steps):
        vectors = service.embed(make_queue(queue, gen))
        nearest.append((vectors @ anchors.T).amax(1))
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    nearest = torch.cat(nearest)
    print(f"checksum {nearest.mean().item():.5f} {nearest.std().item():.5f}")


if __name__ == "__main__":
    main()
