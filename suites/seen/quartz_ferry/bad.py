"""Dense prediction with a shared trunk and several task heads."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


def conv_block(c_in, c_out, stride=1):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(c_out),
        nn.ReLU(),
    )


class Trunk(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            conv_block(3, width, stride=2),
            conv_block(width, width),
            conv_block(width, 2 * width, stride=2),
            conv_block(2 * width, 2 * width),
        )

    def forward(self, x):
        return self.layers(x)


class MultiTaskNet(nn.Module):
    def __init__(self, width=24, n_classes=6):
        super().__init__()
        self.trunk = Trunk(width)
        self.segment = nn.Conv2d(2 * width, n_classes, 1)
        self.depth = nn.Conv2d(2 * width, 1, 1)
        self.normal = nn.Conv2d(2 * width, 3, 1)

    def forward(self, images):
        feats = self.trunk(images)
        return {
            "segment": self.segment(feats),
            "depth": self.depth(feats).squeeze(1),
            "normal": F.normalize(self.normal(feats), dim=1),
        }


class MultiTaskLoss:
    weights = {"segment": 1.0, "depth": 0.5, "normal": 0.3}

    def __call__(self, outputs, targets):
        losses = {
            "segment": F.cross_entropy(outputs["segment"], targets["segment"]),
            "depth": F.smooth_l1_loss(outputs["depth"], targets["depth"]),
            "normal": (1 - (outputs["normal"] * targets["normal"]).sum(1)).mean(),
        }
        return {name: self.weights[name] * value for name, value in losses.items()}


def make_batches(n, batch, size, n_classes, seed):
    gen = torch.Generator().manual_seed(seed)
    small = size // 4
    batches = []
    for _ in range(n):
        images = torch.randn(batch, 3, size, size, generator=gen)
        pooled = F.avg_pool2d(images, 4)
        targets = {
            "segment": torch.randint(0, n_classes, (batch, small, small), generator=gen),
            "depth": pooled.mean(1),
            "normal": F.normalize(pooled, dim=1),
        }
        batches.append((images, targets))
    return batches


def train_step(model, criterion, optimizer, images, targets):
    optimizer.zero_grad()
    losses = criterion(model(images), targets)
    for loss in losses.values():
        loss.backward(retain_graph=True)
    optimizer.step()
    return torch.stack([loss.detach() for loss in losses.values()])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = MultiTaskNet()
    criterion = MultiTaskLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    batches = make_batches(5, 8, 96, 6, seed=4)
    train_step(model, criterion, optimizer, *batches[0])

    steps = 80
    history = []
    start = time.perf_counter()
    for k in range(steps):
        history.append(train_step(model, criterion, optimizer, *batches[k % len(batches)]))
    elapsed = time.perf_counter() - start
    history = torch.stack(history).mean(0)
    print(f"{steps} steps in {elapsed:.3f} s")
    print("checksum " + " ".join(f"{v:.6f}" for v in history.tolist()))


if __name__ == "__main__":
    main()
