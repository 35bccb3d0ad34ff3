"""Message passing on molecular graphs: regression of a toy solvation energy."""
import time

import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

N_BATCHES = 7
EPOCHS = 3
GRAPHS_PER_BATCH = 256
FEATURES = 16
HIDDEN = 160


def random_molecule(rng):
    n = int(rng.integers(12, 32))
    parent = [int(rng.integers(max(0, i - 3), i)) for i in range(1, n)]
    bonds = [(i + 1, p) for i, p in enumerate(parent)]
    bonds += [(int(rng.integers(n)), int(rng.integers(n))) for _ in range(int(rng.integers(1, 5)))]
    send = np.array([a for a, b in bonds] + [b for a, b in bonds], np.int32)
    recv = np.array([b for a, b in bonds] + [a for a, b in bonds], np.int32)
    kinds = rng.integers(0, FEATURES, n)
    graph = jraph.GraphsTuple(
        nodes=np.eye(FEATURES, dtype=np.float32)[kinds],
        edges=rng.uniform(0.9, 1.6, (len(send), 1)).astype(np.float32),
        senders=send, receivers=recv,
        n_node=np.array([n]), n_edge=np.array([len(send)]),
        globals=np.zeros((1, 1), np.float32),
    )
    return graph, float(np.sin(kinds).sum() / n + 0.1 * len(bonds) / n)


def collate(items):
    graph = jraph.batch_np([g for g, _ in items])
    graph = jraph.pad_with_graphs(graph, 5950, 12700, GRAPHS_PER_BATCH + 1)
    targets = np.array([t for _, t in items], np.float32)
    return graph, targets


def network(graph):
    n_graph = graph.n_node.shape[0]
    n_node = graph.nodes.shape[0]
    h = hk.Linear(HIDDEN)(graph.nodes)
    pair = jnp.concatenate([h[graph.senders], graph.edges], axis=-1)
    message = hk.Linear(HIDDEN)(jax.nn.relu(hk.Linear(HIDDEN)(pair)))
    h = h + jraph.segment_sum(message, graph.receivers, n_node)
    owner = jnp.repeat(jnp.arange(n_graph), graph.n_node, total_repeat_length=n_node)
    pooled = jraph.segment_mean(h, owner, n_graph)
    return hk.Linear(1)(jax.nn.relu(pooled))[:, 0]


def main():
    rng = np.random.default_rng(13)
    molecules = [random_molecule(rng) for _ in range(N_BATCHES * GRAPHS_PER_BATCH)]
    batches = [
        collate(molecules[i : i + GRAPHS_PER_BATCH])
        for i in range(0, len(molecules), GRAPHS_PER_BATCH)
    ]
    net = hk.without_apply_rng(hk.transform(network))
    params = net.init(jax.random.PRNGKey(0), batches[0][0])
    optimizer = optax.sgd(0.02)
    opt_state = optimizer.init(params)

    def loss_fn(params, graph, targets):
        predicted = net.apply(params, graph)[:GRAPHS_PER_BATCH]
        return jnp.mean((predicted - targets) ** 2)

    @jax.jit
    def update(params, opt_state, graph, targets):
        loss, grads = jax.value_and_grad(loss_fn)(params, graph, targets)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    jax.block_until_ready(update(params, opt_state, *batches[0]))

    start = time.perf_counter()
    losses = []
    for _ in range(EPOCHS):
        for graph, targets in batches:
            params, opt_state, loss = update(params, opt_state, graph, targets)
            losses.append(loss)
    jax.block_until_ready((params, losses))
    elapsed = time.perf_counter() - start

    print(f"{N_BATCHES * EPOCHS} steps in {elapsed:.3f} s")
    print(f"checksum {float(sum(losses)):.5f} {float(losses[-1]):.5f}")


if __name__ == "__main__":
    main()
