"""Self-calibration of a fisheye camera rig from noisy marker detections (Levenberg-Marquardt)."""
import time

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np

N_MARKERS = 110
N_RIGS = 200
ITERATIONS = 10

TRUE_LENS = np.array([320.0, 318.0, 310.0, 245.0, -0.05, 0.012])


def rotate(rotvec, points):
    angle = jnp.sqrt(jnp.sum(rotvec**2) + 1e-12)
    axis = rotvec / angle
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    cross = jnp.cross(axis, points)
    dot = points @ axis
    return points * cos + cross * sin + axis * dot[:, None] * (1.0 - cos)


def project(params, markers):
    """Pixel positions of the markers; params = lens (6), rotation vector (3), translation (3)."""
    lens, rotvec, shift = params[:6], params[6:9], params[9:]
    scale = jnp.array([300.0, 300.0, 300.0, 250.0, 0.1, 0.1])
    lens = lens * scale
    camera = rotate(rotvec, markers) + shift
    radius = jnp.sqrt(jnp.sum(camera[:, :2] ** 2, axis=-1) + 1e-9)
    theta = jnp.arctan2(radius, camera[:, 2])
    bent = theta * (1.0 + lens[4] * theta**2 + lens[5] * theta**4)
    direction = camera[:, :2] / radius[:, None]
    return direction * bent[:, None] * lens[:2] + lens[2:4]


def residuals(params, markers, detected):
    return ((project(params, markers) - detected) / 10.0).ravel()


def synth_rig(rng):
    markers = rng.uniform([-3, -3, 3], [3, 3, 8], size=(N_MARKERS, 3))
    lens = TRUE_LENS * (1.0 + 0.01 * rng.normal(size=6))
    pose = np.concatenate([0.1 * rng.normal(size=3), 0.2 * rng.normal(size=3)])
    scaled = np.concatenate([lens / np.array([300.0, 300.0, 300.0, 250.0, 0.1, 0.1]), pose])
    markers = jnp.asarray(markers, jnp.float32)
    detected = project(jnp.asarray(scaled, jnp.float32), markers)
    noise = 0.3 * rng.normal(size=detected.shape)
    return markers, detected + jnp.asarray(noise, jnp.float32)


class RigCalibration:
    def __init__(self, damping=1e-3):
        self.damping = damping
        self.iterate = jax.jit(self._iterate)

    def _iterate(self, params, markers, detected):
        res = residuals(params, markers, detected)
        jac = jax.jacfwd(residuals)(params, markers, detected)
        normal = jac.T @ jac
        normal = normal + self.damping * jnp.diag(jnp.diag(normal) + 1e-3)
        operator = lx.MatrixLinearOperator(normal, lx.positive_semidefinite_tag)
        delta = lx.linear_solve(operator, -jac.T @ res).value
        return params + delta, 0.5 * jnp.sum(res**2)

    def solve(self, markers, detected):
        start = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0] + [0.01] * 6, np.float32)
        params, costs = jnp.asarray(start), []
        for _ in range(ITERATIONS):
            params, cost = self.iterate(params, markers, detected)
            costs.append(cost)
        return params, jnp.stack(costs)


def main():
    rng = np.random.default_rng(31)
    rigs = [synth_rig(rng) for _ in range(N_RIGS)]
    calibration = RigCalibration()
    jax.block_until_ready(calibration.solve(*rigs[0]))

    start = time.perf_counter()
    results = jax.block_until_ready([calibration.solve(*rig) for rig in rigs])
    elapsed = time.perf_counter() - start

    final = sum(float(costs[-1]) for _, costs in results)
    lens = sum(float(jnp.sum(params[:4])) for params, _ in results)
    print(f"{N_RIGS * ITERATIONS} steps in {elapsed:.3f} s")
    print(f"checksum {final:.5f} {lens:.5f}")


if __name__ == "__main__":
    main()
