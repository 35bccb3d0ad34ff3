"""Character-level language model: a GRU trained on text from a small random grammar."""
import time

import torch
from torch import nn

torch.set_num_threads(1)

SYLLABLES = ["ka", "ri", "to", "mu", "sen", "lor", "pi", "dan", "ve", "os"]


def make_text(words, generator):
    """Words of two to four syllables, each syllable depending on the one before."""
    count = len(SYLLABLES)
    table = torch.softmax(2.0 * torch.randn(count, count, generator=generator), dim=1)
    states = torch.randint(0, count, (words,), generator=generator)
    lengths = torch.randint(2, 5, (words,), generator=generator)
    columns = [states]
    for _ in range(3):
        states = torch.multinomial(table[states], 1, generator=generator).squeeze(1)
        columns.append(states)
    rows = torch.stack(columns, dim=1).tolist()
    return " ".join("".join(SYLLABLES[i] for i in row[:n]) for row, n in zip(rows, lengths.tolist()))


class CharModel(nn.Module):
    def __init__(self, vocabulary, width=48, hidden=160):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, hidden, batch_first=True)
        self.head = nn.Linear(hidden, vocabulary)

    def forward(self, tokens, state=None):
        output, state = self.rnn(self.embed(tokens), state)
        return self.head(output), state


def epochs(data, batch, length):
    """Contiguous streams, cut into chunks for truncated backpropagation."""
    usable = (len(data) - 1) // batch * batch
    source = data[:usable].view(batch, -1)
    target = data[1:usable + 1].view(batch, -1)
    while True:
        for start in range(0, source.shape[1] - length, length):
            yield start == 0, source[:, start:start + length], target[:, start:start + length]


def train_step(model, optimizer, source, target, state):
    logits, state = model(source, state)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach(), state.detach()


def main(steps=70):
    torch.manual_seed(0)
    text = make_text(30000, torch.Generator().manual_seed(0))
    symbols = sorted(set(text))
    lookup = {symbol: i for i, symbol in enumerate(symbols)}
    data = torch.tensor([lookup[symbol] for symbol in text])
    model = CharModel(len(symbols))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, fused=True)
    stream = epochs(data, batch=64, length=64)

    state, losses = None, []
    for step in range(steps + 3):
        if step == 3:
            begin = time.perf_counter()
        fresh, source, target = next(stream)
        loss, state = train_step(model, optimizer, source, target, None if fresh else state)
        losses.append(loss)
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.3f}")
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    losses = torch.stack(losses)
    print(f"checksum {losses.mean().item():.4f} {losses[-20:].mean().item():.4f}")


if __name__ == "__main__":
    main()
