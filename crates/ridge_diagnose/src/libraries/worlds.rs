//! Simulated worlds and images: Brax, MJX, rlax, gymnasium, dm_pix, mbirjax.

use crate::library::Part;
use crate::library::Pass::Any;
use crate::library::Sign::{Frame, Host};

pub(super) static PARTS: &[Part] = &[
    Part {
        signs: &[
            Frame("brax/contact.py", ""),
            Frame("mujoco/mjx/_src/collision_driver.py", ""),
            Frame("mujoco/mjx/_src/collision_convex.py", ""),
            Frame("mujoco/mjx/_src/collision_primitive.py", ""),
            Frame("mujoco/mjx/_src/collision_sdf.py", ""),
        ],
        pass: Any,
        does: "goes to detecting collisions (MJX or Brax)",
        why: "every pair of geometries that may collide is computed in each step, whether near or not; meshes and boxes take many times as long as spheres and capsules",
        help: "exclude pairs that can't touch (`contype`, `conaffinity`, `exclude`), replace meshes by capsules or spheres, and limit contacts (`max_contact_points`, `max_geom_pairs`)",
        source: "https://mujoco.readthedocs.io/en/stable/mjx.html",
    },
    Part {
        signs: &[Host("mujoco/mjx/_src/io.py:"), Host("brax/io/image.py"), Host("mujoco/renderer.py")],
        pass: Any,
        does: "is host time for moving a simulation between MuJoCo and JAX, or rendering it (`mjx.put_data`, `get_data`)",
        why: "each call copies every field of the state, and rendering draws on the host",
        help: "call `put_model` and `put_data` once, keep `mjx.Data` on the device, and render after the rollout from saved positions, at a low frame rate",
        source: "https://mujoco.readthedocs.io/en/stable/mjx.html",
    },
    Part {
        signs: &[
            Frame("rlax/_src/multistep.py", ""),
            Frame("rlax/_src/vtrace.py", ""),
            Frame("brax/training/agents/ppo/losses.py", "compute_gae"),
        ],
        pass: Any,
        does: "goes to computing returns or advantages step by step (`rlax`'s `lambda_returns`, `vtrace`, or Brax's `compute_gae`)",
        why: "a scan goes through the time steps one by one, with little work in each",
        help: "handle many trajectories in the same scan (`jax.vmap`); on a GPU with long trajectories, write the recurrence with `jax.lax.associative_scan`",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.lax.associative_scan.html",
    },
    Part {
        signs: &[Frame("rlax/_src/episodic_memory.py", "")],
        pass: Any,
        does: "goes to distances from each query to each stored point (`rlax.knn_query`)",
        why: "the differences are taken pair by pair, not as a matrix product",
        help: "for long vectors, compute squared distances as `|x|² + |y|² - 2 x @ y.T` and use `jax.lax.top_k`; if approximate neighbors suffice, use `jax.lax.approx_min_k`",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.lax.approx_min_k.html",
    },
    Part {
        signs: &[
            Frame("rlax/_src/value_learning.py", "categorical_l2_project"),
            Frame("rlax/_src/value_learning.py", "quantile_regression_loss"),
        ],
        pass: Any,
        does: "goes to distributional losses between all pairs of atoms or quantiles (`rlax`)",
        why: "the work grows with the square of the atoms, for every value that is projected",
        help: "select the action first and project its distribution only; use fewer atoms or quantiles if learning permits",
        source: "https://rlax.readthedocs.io/en/latest/api.html",
    },
    Part {
        signs: &[
            Frame("dm_pix/_src/augment.py", "gaussian_blur"),
            Frame("dm_pix/_src/augment.py", "_depthwise_conv2d"),
        ],
        pass: Any,
        does: "goes to blurring images (`dm_pix.gaussian_blur`)",
        why: "each channel is convolved by itself, along one axis after the other, which is slow on CPUs",
        help: "use a smaller `kernel_size` (six times `sigma` suffices), blur many images in one call, and for a large `sigma` multiply in Fourier space or blur a smaller image",
        source: "https://dm-pix.readthedocs.io/en/latest/api.html",
    },
    Part {
        signs: &[Frame("dm_pix/_src/interpolation.py", "")],
        pass: Any,
        does: "goes to interpolating images at scattered coordinates (`dm_pix`: `rotate`, `affine_transform`, `elastic_deformation`)",
        why: "each result gathers its neighbors one by one, with index arithmetic for every corner",
        help: "for flips, crops and quarter turns use `flip_left_right`, `random_crop` and `rot90`; if the transformation stays the same, apply it to the whole batch in one call (channels last)",
        source: "https://dm-pix.readthedocs.io/en/latest/api.html",
    },
    Part {
        signs: &[Frame("dm_pix/_src/metrics.py", "ssim")],
        pass: Any,
        does: "goes to the structural similarity of images (`dm_pix.ssim`)",
        why: "five filtered maps are convolved row by row and column by column",
        help: "for large batches pass a `filter_fn` that filters all channels in one convolution, or measure it less often",
        source: "https://dm-pix.readthedocs.io/en/latest/api.html",
    },
    Part {
        signs: &[Frame("mbirjax/qggmrf.py", ""), Frame("mbirjax/denoising.py", "median_filter3d")],
        pass: Any,
        does: "goes to the prior of a reconstruction (`mbirjax`'s qGGMRF, or its median filter)",
        why: "each update reads the neighbors of every voxel",
        help: "if iterations change little, stop earlier (`max_iterations`, `stop_threshold_change_pct`) and start from a direct reconstruction (`init_recon`); leave out the loss of the prior (`compute_prior_loss=False`)",
        source: "https://mbirjax.readthedocs.io/en/latest/",
    },
    Part {
        signs: &[Frame("brax/generalized/", "")],
        pass: Any,
        does: "goes to simulating in generalized coordinates (Brax's `generalized` backend)",
        why: "every substep builds and solves the mass matrix and constraint Jacobians",
        help: "use the faster `backend='spring'` or `'positional'` if they are accurate enough, or `backend='mjx'` if contacts matter; in any case use fewer substeps (`n_frames`)",
        source: "https://github.com/google/brax",
    },
    Part {
        signs: &[Frame("mujoco/mjx/_src/solver.py", "")],
        pass: Any,
        does: "goes to solving for contact forces in MJX",
        why: "every iteration solves with the mass matrix, and its line search evaluates all constraints",
        help: "lower `iterations` and `ls_iterations`, use `solver=\"CG\"` or Newton with `cone=\"pyramidal\"`, and exclude impossible contacts (`contype`, `conaffinity`, `max_contact_points`)",
        source: "https://mujoco.readthedocs.io/en/stable/mjx.html",
    },
    Part {
        signs: &[Host("gymnasium/"), Host("gym/")],
        pass: Any,
        does: "is host time in the environment's Python code (`gymnasium`)",
        why: "the program steps one environment at a time, and the device waits for it",
        help: "step many environments at once (`gymnasium.make_vec`, `AsyncVectorEnv`) with one policy batch, or use an environment on the device (gymnax, Brax)",
        source: "https://gymnasium.farama.org/api/vector/",
    },
];
