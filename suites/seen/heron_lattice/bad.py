"""Graph regression with Jraph: predict a property of random small molecules.

Each graph has a different number of atoms and bonds.  One round of message
passing and a pooled readout give one number per graph; the target is a simple
function of the atom types and of the bonds between unlike atoms.
"""
import time

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

N_TYPES = 5
HIDDEN = 48
ROUNDS = 1
GRAPHS_PER_BATCH = 24
N_BATCHES = 3
MAX_ATOMS = 30


def random_molecule(rng):
    """A random tree of atoms with a few rings, as a GraphsTuple, and its target."""
    n = int(rng.integers(8, MAX_ATOMS + 1))
    types = rng.integers(0, N_TYPES, n)
    parents = np.array([rng.integers(0, i) for i in range(1, n)])
    extra = rng.integers(0, n, (int(rng.integers(0, 4)), 2))
    a = np.concatenate([parents, extra[:, 0]])
    b = np.concatenate([np.arange(1, n), extra[:, 1]])
    senders, receivers = np.concatenate([a, b]), np.concatenate([b, a])
    target = (0.3 * types.sum() + (types[a] != types[b]).sum()) / 20.0
    graph = jraph.GraphsTuple(
        nodes=np.eye(N_TYPES, dtype=np.float32)[types],
        edges=None,
        senders=senders.astype(np.int32),
        receivers=receivers.astype(np.int32),
        n_node=np.array([n], np.int32),
        n_edge=np.array([len(senders)], np.int32),
        globals=np.array([[target]], np.float32),
    )
    return graph


def make_batches(seed, count):
    """A list of batched graphs."""
    rng = np.random.default_rng(seed)
    batches = []
    for _ in range(count):
        graphs = [random_molecule(rng) for _ in range(GRAPHS_PER_BATCH)]
        batches.append(jraph.batch_np(graphs))
    return batches


def init_params(seed):
    rng = np.random.default_rng(seed)

    def dense(n_in, n_out):
        w = rng.normal(0, 1 / np.sqrt(n_in), (n_in, n_out)).astype(np.float32)
        return {"w": jnp.asarray(w), "b": jnp.zeros(n_out)}

    return {
        "embed": dense(N_TYPES, HIDDEN),
        "message": [dense(2 * HIDDEN, HIDDEN) for _ in range(ROUNDS)],
        "update": [dense(2 * HIDDEN, HIDDEN) for _ in range(ROUNDS)],
        "readout": [dense(HIDDEN, HIDDEN), dense(HIDDEN, 1)],
    }


def apply_dense(p, x):
    return x @ p["w"] + p["b"]


def predict(params, graph):
    graph = graph._replace(nodes=apply_dense(params["embed"], graph.nodes), globals=None)
    for p_msg, p_upd in zip(params["message"], params["update"]):
        net = jraph.GraphNetwork(
            update_edge_fn=lambda e, s, r, g: jax.nn.relu(
                apply_dense(p_msg, jnp.concatenate([s, r], -1))),
            update_node_fn=lambda n, s, r, g: n + jax.nn.relu(
                apply_dense(p_upd, jnp.concatenate([n, r], -1))),
        )
        graph = net(graph)._replace(edges=None)
    n_graph = graph.n_node.shape[0]
    owner = jnp.repeat(jnp.arange(n_graph), graph.n_node,
                       total_repeat_length=graph.nodes.shape[0])
    hidden = jax.nn.relu(apply_dense(params["readout"][0], graph.nodes))
    atom_energy = apply_dense(params["readout"][1], hidden)
    return jraph.segment_sum(atom_energy, owner, n_graph)


def loss_fn(params, graph):
    error = predict(params, graph) - graph.globals
    return jnp.mean(error**2)


optimizer = optax.adam(2e-3)


@jax.jit
def train_step(params, opt_state, graph):
    loss, grads = jax.value_and_grad(loss_fn)(params, graph)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    batches = make_batches(seed=3, count=N_BATCHES)
    params = init_params(seed=4)
    opt_state = optimizer.init(params)

    # warm-up with another batch
    jax.block_until_ready(train_step(params, opt_state, make_batches(5, 1)[0])[2])

    start = time.perf_counter()
    losses = []
    for graph in batches:
        params, opt_state, loss = train_step(params, opt_state, graph)
        losses.append(loss)
    jax.block_until_ready(losses)
    elapsed = time.perf_counter() - start

    print(f"{len(losses)} steps in {elapsed:.2f} s")
    print(f"checksums {float(losses[0]):.5f} {float(losses[-1]):.5f}")


if __name__ == "__main__":
    main()
