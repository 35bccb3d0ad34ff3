"""MBIRJAX: every projector, filter, reconstruction, weight, denoiser and partition that a user calls.

An N^3 volume is scanned with N views on an N x N detector, by a parallel beam and by a cone beam.
Operations are called the way a user calls them: with default arguments, taking and returning what the public API does,
so a gather of the result to the host is part of the time.
`mbir_recon` runs exactly one iteration; the proximal map and the denoiser iterate as they do by default.

`parallel_` and `cone_` hold 11 operations each; the rest are the two weights, the denoiser, the median filter and the
three ways to partition the pixels: 29 rows.
"""

import mbirjax as mj  # Before jax: mbirjax chooses the number of CPU devices at its import.
import jax
import jax.numpy as jnp
import numpy as np

from ridgeline.suite import Suite

suite = Suite("mbirjax", sizes=(32, 64, 128, 256))
suite.variant("no_pallas", env={"MBIRJAX_DISABLE_PALLAS": "1"})
suite.variant("one_cpu_device", env={"MBIRJAX_NUM_CPU_DEVICES": "1"})

BEAMS = ("parallel", "cone")
QUIET = {"logfile_path": "", "print_logs": False}
ONE_ITERATION = {"max_iterations": 1, "stop_threshold_change_pct": 0}
SUBSETS = 8  # A sparse projection updates one of this many pixel subsets.


@suite.before_each
def same_partitions_every_run():
    np.random.seed(0)


@suite.fixture(families=BEAMS)
def model(family, size):
    views = jnp.linspace(0, np.pi if family == "parallel" else 2 * np.pi, size, endpoint=False)
    shape = (size, size, size)
    if family == "parallel":
        made = mj.ParallelBeamModel(shape, views)
    else:
        made = mj.ConeBeamModel(shape, views, source_detector_dist=4.0 * size, source_iso_dist=2.0 * size)
    made.set_params(no_warning=True, verbose=0)
    return made


@suite.fixture(families=BEAMS)
def volume(model):
    return np.asarray(mj.generate_3d_shepp_logan_low_dynamic_range(model.get_params("recon_shape")))


@suite.fixture(families=BEAMS)
def sinogram(model, volume):
    return model.forward_project(volume)


@suite.fixture(families=BEAMS)
def weights(sinogram):
    return mj.gen_weights(sinogram, "transmission")


@suite.fixture(families=BEAMS)
def pixels(model):
    np.random.seed(0)
    return mj.gen_pixel_partition(model.get_params("recon_shape"), SUBSETS)[0]


@suite.fixture(families=BEAMS)
def cylinders(model, volume, pixels):
    return model.get_voxels_at_indices(jnp.asarray(volume), pixels)


@suite.fixture
def noisy_volume(size):
    clean = np.asarray(mj.generate_3d_shepp_logan_low_dynamic_range((size, size, size)))
    return clean + 0.05 * np.random.default_rng(0).standard_normal(clean.shape, dtype=np.float32)


@suite.fixture
def device_volume(noisy_volume):
    return jnp.asarray(noisy_volume)


@suite.fixture
def denoiser(size):
    return mj.QGGMRFDenoiser((size, size, size))


@suite.operation(families=BEAMS)
def forward_project(model, volume):
    return model.forward_project(volume)


@suite.operation(families=BEAMS)
def back_project(model, sinogram):
    return model.back_project(sinogram)


@suite.operation(families=BEAMS)
def sparse_forward_project(model, cylinders, pixels):
    return model.sparse_forward_project(cylinders, pixels)


@suite.operation(families=BEAMS)
def sparse_back_project(model, sinogram, pixels):
    return model.sparse_back_project(sinogram, pixels)


@suite.operation(families=BEAMS)
def hessian_diagonal(model, weights):
    return model.compute_hessian_diagonal(weights)


@suite.operation(families=BEAMS)
def direct_filter(model, sinogram):
    return model.direct_filter(sinogram)


@suite.operation(families=BEAMS)
def direct_recon(model, sinogram):
    return model.direct_recon(sinogram)


@suite.operation
def parallel_fbp_filter(parallel_model, parallel_sinogram):
    return parallel_model.fbp_filter(parallel_sinogram)


@suite.operation
def parallel_fbp_recon(parallel_model, parallel_sinogram):
    return parallel_model.fbp_recon(parallel_sinogram)


@suite.operation
def cone_fdk_filter(cone_model, cone_sinogram):
    return cone_model.fdk_filter(cone_sinogram)


@suite.operation
def cone_fdk_recon(cone_model, cone_sinogram):
    return cone_model.fdk_recon(cone_sinogram)


@suite.operation(families=BEAMS)
def mbir_recon(model, sinogram, weights):
    return model.recon(sinogram, weights, **ONE_ITERATION, **QUIET)[0]


@suite.operation(families=BEAMS)
def prox_map(model, volume, sinogram, weights):
    return model.prox_map(volume, sinogram, weights=weights, **QUIET)[0]


@suite.operation
def gen_weights(parallel_sinogram):
    return mj.gen_weights(jnp.asarray(parallel_sinogram), "transmission")


@suite.operation
def gen_weights_mar(cone_model, cone_sinogram, cone_volume):
    return mj.gen_weights_mar(cone_model, jnp.asarray(cone_sinogram), init_recon=jnp.asarray(cone_volume))


@suite.operation
def denoise(denoiser, noisy_volume):
    return denoiser.denoise(noisy_volume, sigma_noise=0.05, **QUIET)[0]


@suite.operation
def median_filter3d(device_volume):
    return mj.median_filter3d(device_volume)


@suite.operation
def gen_pixel_partition(size):
    return mj.gen_pixel_partition((size, size, size), SUBSETS)


@suite.operation
def gen_pixel_partition_grid(size):
    return mj.gen_pixel_partition_grid((size, size, size), SUBSETS)


@suite.operation
def gen_pixel_partition_blue_noise(size):
    return mj.gen_pixel_partition_blue_noise((size, size, size), SUBSETS)
