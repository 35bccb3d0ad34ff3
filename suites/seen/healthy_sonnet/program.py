"""Character-level language model with a GRU and truncated back-propagation through time.

A long text (made by a random Markov chain) is cut into parallel streams. The state of the GRU is
carried from one chunk to the next, cut off from the graph of the earlier chunk.
"""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

VOCAB = 64
STREAMS = 32
CHUNK = 48
STEPS = 60


def make_text(streams, length, seed=71):
    """Markov chains in which every character has a few likely successors."""
    generator = torch.Generator().manual_seed(seed)
    likely = torch.randint(0, VOCAB, (VOCAB, 4), generator=generator)
    choice = torch.randint(0, 4, (length, streams), generator=generator)
    rare = torch.rand(length, streams, generator=generator) < 0.05
    other = torch.randint(0, VOCAB, (length, streams), generator=generator)
    text = torch.empty(length, streams, dtype=torch.long)
    current = torch.zeros(streams, dtype=torch.long)
    for t in range(length):
        current = torch.where(rare[t], other[t], likely[current, choice[t]])
        text[t] = current
    return text


class CharGRU(nn.Module):
    def __init__(self, embed=48, hidden=160):
        super().__init__()
        self.hidden = hidden
        self.embedding = nn.Embedding(VOCAB, embed)
        self.gru = nn.GRU(embed, hidden)
        self.output = nn.Linear(hidden, VOCAB)

    def initial_state(self, streams):
        return torch.zeros(1, streams, self.hidden)

    def forward(self, tokens, state):
        states, state = self.gru(self.embedding(tokens), state)
        return self.output(states), state


def train_step(model, optimizer, tokens, targets, state):
    """One chunk of (time, streams); returns the loss and the state for the next chunk."""
    logits, state = model(tokens, state)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach(), state.detach()


@torch.inference_mode()
def sample(model, length, seed=7):
    """Write a short text, character by character."""
    generator = torch.Generator().manual_seed(seed)
    state = model.initial_state(1)
    token = torch.zeros(1, 1, dtype=torch.long)
    written = []
    for _ in range(length):
        logits, state = model(token, state)
        token = torch.multinomial(logits[-1].softmax(dim=-1), 1, generator=generator)
        written.append(token)
    return torch.cat(written)


def main():
    torch.manual_seed(0)
    text = make_text(STREAMS, CHUNK * (STEPS + 1) + 1)
    model = CharGRU()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

    state = model.initial_state(STREAMS)
    losses = []
    for step in range(STEPS + 1):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        chunk = text[step * CHUNK : (step + 1) * CHUNK + 1]
        loss, state = train_step(model, optimizer, chunk[:-1], chunk[1:], state)
        losses.append(loss)
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    written = sample(model, 40)
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"{losses[0]:.5f} {losses[-10:].mean():.5f} {written.float().mean():.3f}")


if __name__ == "__main__":
    main()
