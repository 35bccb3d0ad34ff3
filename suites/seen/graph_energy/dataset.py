"""Random molecules as jraph graphs: atoms near each other are joined."""

import jraph
import numpy as np


def molecule(rng):
    atoms = int(rng.integers(8, 30))
    position = rng.normal(size=(atoms, 3)) * 1.6
    gap = np.linalg.norm(position[:, None] - position[None], axis=-1)
    senders, receivers = np.nonzero((gap < 2.0) & (gap > 0))
    species = rng.integers(0, 4, atoms)
    nodes = np.eye(4, dtype=np.float32)[species]
    edges = gap[senders, receivers][:, None].astype(np.float32)
    energy = np.float32(np.exp(-edges).sum() / atoms + species.mean())
    return jraph.GraphsTuple(
        nodes=nodes,
        edges=edges,
        senders=senders.astype(np.int32),
        receivers=receivers.astype(np.int32),
        globals=np.array([[energy]], np.float32),
        n_node=np.array([atoms], np.int32),
        n_edge=np.array([len(senders)], np.int32),
    )


def molecules(count, seed):
    rng = np.random.default_rng(seed)
    return [molecule(rng) for _ in range(count)]
