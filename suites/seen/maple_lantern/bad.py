"""Transfer learning: a new classification head on a convolutional feature extractor."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

CLASSES = 6
IMAGES = 768
SIDE = 40
CROP = 32
BATCH = 32
STEPS = 90
WARMUP = 3


def conv_block(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(cout, cout, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
    )


class Backbone(nn.Module):
    def __init__(self, widths=(24, 48, 96)):
        super().__init__()
        blocks = []
        cin = 3
        for w in widths:
            blocks.append(conv_block(cin, w))
            cin = w
        self.blocks = nn.Sequential(*blocks)
        self.out_features = cin

    def forward(self, x):
        return self.blocks(x).mean(dim=(2, 3))


class TransferNet(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(
            nn.Linear(backbone.out_features, 64), nn.ReLU(), nn.Linear(64, classes)
        )

    def forward(self, x):
        return self.head(self.backbone(x))


def load_pretrained():
    """Stands for a hub download."""
    backbone = Backbone()
    for m in backbone.modules():
        if isinstance(m, nn.Conv2d):
            nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
    return backbone.eval()


def make_images(n, gen):
    labels = torch.randint(0, CLASSES, (n,), generator=gen)
    yy, xx = torch.meshgrid(torch.linspace(0, 1, SIDE), torch.linspace(0, 1, SIDE), indexing="ij")
    freq = 2.0 + 3.0 * labels.float()[:, None, None]
    wave = 0.5 + 0.5 * torch.sin(freq * (xx + 0.5 * yy) * 6.28)
    noise = 0.15 * torch.randn(n, 3, SIDE, SIDE, generator=gen)
    return wave[:, None] + noise, labels


def augment(images, gen):
    top, left = torch.randint(0, SIDE - CROP + 1, (2,), generator=gen).tolist()
    crop = images[:, :, top:top + CROP, left:left + CROP]
    if torch.rand((), generator=gen) < 0.5:
        crop = crop.flip(-1)
    return crop.contiguous(memory_format=torch.channels_last)


def train_step(model, opt, x, y):
    opt.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
    return loss.detach()


def main():
    gen = torch.Generator().manual_seed(5)
    images, labels = make_images(IMAGES, gen)
    backbone = load_pretrained()
    model = TransferNet(backbone, CLASSES)
    model = model.to(memory_format=torch.channels_last)
    opt = torch.optim.AdamW(model.head.parameters(), lr=2e-3)

    def batch():
        idx = torch.randint(0, IMAGES, (BATCH,), generator=gen)
        return augment(images[idx], gen), labels[idx]

    for _ in range(WARMUP):
        train_step(model, opt, *batch())
    losses = []
    start = time.perf_counter()
    for _ in range(STEPS):
        losses.append(train_step(model, opt, *batch()))
    elapsed = time.perf_counter() - start
    print(f"{STEPS} steps in {elapsed:.2f} s")

    losses = torch.stack(losses)
    print(f"checksum {losses.mean().item():.5f} {losses[-10:].mean().item():.5f}")


if __name__ == "__main__":
    main()
