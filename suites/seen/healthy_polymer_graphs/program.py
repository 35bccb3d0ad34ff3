"""Glass temperature of polymers from the graphs of their molecules."""

import functools
import time

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

GRAPHS, BATCH, EPOCHS, WIDTH = 512, 64, 40, 64
NODES, EDGES = BATCH * 19 + 1, BATCH * 40


def make_graph(rng):
    """A chain with some bonds across, with both directions of each bond."""
    count = int(rng.integers(12, 24))
    chain = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
    bonds = np.concatenate([chain, rng.integers(0, count, (count // 8, 2))])
    senders, receivers = np.concatenate([bonds, bonds[:, ::-1]]).T
    atoms = rng.integers(0, 5, count)
    target = 0.1 * atoms.sum() / count + 0.05 * len(bonds) / count
    return jraph.GraphsTuple(
        nodes=np.eye(5, dtype=np.float32)[atoms],
        edges=None,
        senders=senders.astype(np.int32),
        receivers=receivers.astype(np.int32),
        n_node=np.array([count]),
        n_edge=np.array([len(senders)]),
        globals=np.array([[target]], np.float32),
    )


def make_batches(rng):
    """Batches of one size; the last graph of each is the padding."""
    batches = []
    for _ in range(GRAPHS // BATCH):
        graph = jraph.batch_np([make_graph(rng) for _ in range(BATCH)])
        batches.append(jax.device_put(jraph.pad_with_graphs(graph, NODES, EDGES, BATCH + 1)))
    return batches


def predict(params, graph):
    nodes = graph.nodes @ params["inside"]
    for layer in params["layers"]:
        gathered = jax.ops.segment_sum(nodes[graph.senders], graph.receivers, NODES)
        nodes = nodes + jax.nn.silu(gathered @ layer["near"] + nodes @ layer["own"] + layer["bias"])
    owner = jnp.repeat(jnp.arange(BATCH + 1), graph.n_node, total_repeat_length=NODES)
    total = jax.ops.segment_sum(nodes, owner, BATCH + 1)
    return (total / jnp.maximum(graph.n_node, 1)[:, None]) @ params["outside"]


def loss_fn(params, graph):
    mask = jraph.get_graph_padding_mask(graph)
    return jnp.sum(jnp.square(predict(params, graph) - graph.globals)[:, 0] * mask) / BATCH


optimizer = optax.adam(2e-3)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, opt_state, graph):
    loss, grads = jax.value_and_grad(loss_fn)(params, graph)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def make_params(rng):
    def dense(*shape):
        return jnp.asarray(rng.standard_normal(shape) / np.sqrt(shape[0]), jnp.float32)

    layers = [
        {"near": 0.5 * dense(WIDTH, WIDTH), "own": dense(WIDTH, WIDTH), "bias": jnp.zeros(WIDTH)} for _ in range(3)
    ]
    return {"inside": dense(5, WIDTH), "layers": layers, "outside": dense(WIDTH, 1)}


def main():
    rng = np.random.default_rng(0)
    batches = make_batches(rng)
    params = make_params(rng)
    opt_state = optimizer.init(params)
    params, opt_state, loss = train_step(params, opt_state, batches[0])
    loss.block_until_ready()
    start = time.perf_counter()
    losses = []
    for _ in range(EPOCHS):
        for graph in batches:
            params, opt_state, loss = train_step(params, opt_state, graph)
            losses.append(loss)
    jax.block_until_ready(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack(losses)[-8:].mean()))


if __name__ == "__main__":
    main()
