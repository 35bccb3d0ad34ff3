"""Small convolutional classifier of textures, trained from tensors in memory."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

SIZE = 32
CLASSES = 6


def textures(n, generator):
    """Oriented gratings with noise; the class is the orientation."""
    labels = torch.randint(0, CLASSES, (n,), generator=generator)
    angle = labels * (torch.pi / CLASSES) + 0.1 * torch.randn(n, generator=generator)
    freq = 0.5 + 0.6 * torch.rand(n, generator=generator)
    phase = 6.28 * torch.rand(n, generator=generator)
    axis = torch.arange(SIZE, dtype=torch.float32)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    arg = torch.cos(angle)[:, None, None] * x + torch.sin(angle)[:, None, None] * y
    image = torch.sin(freq[:, None, None] * arg + phase[:, None, None])
    image = image + 0.5 * torch.randn(image.shape, generator=generator)
    return image.unsqueeze(1), labels


def conv_block(c_in, c_out, stride):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(c_out),
        nn.ReLU(inplace=True),
    )


class TextureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            conv_block(1, 32, 2), conv_block(32, 64, 1), conv_block(64, 64, 2), conv_block(64, 128, 1)
        )
        self.head = nn.Linear(128, CLASSES)

    def forward(self, x):
        return self.head(self.features(x).mean(dim=(2, 3)))


def minibatches(images, labels, size, generator):
    while True:
        order = torch.randperm(labels.numel(), generator=generator)
        for index in order.split(size):
            yield images[index], labels[index]


def train_step(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


@torch.inference_mode()
def accuracy(model, images, labels):
    model.eval()
    hits = sum((model(x).argmax(-1) == y).sum() for x, y in zip(images.split(256), labels.split(256)))
    model.train()
    return hits.item() / labels.numel()


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    images, labels = textures(2048, generator)
    test_images, test_labels = textures(256, generator)
    model = TextureNet().to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, fused=True)
    stream = minibatches(images, labels, 64, generator)
    for _ in range(3):
        train_step(model, optimizer, *next(stream))

    n_steps = 120
    total = torch.zeros(())
    start = time.perf_counter()
    for i in range(1, n_steps + 1):
        total += train_step(model, optimizer, *next(stream))
        if i % 40 == 0:
            print(f"step {i}: mean loss {total.item() / i:.4f}")
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {total.item():.5f} {accuracy(model, test_images, test_labels):.4f}")


if __name__ == "__main__":
    main()
