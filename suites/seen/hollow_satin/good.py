"""Graph classification of small molecules with jraph."""
import time

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

N_GRAPHS = 640
BATCH = 16
EPOCHS = 30
FEAT = 16
HIDDEN = 48


def make_molecule(rng):
    # most molecules are small, a few are polymers
    n = int(rng.integers(8, 22)) if rng.random() > 0.01 else int(rng.integers(120, 200))
    chain = np.arange(n - 1)
    extra = rng.integers(0, n, size=(2, n // 3))
    senders = np.concatenate([chain, chain + 1, extra[0], extra[1]])
    receivers = np.concatenate([chain + 1, chain, extra[1], extra[0]])
    nodes = rng.normal(size=(n, FEAT)).astype(np.float32)
    label = np.float32(nodes[:, 0].mean() + 0.05 * len(extra[0]) > 0.1)
    graph = jraph.GraphsTuple(
        nodes=nodes,
        edges=np.ones((len(senders), 1), np.float32),
        senders=senders.astype(np.int32),
        receivers=receivers.astype(np.int32),
        n_node=np.array([n], np.int32),
        n_edge=np.array([len(senders)], np.int32),
        globals=np.zeros((1, 1), np.float32),
    )
    return graph, label


def next_power_of_two(n):
    return 1 << (n - 1).bit_length()


class Dataset:
    def __init__(self, seed=5):
        rng = np.random.default_rng(seed)
        pairs = [make_molecule(rng) for _ in range(N_GRAPHS)]
        self.graphs = [p[0] for p in pairs]
        self.labels = np.array([p[1] for p in pairs], np.float32)
        self.batches = [self.make_batch(i) for i in range(0, N_GRAPHS, BATCH)]

    def make_batch(self, start):
        graph = jraph.batch_np(self.graphs[start:start + BATCH])
        padded = jraph.pad_with_graphs(
            graph,
            n_node=next_power_of_two(int(graph.n_node.sum())) + 1,
            n_edge=next_power_of_two(int(graph.n_edge.sum())),
            n_graph=BATCH + 1,
        )
        labels = np.append(self.labels[start:start + BATCH], np.float32(0))
        return padded, labels


def init_params(key):
    keys = jax.random.split(key, 4)
    def dense(k, n_in, n_out):
        return jax.random.normal(k, (n_in, n_out)) / np.sqrt(n_in)
    return {
        "embed": dense(keys[0], FEAT, HIDDEN),
        "message": dense(keys[1], HIDDEN, HIDDEN),
        "update": dense(keys[2], 2 * HIDDEN, HIDDEN),
        "readout": dense(keys[3], HIDDEN, 1),
    }


def logits_fn(params, graph):
    def update_edge(edges, sent, received, globals_):
        return jnp.tanh(sent @ params["message"]) * edges[:, :1]

    def update_node(nodes, sent, received, globals_):
        return jnp.tanh(jnp.concatenate([nodes, received], axis=1) @ params["update"])

    layer = jraph.GraphNetwork(update_edge, update_node)
    graph = graph._replace(nodes=graph.nodes @ params["embed"])
    for _ in range(2):
        graph = layer(graph)._replace(edges=graph.edges)
    n_graph = graph.n_node.shape[0]
    ids = jnp.repeat(jnp.arange(n_graph), graph.n_node, total_repeat_length=graph.nodes.shape[0])
    pooled = jraph.segment_mean(graph.nodes, ids, n_graph)
    return (pooled @ params["readout"])[:, 0]


def main():
    data = Dataset()
    optimizer = optax.adam(2e-3)

    def loss_fn(params, graph, labels):
        mask = jraph.get_graph_padding_mask(graph)
        losses = optax.sigmoid_binary_cross_entropy(logits_fn(params, graph), labels)
        return jnp.sum(losses * mask) / jnp.sum(mask)

    @jax.jit
    def step(params, opt_state, graph, labels):
        loss, grads = jax.value_and_grad(loss_fn)(params, graph, labels)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    params = init_params(jax.random.PRNGKey(0))
    opt_state = optimizer.init(params)
    for graph, labels in data.batches:
        jax.block_until_ready(step(params, opt_state, graph, labels))

    losses = []
    start = time.perf_counter()
    for _ in range(EPOCHS):
        for graph, labels in data.batches:
            params, opt_state, loss = step(params, opt_state, graph, labels)
            losses.append(loss)
    jax.block_until_ready(params)
    elapsed = time.perf_counter() - start

    print(f"{len(losses)} steps in {elapsed:.2f} s")
    print(f"checksum loss={np.mean([float(l) for l in losses]):.4f}")


if __name__ == "__main__":
    main()
