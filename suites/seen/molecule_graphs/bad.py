"""How well do molecules dissolve?  A message passing network over batches of small graphs."""

import time

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

FEATURES = 16
HIDDEN = 48
BATCH = 24


def random_molecule(rng):
    """A chain of atoms with a few rings, every bond in both directions."""
    atoms = int(rng.integers(8, 30))
    chain = np.stack([np.arange(atoms - 1), np.arange(1, atoms)])
    rings = rng.integers(0, atoms, size=(2, int(rng.integers(0, 5))))
    bonds = np.concatenate([chain, rings], axis=1)
    nodes = rng.normal(size=(atoms, FEATURES)).astype(np.float32)
    solubility = nodes[:, :4].sum(axis=1).mean() + 0.1 * rings.shape[1]
    return jraph.GraphsTuple(
        nodes=nodes,
        edges=np.ones((2 * bonds.shape[1], 1), np.float32),
        senders=np.concatenate([bonds[0], bonds[1]]).astype(np.int32),
        receivers=np.concatenate([bonds[1], bonds[0]]).astype(np.int32),
        globals=np.array([[solubility]], np.float32),
        n_node=np.array([atoms]),
        n_edge=np.array([2 * bonds.shape[1]]),
    )


def batches(molecules):
    for first in range(0, len(molecules), BATCH):
        yield jraph.batch_np(molecules[first : first + BATCH])


def init_params(key, rounds=2):
    sizes = {"embed": (FEATURES, HIDDEN), "read": (HIDDEN, 1)}
    for r in range(rounds):
        sizes[f"message{r}"] = (HIDDEN, HIDDEN)
        sizes[f"update{r}"] = (2 * HIDDEN, HIDDEN)
    keys = jax.random.split(key, len(sizes))
    return {n: jax.random.normal(k, s) / s[0] ** 0.5 for k, (n, s) in zip(keys, sizes.items())}


def predict(params, graph, rounds=2):
    count, graphs = graph.nodes.shape[0], graph.n_node.shape[0]
    h = jnp.tanh(graph.nodes @ params["embed"])
    for r in range(rounds):
        messages = jax.nn.relu(h @ params[f"message{r}"])[graph.senders] * graph.edges
        inbox = jraph.segment_sum(messages, graph.receivers, count)
        h = h + jnp.tanh(jnp.concatenate([h, inbox], axis=1) @ params[f"update{r}"])
    owner = jnp.repeat(jnp.arange(graphs), graph.n_node, total_repeat_length=count)
    return jraph.segment_mean(h @ params["read"], owner, graphs)


def loss_fn(params, graph):
    error = predict(params, graph) - graph.globals
    return jnp.mean(error**2)


OPTIMIZER = optax.adam(2e-3)


@jax.jit
def train_step(params, state, graph):
    loss, grads = jax.value_and_grad(loss_fn)(params, graph)
    updates, state = OPTIMIZER.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


def main():
    rng = np.random.default_rng(5)
    molecules = [random_molecule(rng) for _ in range(14 * BATCH)]
    params = init_params(jax.random.PRNGKey(0))
    state = OPTIMIZER.init(params)
    first = next(batches(molecules))
    jax.block_until_ready(train_step(params, state, first))

    start = time.perf_counter()
    losses = []
    for graph in batches(molecules):
        params, state, loss = train_step(params, state, graph)
        losses.append(loss)
    losses = jnp.stack(losses)
    mean = float(losses.mean())
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {mean:.5f} {float(losses[-4:].mean()):.5f}")


if __name__ == "__main__":
    main()
