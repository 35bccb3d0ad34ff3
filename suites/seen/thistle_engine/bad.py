"""Graph network that regresses a property of molecule-like graphs of very different sizes, with jraph."""
import time

import jax
import jax.numpy as jnp
import jraph
import numpy as np

NODE, EDGE, HIDDEN, ROUNDS, BATCH = 8, 4, 48, 3, 32


def random_graph(rng):
    n = int(np.clip(rng.lognormal(2.3, 0.6), 4, 100))
    senders = rng.integers(0, n, 2 * n)
    receivers = (senders + rng.integers(1, n, 2 * n)) % n
    nodes = rng.standard_normal((n, NODE)).astype(np.float32)
    edges = rng.standard_normal((2 * n, EDGE)).astype(np.float32)
    target = np.tanh(nodes[:, 0]).mean() + 0.5 * (edges[:, 0] * nodes[senders, 1]).mean()
    return jraph.GraphsTuple(
        nodes=nodes, edges=edges, senders=senders, receivers=receivers,
        globals=np.array([[target]], np.float32),
        n_node=np.array([n]), n_edge=np.array([2 * n]))


class Loader:
    """Batches of a fixed number of graphs, padded for the compiled step."""

    def __init__(self, graphs, batch):
        self.graphs = graphs
        self.batch = batch
        self.max_nodes = max(int(g.n_node[0]) for g in graphs)
        self.max_edges = max(int(g.n_edge[0]) for g in graphs)

    def pad(self, graph):
        return jraph.pad_with_graphs(
            graph,
            n_node=self.batch * self.max_nodes + 1,
            n_edge=self.batch * self.max_edges,
            n_graph=self.batch + 1)

    def epoch(self, seed):
        order = np.random.default_rng(seed).permutation(len(self.graphs))
        for start in range(0, len(order) - self.batch + 1, self.batch):
            chosen = [self.graphs[i] for i in order[start:start + self.batch]]
            yield self.pad(jraph.batch_np(chosen))


def dense(key, a, b):
    return jax.random.normal(key, (a, b)) / jnp.sqrt(a)


def init(key):
    keys = iter(jax.random.split(key, 3 + 2 * ROUNDS))
    return {
        "embed_node": dense(next(keys), NODE, HIDDEN),
        "embed_edge": dense(next(keys), EDGE, HIDDEN),
        "edge": [dense(next(keys), 3 * HIDDEN, HIDDEN) for _ in range(ROUNDS)],
        "node": [dense(next(keys), 2 * HIDDEN, HIDDEN) for _ in range(ROUNDS)],
        "read": dense(next(keys), HIDDEN, 1),
    }


def predict(params, graph):
    graph = graph._replace(nodes=graph.nodes @ params["embed_node"],
                           edges=graph.edges @ params["embed_edge"], globals=None)
    for w_edge, w_node in zip(params["edge"], params["node"]):
        net = jraph.GraphNetwork(
            update_edge_fn=lambda e, s, r, g: e + jax.nn.relu(jnp.concatenate([e, s, r], -1) @ w_edge),
            update_node_fn=lambda n, s, r, g: n + jax.nn.relu(jnp.concatenate([n, r], -1) @ w_node))
        graph = net(graph)
    count = graph.n_node.shape[0]
    owner = jnp.repeat(jnp.arange(count), graph.n_node, total_repeat_length=graph.nodes.shape[0])
    pooled = jax.ops.segment_sum(graph.nodes, owner, count)
    return (pooled / jnp.maximum(graph.n_node, 1)[:, None]) @ params["read"]


@jax.jit
def update(params, graph):
    mask = jraph.get_graph_padding_mask(graph)

    def loss_fn(params):
        err = (predict(params, graph) - graph.globals)[:, 0]
        return jnp.sum(mask * err ** 2) / jnp.sum(mask)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), loss


def main(epochs=12):
    rng = np.random.default_rng(0)
    loader = Loader([random_graph(rng) for _ in range(800)], BATCH)
    params = init(jax.random.key(0))
    for graph in loader.epoch(seed=0):
        params, _ = update(params, graph)
    losses = []
    t0 = time.perf_counter()
    for epoch in range(1, epochs + 1):
        for graph in loader.epoch(seed=epoch):
            params, loss = update(params, graph)
            losses.append(float(loss))
    print(f"{len(losses)} steps in {time.perf_counter() - t0:.2f} s")
    print(f"checksum {np.mean(losses[:25]):.4f} {np.mean(losses[-25:]):.4f}")


if __name__ == "__main__":
    main()
