"""Folk-tune writer: a character LSTM continues a batch of melodies in ABC-like notation."""
import time

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

STEPS = 15
BATCH = 32
VOCAB = 48
HIDDEN = 192
PROMPT = 8
LENGTH = 32


class TuneModel(hk.Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.embed = hk.Embed(VOCAB, HIDDEN)
        self.core = hk.DeepRNN([hk.LSTM(HIDDEN), hk.LSTM(HIDDEN)])
        self.head = hk.Linear(VOCAB)

    def initial_state(self, batch):
        return self.core.initial_state(batch)

    def __call__(self, tokens, state):
        """tokens [time, batch] -> logits [time, batch, vocab] and the last state."""
        hidden, state = hk.dynamic_unroll(self.core, self.embed(tokens), state)
        return self.head(hidden), state


def score_melody(tokens, state=None):
    model = TuneModel()
    if state is None:
        state = model.initial_state(tokens.shape[1])
    return model(tokens, state)


network = hk.without_apply_rng(hk.transform(score_melody))


def pick(key, logits):
    return jax.random.categorical(key, 2.0 * logits, axis=-1)


@jax.jit
def continue_tunes(params, prompt, key):
    """Append LENGTH notes to every melody of the batch."""
    logits, state = network.apply(params, prompt)

    def write_note(carry, key):
        logits, state = carry
        note = pick(key, logits)
        logits, state = network.apply(params, note[None], state)
        return (logits[0], state), note

    keys = jax.random.split(key, LENGTH)
    _, notes = jax.lax.scan(write_note, (logits[-1], state), keys)
    return notes


def make_prompts(count, seed=9):
    rng = np.random.default_rng(seed)
    return jnp.asarray(rng.integers(0, VOCAB, size=(count, PROMPT, BATCH)))


def main():
    prompts = make_prompts(STEPS + 1)
    params = network.init(jax.random.key(0), prompts[0])
    keys = jax.random.split(jax.random.key(1), STEPS + 1)

    continue_tunes(params, prompts[0], keys[0]).block_until_ready()

    start = time.perf_counter()
    tunes = []
    for prompt, key in zip(prompts[1:], keys[1:]):
        tunes.append(continue_tunes(params, prompt, key))
    notes = jnp.stack(tunes)
    notes.block_until_ready()
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    notes = np.asarray(notes)
    print(f"checksum {notes.mean():.4f} {notes.std():.4f} {notes[-1].mean():.4f}")


if __name__ == "__main__":
    main()
