"""Sentence classifier: convolutional encoder with masked pooling."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Reviews(Dataset):
    def __init__(self, n, vocab, n_classes, seed):
        gen = torch.Generator().manual_seed(seed)
        lengths = torch.exp(3.2 + 0.55 * torch.randn(n, generator=gen)).long().clamp_(6, 256)
        lengths[0] = 256
        self.labels = torch.randint(0, n_classes, (n,), generator=gen)
        self.texts = []
        for length, label in zip(lengths.tolist(), self.labels.tolist()):
            words = torch.randint(1, vocab, (length,), generator=gen)
            words[: length // 3] = 1 + (words[: length // 3] % 40) + 40 * label
            self.texts.append(words)
        self.max_len = int(lengths.max())

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return self.texts[i], self.labels[i]


class Collate:
    def __init__(self, max_len):
        self.max_len = max_len

    def __call__(self, samples):
        texts, labels = zip(*samples)
        lengths = torch.tensor([len(t) for t in texts])
        padded = pad_sequence(texts, batch_first=True)
        padded = F.pad(padded, (0, self.max_len - padded.shape[1]))
        return padded, lengths, torch.stack(labels)


class GatedConv(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, 2 * width, 3, padding=1)

    def forward(self, x, mask):
        return (x + F.glu(self.conv(x), dim=1)) * mask


class TextClassifier(nn.Module):
    def __init__(self, vocab, width, depth, n_classes):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=0)
        self.layers = nn.ModuleList(GatedConv(width) for _ in range(depth))
        self.head = nn.Linear(width, n_classes)

    def forward(self, tokens, lengths):
        positions = torch.arange(tokens.shape[1])
        mask = (positions < lengths[:, None]).unsqueeze(1).float()
        x = self.embed(tokens).transpose(1, 2)
        for layer in self.layers:
            x = layer(x, mask)
        pooled = x.sum(-1) / lengths[:, None]
        return self.head(pooled)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(8)
    data = Reviews(640, 3000, 4, seed=17)
    loader = DataLoader(
        data, batch_size=32, shuffle=True, drop_last=True,
        collate_fn=Collate(data.max_len), generator=torch.Generator().manual_seed(2),
    )
    model = TextClassifier(3000, 96, 4, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4, fused=True)

    def step(batch):
        tokens, lengths, labels = batch
        optimizer.zero_grad()
        loss = F.cross_entropy(model(tokens, lengths), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    step(next(iter(loader)))
    losses = []
    start = time.perf_counter()
    for epoch in range(2):
        for batch in loader:
            losses.append(step(batch))
    elapsed = time.perf_counter() - start
    losses = torch.stack(losses)
    print(f"{len(losses)} steps in {elapsed:.3f} s")
    print(f"checksum {losses.mean().item():.6f} {losses[-20:].mean().item():.6f}")


if __name__ == "__main__":
    main()
