"""Track the sharpness (top Hessian eigenvalue) of a classifier during training."""
import time

import torch
import torch.nn.functional as F
from torch.func import functional_call, grad, jvp
from torch.utils.data import DataLoader, TensorDataset


class SoftmaxTower(torch.nn.Module):
    def __init__(self, n_in, hidden, n_out):
        super().__init__()
        self.fc1 = torch.nn.Linear(n_in, hidden)
        self.fc2 = torch.nn.Linear(hidden, n_out)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


def blobs(n, n_in, n_out, seed):
    gen = torch.Generator().manual_seed(seed)
    centers = torch.randn(n_out, n_in, generator=gen)
    y = torch.randint(0, n_out, (n,), generator=gen)
    x = centers[y] + 0.8 * torch.randn(n, n_in, generator=gen)
    return x, y


class SharpnessProbe:
    """Power iteration on the loss curvature at the current weights."""

    def __init__(self, model, x, y, iters=8):
        self.model = model
        self.x = x
        self.y = y
        self.iters = iters
        self.names = [n for n, _ in model.named_parameters()]
        self.shapes = [p.shape for p in model.parameters()]
        self.sizes = [p.numel() for p in model.parameters()]
        self.vector = F.normalize(torch.ones(sum(self.sizes)), dim=0)

    def loss(self, flat):
        parts = flat.split(self.sizes)
        params = {n: p.view(s) for n, p, s in zip(self.names, parts, self.shapes)}
        return F.cross_entropy(functional_call(self.model, params, (self.x,)), self.y)

    def measure(self):
        flat = torch.nn.utils.parameters_to_vector(self.model.parameters()).detach()
        v = self.vector
        for _ in range(self.iters):
            hv = jvp(grad(self.loss), (flat,), (v,))[1]
            value = v @ hv
            v = F.normalize(hv, dim=0)
        self.vector = v
        return value


def train_epoch(model, loader, optimizer):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total / len(loader)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, y = blobs(8192, 24, 6, seed=2)
    model = SoftmaxTower(24, 16, 6)
    loader = DataLoader(TensorDataset(x, y), batch_size=64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    probe = SharpnessProbe(model, x[:640], y[:640])
    probe.measure()
    train_epoch(model, loader, optimizer)

    steps = 32
    sharpness, losses = [], []
    start = time.perf_counter()
    for _ in range(steps):
        losses.append(train_epoch(model, loader, optimizer))
        sharpness.append(probe.measure())
    elapsed = time.perf_counter() - start
    sharpness, losses = torch.stack(sharpness), torch.stack(losses)
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {sharpness.mean().item():.6f} {losses.mean().item():.6f}")


if __name__ == "__main__":
    main()
