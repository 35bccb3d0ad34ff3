"""Evaluate a small transformer classifier on documents of very different lengths."""
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

torch.set_num_threads(1)

VOCABULARY, CLASSES, PAD = 2000, 5, 0


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(attended.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm2(x))


class Classifier(nn.Module):
    def __init__(self, width=96, heads=4, depth=2, longest=256):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width, padding_idx=PAD)
        self.position = nn.Parameter(0.02 * torch.randn(longest, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, CLASSES)

    def forward(self, tokens):
        keep = tokens != PAD
        x = self.embed(tokens) + self.position[: tokens.shape[1]]
        mask = keep[:, None, None, :]
        for block in self.blocks:
            x = block(x, mask)
        weight = keep.unsqueeze(-1).float()
        return self.head((x * weight).sum(1) / weight.sum(1))


def make_documents(count, seed=0):
    gen = torch.Generator().manual_seed(seed)
    lengths = torch.exp(3.4 + 0.8 * torch.randn(count, generator=gen)).long().clamp(5, 200)
    documents = [torch.randint(1, VOCABULARY, (int(n),), generator=gen) for n in lengths]
    labels = torch.randint(0, CLASSES, (count,), generator=gen)
    return documents, labels


class Corpus:
    """The evaluation set, in batches of documents of similar length."""

    def __init__(self, documents, labels, batch=16):
        order = sorted(range(len(documents)), key=lambda i: len(documents[i]))
        self.documents = [documents[i] for i in order]
        self.labels = labels[order]
        self.batch = batch

    def __len__(self):
        return -(-len(self.labels) // self.batch)

    def __iter__(self):
        for start in range(0, len(self.labels), self.batch):
            part = slice(start, start + self.batch)
            yield pad_sequence(self.documents[part], batch_first=True, padding_value=PAD), self.labels[part]


class Metrics:
    def __init__(self):
        self.count, self.right, self.loss = 0, 0, 0.0

    def update(self, logits, labels):
        self.count += len(labels)
        self.right += int((logits.argmax(1) == labels).sum())
        self.loss += float(F.cross_entropy(logits, labels, reduction="sum"))


@torch.inference_mode()
def evaluate(model, corpus):
    metrics = Metrics()
    for tokens, labels in corpus:
        metrics.update(model(tokens), labels)
    return metrics


def main():
    torch.manual_seed(0)
    model = Classifier().eval()
    evaluate(model, Corpus(*make_documents(32, seed=9)))
    corpus = Corpus(*make_documents(2880))

    begin = time.perf_counter()
    metrics = evaluate(model, corpus)
    elapsed = time.perf_counter() - begin
    print(f"{len(corpus)} steps in {elapsed:.2f} s")
    print(f"checksum {metrics.loss / metrics.count:.5f} {metrics.right}")


if __name__ == "__main__":
    main()
