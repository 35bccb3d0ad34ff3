"""Changes made to PyTorch programs from outside: each applies where it should, gives the same results, and leaves alone what it cannot
change.

The programs use real torch on the CPU; `make test-torch` installs it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from experimenting import run

torch = pytest.importorskip("torch", reason="torch is not installed; `make test-torch` installs it and runs these tests")

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\ntorch.manual_seed(0)\ntorch.set_num_threads(1)\n"

PERCEPTRON = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(32, 64)
        self.last = nn.Linear(64, 10)

    def forward(self, x):
        return self.last(F.gelu(self.first(x)))

model = Net()
data = torch.randn(6, 16, 32)
labels = torch.randint(0, 10, (6, 16))
loss_of = nn.CrossEntropyLoss()
"""

TRAIN = """
for x, y in zip(data, labels):
    optimizer.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}", f"{sum(p.abs().sum().item() for p in model.parameters()):.3f}")
"""

IMAGES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.second = nn.Conv2d(16, 32, 3, stride=2)
        self.last = nn.Linear(32 * 7 * 7, 10)

    def forward(self, x):
        x = F.relu(self.norm(self.first(x)))
        x = F.relu(self.second(x))
        return self.last(torch.flatten(x, 1))

model = Net()
data = torch.randn(5, 8, 3, 16, 16)
labels = torch.randint(0, 10, (5, 8))
loss_of = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
"""

LOADER = """
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, at):
        return torch.full((8,), float(at)), at % 3

def main():
    total = 0.0
    for epoch in range(3):
        for x, y in DataLoader(Squares(), batch_size=8, shuffle=True):
            total = total * 0.5 + (x.sum() * y.sum()).item() * torch.rand(()).item()
    print(total)

if __name__ == "__main__":
    main()
"""

ATTENTION = """
class Attention(nn.Module):
    def __init__(self, size=32, heads=4):
        super().__init__()
        self.heads, self.each = heads, size // heads
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)

    def forward(self, x):
        b, n, size = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, self.each).permute(2, 0, 3, 1, 4)
        ATTEND
        return self.out(out.transpose(1, 2).reshape(b, n, size))

model = Attention()
x = torch.randn(2, 24, 32)
for step in range(4):
    x = torch.tanh(model(x)) + x
x.sum().backward()
print(f"{x.sum().item():.3f} {model.qkv.weight.grad.abs().sum():.3f}")
"""

AT = "scores = q @ k.transpose(-2, -1) / self.each ** 0.5\n        out = F.softmax(scores, dim=-1) @ v"
MATMUL = "scores = torch.matmul(q, k.transpose(-2, -1)) * self.each ** -0.5\n        out = torch.matmul(scores.softmax(dim=-1), v)"
MASKED = (
    "scores = q @ k.transpose(-2, -1) / self.each ** 0.5\n"
    "        scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), float('-inf'))\n"
    "        out = torch.softmax(scores, -1) @ v"
)

DROPOUT = "scores = q @ k.transpose(-2, -1) * self.each ** -0.5\n        out = F.dropout(scores.softmax(-1), 0.1, self.training) @ v"
BIASED = "scores = q @ k.transpose(-2, -1) / 3.0 + torch.linspace(0, 1, n)\n        out = torch.softmax(scores, dim=3) @ v"
BATCHES = (
    "q, k, v = (one.reshape(b * self.heads, n, self.each) for one in (q, k, v))\n"
    "        out = torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)), -1), v).view(b, self.heads, n, self.each)"
)

LATE = """
for x, y in zip(data, labels):
    optimizer.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss.item()
    log.append(float(loss))
    print(f"{loss.item():.4f}")
