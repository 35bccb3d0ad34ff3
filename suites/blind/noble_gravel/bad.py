"""Species classification from small tabular measurements."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, RandomSampler, Subset

torch.set_num_threads(1)

N_FEATURES = 20
N_CLASSES = 5


class Measurements(Dataset):
    """Measurements of flowers, standardised once at loading."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        centres = 1.2 * torch.randn(N_CLASSES, N_FEATURES, generator=g)
        self.labels = torch.randint(0, N_CLASSES, (n,), generator=g)
        raw = centres[self.labels] + torch.randn(n, N_FEATURES, generator=g)
        self.features = (raw - raw.mean(0)) / raw.std(0)

    def __len__(self):
        return self.labels.numel()

    def __getitems__(self, index):
        index = torch.as_tensor(index)
        return self.features[index], self.labels[index]


def identity(batch):
    return batch


class Classifier(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(N_FEATURES, hidden), nn.BatchNorm1d(hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.BatchNorm1d(hidden), nn.ReLU(),
            nn.Linear(hidden, N_CLASSES),
        )

    def forward(self, x):
        return self.net(x)


class Trainer:
    def __init__(self, model, train, valid, batch_size, seed):
        self.model = model
        sampler = RandomSampler(train, generator=torch.Generator().manual_seed(seed))
        options = dict(batch_size=batch_size, collate_fn=identity, num_workers=2)
        self.train_loader = DataLoader(train, sampler=sampler, **options)
        self.valid_loader = DataLoader(valid, shuffle=False, **options)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 60)

    def train_epoch(self):
        self.model.train()
        total = torch.zeros(())
        for x, y in self.train_loader:
            loss = F.cross_entropy(self.model(x), y, label_smoothing=0.05)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            total += loss.detach()
        self.scheduler.step()
        return total / len(self.train_loader)

    @torch.inference_mode()
    def validate(self):
        self.model.eval()
        correct = torch.zeros(())
        count = 0
        for x, y in self.valid_loader:
            correct += (self.model(x).argmax(dim=-1) == y).sum()
            count += y.numel()
        return correct / count


def main():
    torch.manual_seed(30)
    data = Measurements(7000, seed=2)
    train, valid = Subset(data, range(6000)), Subset(data, range(6000, 7000))
    trainer = Trainer(Classifier(), train, valid, batch_size=250, seed=5)
    trainer.train_epoch()

    n_steps = 20
    history = []
    start = time.perf_counter()
    for _ in range(n_steps):
        history.append((trainer.train_epoch().item(), trainer.validate().item()))
    elapsed = time.perf_counter() - start

    losses, accuracy = zip(*history)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {sum(losses):.5f} {sum(accuracy):.4f}")


if __name__ == "__main__":
    main()
