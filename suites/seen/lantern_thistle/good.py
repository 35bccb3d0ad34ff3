"""Message passing network that predicts a property of random molecules."""
import time

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

HIDDEN = 128
N_ROUNDS = 2


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(k, (a, b)) / jnp.sqrt(a), jnp.zeros(b))
        for k, a, b in zip(keys, sizes[:-1], sizes[1:])
    ]


def mlp(params, x):
    for w, b in params[:-1]:
        x = jax.nn.silu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def init_params(key, n_atom_types):
    k = jax.random.split(key, 2 + 2 * N_ROUNDS)
    return {
        "embed": jax.random.normal(k[0], (n_atom_types, HIDDEN)) * 0.3,
        "edge": [init_mlp(k[1 + 2 * i], [2 * HIDDEN + 1, HIDDEN, HIDDEN]) for i in range(N_ROUNDS)],
        "node": [init_mlp(k[2 + 2 * i], [2 * HIDDEN, HIDDEN, HIDDEN]) for i in range(N_ROUNDS)],
        "head": init_mlp(k[-1], [HIDDEN, HIDDEN, 1]),
    }


def forward(params, graph):
    graph = graph._replace(nodes=params["embed"][graph.nodes])
    for edge_p, node_p in zip(params["edge"], params["node"]):
        def update_edge(edges, senders, receivers, globals_):
            return mlp(edge_p, jnp.concatenate([senders, receivers, edges[:, :1]], -1))

        def update_node(nodes, sent, received, globals_):
            return nodes + mlp(node_p, jnp.concatenate([nodes, received], -1))

        lengths = graph.edges
        net = jraph.GraphNetwork(update_edge_fn=update_edge, update_node_fn=update_node)
        graph = net(graph)._replace(edges=lengths)
    n_graph = graph.n_node.shape[0]
    idx = jnp.repeat(jnp.arange(n_graph), graph.n_node, total_repeat_length=graph.nodes.shape[0])
    pooled = jraph.segment_mean(graph.nodes, idx, n_graph)
    return mlp(params["head"], pooled)[:, 0]


def loss_fn(params, graph, target):
    mask = jraph.get_graph_padding_mask(graph)
    return jnp.sum(mask * (forward(params, graph) - target) ** 2) / BATCH


BATCH = 12
MAX_NODES, MAX_EDGES = 400, 1152
opt = optax.adam(1e-3)


@jax.jit
def train_step(params, opt_state, graph, target):
    loss, grads = jax.value_and_grad(loss_fn)(params, graph, target)
    updates, opt_state = opt.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def random_molecule(rng):
    n = int(rng.integers(18, 40))
    pos = rng.normal(size=(n, 3)).astype(np.float32) * n ** (1 / 3) * 0.6
    dist = np.linalg.norm(pos[:, None] - pos[None], axis=-1)
    send, recv = np.nonzero((dist < 1.9) & (dist > 0))
    atoms = rng.integers(0, 6, n)
    graph = jraph.GraphsTuple(
        nodes=atoms, edges=dist[send, recv][:, None].astype(np.float32), senders=send,
        receivers=recv, n_node=np.array([n]), n_edge=np.array([len(send)]),
        globals=np.zeros((1, 1), np.float32))
    return graph, np.float32(np.mean(atoms == 2) + 0.01 * len(send) / n)


def collate(molecules):
    graphs, targets = zip(*molecules)
    graph = jraph.batch_np(graphs)
    graph = jraph.pad_with_graphs(graph, MAX_NODES, MAX_EDGES, BATCH + 1)
    return graph, np.array(targets + (np.float32(0),))


def main():
    rng = np.random.default_rng(7)
    dataset = [random_molecule(rng) for _ in range(120)]
    params = init_params(jax.random.PRNGKey(0), 6)
    opt_state = opt.init(params)
    order = rng.integers(0, len(dataset), (8, BATCH))
    batches = [collate([dataset[i] for i in row]) for row in order[:4]]
    params, opt_state, _ = train_step(params, opt_state, *batches[0])
    n_steps, losses = 60, []
    t0 = time.perf_counter()
    for step in range(n_steps):
        params, opt_state, loss = train_step(params, opt_state, *batches[1 + step % 3])
        losses.append(loss)
    losses = np.asarray(jax.block_until_ready(losses))
    t = time.perf_counter() - t0
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {losses.mean():.6f} {losses[-12:].mean():.6f}")


if __name__ == "__main__":
    main()