print(f"{total:.4f} {max(log):.4f}")
"""

SGD = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
ADAM = "optimizer = torch.optim.Adam(model.parameters(), lr=0.01)\n"

CASES = {
    "torch-compile: training": PERCEPTRON + ADAM + TRAIN,
    "torch-compile: images": IMAGES + TRAIN,
    "channels-last: images": IMAGES + TRAIN,
    "loader: a data set": LOADER,
    "set-to-none: zeros": PERCEPTRON + SGD + TRAIN.replace("zero_grad()", "zero_grad(set_to_none=False)"),
    "fused-optimizer: Adam": PERCEPTRON + ADAM + TRAIN,
    "fused-optimizer: groups": PERCEPTRON
    + "optimizer = torch.optim.AdamW([{'params': model.first.parameters()}, {'params': model.last.parameters(), 'lr': 0.1}])\n"
    + TRAIN,
    "fused-attention: at": ATTENTION.replace("ATTEND", AT),
    "fused-attention: matmul": ATTENTION.replace("ATTEND", MATMUL),
    "fused-attention: masked": ATTENTION.replace("ATTEND", MASKED),
    "fused-attention: biased": ATTENTION.replace("ATTEND", BIASED),
    "fused-attention: batches": ATTENTION.replace("ATTEND", BATCHES),
    "fused-attention: dropout, but not in training": ATTENTION.replace("ATTEND", DROPOUT).replace("x = torch.randn", "model.eval()\nx = torch.randn"),
    "late: losses": PERCEPTRON + SGD + "total, log = 0.0, []\n" + LATE,
}


@pytest.mark.parametrize("case", CASES)
def test_a_change_applies_and_gives_the_same(tmp_path: Path, case: str) -> None:
    program = HEAD + CASES[case]
    expected, as_it_is = run(tmp_path, program, None)
    printed, report = run(tmp_path, program, case.partition(":")[0])
    assert report["applied"], report["failed"]
    assert close(printed, expected), (printed, expected)
    assert not as_it_is["applied"]
    of_loop = lambda found: [(loop["line"], loop["iterations"]) for loop in found["loops"]]  # noqa: E731 - one line says it
    assert of_loop(report)[:1] == of_loop(as_it_is)[:1]


def close(printed: str, expected: str, tolerance: float = 2e-3) -> bool:
    """Whether the numbers are those that were expected, but for rounding."""
    some, others = printed.split(), expected.split()
    return len(some) == len(others) and all(
        a == b or abs(float(a) - float(b)) <= tolerance * max(abs(float(b)), 1.0) for a, b in zip(some, others)
    )


def test_a_model_under_autocast_computes_in_bfloat16(tmp_path: Path) -> None:
    program = HEAD + PERCEPTRON + ADAM + "model.last.register_forward_hook(lambda module, args, out: print(out.dtype))\n" + TRAIN
    expected, _ = run(tmp_path, program, None)
    printed, report = run(tmp_path, program, "autocast")
    assert report["applied"]
    assert expected.count("torch.float32") == printed.count("torch.bfloat16") == 6
    assert close(printed.splitlines()[-1], expected.splitlines()[-1], 0.05), (printed, expected)


REFUSALS = {
    "cudnn-benchmark": IMAGES + TRAIN,
    # No optimizer of this kind has a fused form.
    "fused-optimizer": PERCEPTRON + "optimizer = torch.optim.Adam(model.parameters(), lr=0.01, differentiable=False, foreach=True)\n" + TRAIN,
    "loader": LOADER.replace("batch_size=8", "batch_size=8, num_workers=1"),
    "loader: stream": LOADER.replace(", Dataset", ", IterableDataset").replace("(Dataset)", "(IterableDataset)").replace(", shuffle=True", "")
    .replace("def __getitem__(self, at):\n        return torch.full((8,), float(at)), at % 3", "def __iter__(self):\n        return iter([(torch.ones(8), 2)] * 40)"),
    "channels-last": PERCEPTRON + SGD + TRAIN,
    "set-to-none": PERCEPTRON + SGD + TRAIN,
    # Something is done between softmax and product.
    "fused-attention": ATTENTION.replace("ATTEND", "scores = q @ k.transpose(-2, -1)\n        out = (F.softmax(scores, dim=-1) * 2) @ v"),
}


@pytest.mark.parametrize("change", REFUSALS)
def test_what_cannot_be_changed_runs_as_it_is(tmp_path: Path, change: str) -> None:
    if change == "cudnn-benchmark" and torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    program = HEAD + REFUSALS[change]
    expected, _ = run(tmp_path, program, None)
    printed, report = run(tmp_path, program, change.partition(":")[0])
    assert printed == expected
    assert not report["applied"], report
