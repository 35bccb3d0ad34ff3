"""Leaf diseases from photographs: a small convolutional net in channels-last layout."""

import time

import torch
import torch.nn.functional as F
from torch import nn

SIDE = 48
DISEASES = 8
BATCH = 32


def photographs(generator, count):
    """Leaves with blotches whose colour and number depend on the disease."""
    label = torch.randint(0, DISEASES, (count,), generator=generator)
    colour = torch.nn.functional.one_hot(label % 3, 3).float()[:, :, None, None]
    axis = torch.linspace(0.0, 1.0, SIDE)
    wave = torch.sin(axis[None, :, None] * (6.0 + 3.0 * label[:, None, None]))
    image = colour * wave[:, None] + 0.6 * torch.randn(count, 3, SIDE, SIDE, generator=generator)
    return image.contiguous(memory_format=torch.channels_last), label


def stage(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.Sequential(stage(3, 24), stage(24, 48), stage(48, 96))
        self.head = nn.Linear(96, DISEASES)

    def forward(self, image):
        return self.head(self.stages(image).mean(dim=(2, 3)))


class Trainer:
    def __init__(self):
        self.model = LeafNet().to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9, fused=True)

    def step(self, image, label):
        loss = F.cross_entropy(self.model(image), label)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    @torch.inference_mode()
    def accuracy(self, image, label):
        self.model.eval()
        return (self.model(image).argmax(dim=1) == label).float().mean()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    batches = [photographs(generator, BATCH) for _ in range(42)]
    trainer = Trainer()
    trainer.step(*batches[0])

    start = time.perf_counter()
    losses = torch.stack([trainer.step(*batch) for batch in batches[1:-1]])
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.3f} {trainer.accuracy(*batches[-1]).item():.2f}")


if __name__ == "__main__":
    main()
