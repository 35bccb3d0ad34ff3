"""Land-cover segmentation: strided encoder, light decoder, per-pixel classes."""
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)

CLASSES = 5


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.norm = nn.GroupNorm(4, outputs)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


class Encoder(nn.Module):
    def __init__(self, bands, width=16):
        super().__init__()
        self.stage1 = Block(bands, width, stride=4)
        self.stage2 = Block(width, 2 * width, stride=2)
        self.stage3 = Block(2 * width, 4 * width, stride=2)

    def forward(self, x):
        a = self.stage1(x)
        b = self.stage2(a)
        return a, b, self.stage3(b)


class LandCoverNet(nn.Module):
    def __init__(self, bands=4, width=16, fused=64):
        super().__init__()
        self.encoder = Encoder(bands, width)
        self.lateral = nn.ModuleList(
            nn.Conv2d(channels, fused, 1) for channels in (width, 2 * width, 4 * width)
        )
        self.classifier = nn.Conv2d(fused, CLASSES, 1)

    def forward(self, images):
        a, b, c = (proj(f) for proj, f in zip(self.lateral, self.encoder(images)))
        b = b + F.interpolate(c, size=b.shape[-2:], mode="bilinear", align_corners=False)
        a = a + F.interpolate(b, size=a.shape[-2:], mode="bilinear", align_corners=False)
        scores = self.classifier(F.relu(a))
        return F.interpolate(
            scores, size=images.shape[-2:], mode="bilinear", align_corners=False
        )


def make_scenes(count, size, bands, generator):
    """Smooth random fields thresholded into classes, with class-dependent bands."""
    coarse = torch.randn(count, CLASSES, 6, 6, generator=generator)
    fields = F.interpolate(coarse, size=(size, size), mode="bicubic", align_corners=False)
    labels = fields.argmax(1)
    signature = torch.randn(CLASSES, bands, generator=generator)
    images = signature[labels].permute(0, 3, 1, 2).contiguous()
    return images + 0.4 * torch.randn(images.shape, generator=generator), labels


def train_step(model, optimizer, images, labels):
    logits = model(images)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    accuracy = (logits.detach().argmax(1) == labels).float().mean()
    return loss.detach(), accuracy


def main(steps=18, batch_size=4, size=224):
    torch.manual_seed(21)
    generator = torch.Generator().manual_seed(22)
    images, labels = make_scenes(32, size, 4, generator)
    model = LandCoverNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    train_step(model, optimizer, images[:batch_size], labels[:batch_size])
    losses, accuracies = [], []
    begin = time.perf_counter()
    for step in range(steps):
        rows = torch.randint(0, len(images), (batch_size,), generator=generator)
        loss, accuracy = train_step(model, optimizer, images[rows], labels[rows])
        losses.append(loss)
        accuracies.append(accuracy)
    elapsed = time.perf_counter() - begin

    losses = torch.stack(losses)
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}, accuracy {accuracies[-1]:.3f}")
    print(f"{steps} steps in {elapsed:.3f} s")
    weight = sum(p.detach().abs().sum() for p in model.parameters())
    print(f"checksum {losses.sum():.5f} {weight:.4f}")


if __name__ == "__main__":
    main()
