"""How well a small network segments road signs: confusion matrix and overlap by class."""

import time

import torch
from torch import nn

torch.set_num_threads(1)

CLASSES, SIDE, BATCH, BATCHES = 6, 48, 8, 15


class SignNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 48, 3, padding=2, dilation=2),
            nn.ReLU(),
            nn.Conv2d(48, CLASSES, 1),
        )

    def forward(self, images):
        return self.body(images)


class Confusion:
    """Counts how often each class was taken for which."""

    def __init__(self):
        self.counts = torch.zeros(CLASSES, CLASSES, dtype=torch.long)

    def update(self, predicted, labels):
        for guess, truth in zip(predicted.flatten(), labels.flatten()):
            self.counts[truth.item(), guess.item()] += 1

    def overlap(self):
        hits = self.counts.diagonal().double()
        union = self.counts.sum(0) + self.counts.sum(1) - self.counts.diagonal()
        return hits / union.clamp(min=1)


def make_batch(generator):
    """Pictures with a sign of one class on the ground of another."""
    labels = torch.zeros(BATCH, SIDE, SIDE, dtype=torch.long)
    for picture in labels:
        top, left = torch.randint(0, SIDE // 2, (2,), generator=generator).tolist()
        kind = int(torch.randint(1, CLASSES, (), generator=generator))
        picture[top : top + SIDE // 2, left : left + SIDE // 2] = kind
    tints = torch.linspace(0.0, 1.0, CLASSES)[labels].unsqueeze(1)
    return tints + 0.3 * torch.randn((BATCH, 3, SIDE, SIDE), generator=generator), labels


@torch.inference_mode()
def evaluate(model, batches):
    confusion = Confusion()
    for images, labels in batches:
        confusion.update(model(images).argmax(dim=1), labels)
    return confusion


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = SignNet().eval()
    batches = [make_batch(generator) for _ in range(BATCHES)]
    evaluate(model, batches[:1])
    start = time.perf_counter()
    confusion = evaluate(model, batches)
    print(f"{BATCHES} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(confusion.overlap().mean()), float(confusion.counts.diagonal().sum()))


if __name__ == "__main__":
    main()
