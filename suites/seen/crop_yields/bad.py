"""Yield of fields from soil and weather, by a network that is trained on a large table."""

import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)

FIELDS, COLUMNS, BATCH, EPOCHS = 60_000, 20, 512, 4


class YieldTable(Dataset):
    """Rows of the table: measured columns, and the yield."""

    def __init__(self, seed):
        generator = torch.Generator().manual_seed(seed)
        self.columns = torch.randn((FIELDS, COLUMNS), generator=generator)
        rain, heat, soil = self.columns[:, 0], self.columns[:, 1], self.columns[:, 2:6].mean(dim=1)
        noise = 0.1 * torch.randn(FIELDS, generator=generator)
        self.yields = torch.tanh(rain + soil) - 0.3 * heat.square() + noise

    def __len__(self):
        return FIELDS

    def __getitem__(self, index):
        return self.columns[index], self.yields[index]


class YieldNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(COLUMNS, 64),
            nn.ReLU(),
            nn.Linear(64, 64),
            nn.ReLU(),
            nn.Linear(64, 1),
        )

    def forward(self, columns):
        return self.layers(columns).squeeze(1)


def make_loader(table):
    generator = torch.Generator().manual_seed(7)
    return DataLoader(table, batch_size=BATCH, shuffle=True, generator=generator)


def train_epoch(model, optimizer, loader):
    total, count = 0.0, 0
    for columns, yields in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(columns), yields)
        loss.backward()
        optimizer.step()
        total += loss.detach()
        count += 1
    return total / count, count


def main():
    torch.manual_seed(0)
    loader = make_loader(YieldTable(2))
    model = YieldNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    train_epoch(model, optimizer, loader)
    start = time.perf_counter()
    losses, steps = [], 0
    for _ in range(EPOCHS):
        loss, count = train_epoch(model, optimizer, loader)
        losses.append(float(loss))
        steps += count
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", losses[-1], sum(losses))


if __name__ == "__main__":
    main()
