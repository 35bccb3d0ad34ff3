"""Which kelp beds a current connects: a graph classifier whose hops are taken before training."""

import time

import torch
import torch.nn as nn
import torch.nn.functional as F

BEDS = 20000
DEGREE = 7
FEATURES = 40
HOPS = 3
CLASSES = 8
HIDDEN = 384
BATCH = 1024
EPOCHS = 11


def make_beds(generator):
    """Beds along a coast; edges lead to beds nearby, the class is the stretch of coast."""
    coast = torch.sort(torch.rand(BEDS, generator=generator)).values
    jump = torch.randint(-60, 61, (BEDS, DEGREE), generator=generator)
    neighbour = (torch.arange(BEDS).unsqueeze(1) + jump).clamp(0, BEDS - 1)
    label = (coast * CLASSES).long()
    centre = torch.randn(CLASSES, FEATURES, generator=generator)
    features = centre[label] + 4.0 * torch.randn(BEDS, FEATURES, generator=generator)
    return features, neighbour, label


def mean_adjacency(neighbour):
    """The averaging over neighbours, as a sparse matrix of compressed rows."""
    starts = torch.arange(0, BEDS * DEGREE + 1, DEGREE)
    columns = neighbour.sort(dim=1).values.reshape(-1)
    weight = torch.full((BEDS * DEGREE,), 1.0 / DEGREE)
    return torch.sparse_csr_tensor(starts, columns, weight, (BEDS, BEDS))


def hop_features(features, neighbour):
    """Features of a bed, its neighbours, their neighbours, and so on, side by side."""
    adjacency = mean_adjacency(neighbour)
    hops = [features]
    for _ in range(HOPS):
        hops.append(adjacency @ hops[-1])
    stacked = torch.cat(hops, dim=1)
    return (stacked - stacked.mean(dim=0)) / stacked.std(dim=0)


class HopNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear((HOPS + 1) * FEATURES, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, CLASSES),
        )

    def forward(self, x):
        return self.body(x)


def train_step(model, optimizer, x, label):
    loss = F.cross_entropy(model(x), label)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


@torch.inference_mode()
def accuracy(model, x, label):
    model.eval()
    right = [(model(part).argmax(dim=1) == known).sum() for part, known in zip(x.split(4096), label.split(4096))]
    model.train()
    return torch.stack(right).sum() / len(x)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(9)
    generator = torch.Generator().manual_seed(41)
    features, neighbour, label = make_beds(generator)
    x = hop_features(features, neighbour)
    order = torch.randperm(BEDS, generator=generator)
    known, hidden = order[:16384], order[16384:]
    model = HopNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, fused=True)
    train_step(model, optimizer, x[known[:BATCH]], label[known[:BATCH]])

    start = time.perf_counter()
    losses = []
    for _ in range(EPOCHS):
        shuffled = known[torch.randperm(len(known), generator=generator)]
        for rows in shuffled.split(BATCH):
            losses.append(train_step(model, optimizer, x[rows], label[rows]))
    losses = torch.stack(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    share = accuracy(model, x[hidden], label[hidden]).item()
    print(f"checksum {losses[0].item():.4f} {losses.mean().item():.4f} {share:.3f}")


if __name__ == "__main__":
    main()
