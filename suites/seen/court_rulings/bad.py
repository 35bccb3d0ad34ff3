"""Which court wrote a ruling, from its words, with a small transformer."""

import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)

WORDS, COURTS, RULINGS, BATCH = 2000, 5, 480, 16
LONGEST, WIDTH, EPOCHS = 256, 64, 1


class Rulings(Dataset):
    """Texts of very different lengths; every court has words that it likes."""

    def __init__(self, seed):
        generator = torch.Generator().manual_seed(seed)
        self.courts = torch.randint(COURTS, (RULINGS,), generator=generator)
        lengths = (12.0 + 30.0 * torch.randn(RULINGS, generator=generator).mul(0.5).exp()).long()
        self.texts = []
        for court, length in zip(self.courts.tolist(), lengths.clamp(max=LONGEST).tolist()):
            text = torch.randint(1, WORDS, (length,), generator=generator)
            liked = torch.rand(length, generator=generator) < 0.2
            self.texts.append(torch.where(liked, 1 + text % 40 + 40 * court, text))

    def __len__(self):
        return RULINGS

    def __getitem__(self, index):
        return self.texts[index], self.courts[index]


def collate(samples):
    texts, courts = zip(*samples)
    words = torch.zeros(len(texts), LONGEST, dtype=torch.long)
    for row, text in zip(words, texts):
        row[: len(text)] = text
    return words, torch.stack(courts)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH, padding_idx=0)
        self.places = nn.Embedding(LONGEST, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 128, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, COURTS)

    def forward(self, words):
        empty = words == 0
        x = self.words(words) + self.places.weight[: words.shape[1]]
        x = self.encoder(x, src_key_padding_mask=empty)
        x = x.masked_fill(empty.unsqueeze(2), 0.0).sum(dim=1)
        return self.head(x / (~empty).sum(dim=1, keepdim=True))


def train_epoch(model, optimizer, loader, most=None):
    losses = []
    for number, (words, courts) in enumerate(loader):
        if number == most:
            break
        optimizer.zero_grad()
        loss = F.cross_entropy(model(words), courts)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    loader = DataLoader(Rulings(2), BATCH, shuffle=True, generator=generator, collate_fn=collate)
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    train_epoch(model, optimizer, loader, most=2)
    start = time.perf_counter()
    losses = torch.cat([train_epoch(model, optimizer, loader) for _ in range(EPOCHS)])
    print(f"{len(losses)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(losses.mean()))


if __name__ == "__main__":
    main()
