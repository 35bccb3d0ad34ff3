//! Parts of PyTorch.

use crate::library::Part;
use crate::library::Pass::Any;
use crate::library::Sign::Host;

pub(super) static PARTS: &[Part] = &[
    Part {
        signs: &[Host("torch/jit/_trace.py"), Host("torch/jit/_script.py:script"), Host("torch/jit/_freeze.py")],
        pass: Any,
        does: "is host time for tracing or compiling a model again and again (`torch.jit.trace`, `torch.jit.script`)",
        why: "each call runs the model, records and optimizes its graph, and checks it against another run",
        help: "trace the model once when the program starts, keep the result, and only call that for each request; or use `torch.compile`, which keeps compiled code by itself",
        source: "https://docs.pytorch.org/docs/stable/generated/torch.jit.trace.html",
        is_sure: true,
    },
    Part {
        signs: &[
            Host("torch/_tensor_str.py"),
            Host("torch/_tensor.py:Tensor.__format__"),
            Host("torch/_tensor.py:Tensor.__repr__"),
        ],
        pass: Any,
        does: "is host time for formatting tensors as text (`print`, f-strings, `log.debug(f\"…\")`)",
        why: "printing a tensor reads its elements one by one, and an f-string is formatted even if the logger drops the message",
        help: "pass tensors to the logger as arguments (`log.debug(\"mean %s\", mean)`), which formats them only if the level is enabled, or guard the call with `log.isEnabledFor(logging.DEBUG)`; log only every N steps",
        source: "https://docs.python.org/3/howto/logging.html#optimization",
        is_sure: true,
    },
    Part {
        signs: &[Host("torch/distributions/multivariate_normal.py")],
        pass: Any,
        does: "goes to building multivariate normal distributions, which validates and factorizes (Cholesky) the covariance every time",
        why: "the constructor checks that each covariance in the batch is symmetric and positive definite, and factorizes it",
        help: "for a constant covariance, factorize once with `torch.linalg.cholesky`, and pass `scale_tril=` with `validate_args=False`; build a constant distribution once, outside of the loop",
        source: "https://docs.pytorch.org/docs/stable/distributions.html",
        is_sure: false,
    },
    Part {
        signs: &[Host("torch/distributions/")],
        pass: Any,
        does: "goes to building distributions and validating their arguments (`torch.distributions`)",
        why: "each constructor and `log_prob` call checks whole arrays against their constraints, and waits for the result",
        help: "pass `validate_args=False`, or call `torch.distributions.Distribution.set_default_validate_args(False)` once the program is correct; build constant distributions outside of the loop",
        source: "https://docs.pytorch.org/docs/stable/distributions.html",
        is_sure: false,
    },
    Part {
        signs: &[
            Host("torch/nn/utils/parametriz"),
            Host("torch/nn/utils/weight_norm.py"),
            Host("torch/nn/utils/spectral_norm.py"),
        ],
        pass: Any,
        does: "goes to recomputing weights from their parametrization on every access (`torch.nn.utils.parametrize`)",
        why: "every access of a parametrized (orthogonal, normalized) weight computes it from the raw weight, and the backward pass does so as often",
        help: "run the forward pass of all time steps inside `with torch.nn.utils.parametrize.cached():`, which computes each weight once per step",
        source: "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.cached.html",
        is_sure: true,
    },
    Part {
        signs: &[Host("torch/autograd/functional.py")],
        pass: Any,
        does: "goes to computing a Jacobian or Hessian row by row (`torch.autograd.functional`)",
        why: "each row is a separate backward pass, launched from Python",
        help: "pass `vectorize=True`, or use `torch.func.jacrev`, `jacfwd` or `hessian`, which compute all rows in one batch",
        source: "https://docs.pytorch.org/docs/stable/func.html",
        is_sure: true,
    },
    Part {
        signs: &[
            Host("torch/_functorch/eager_transforms.py:jac"),
            Host("torch/_functorch/eager_transforms.py:hessian"),
            Host("torch/_functorch/eager_transforms.py:_chunked_standard_basis"),
        ],
        pass: Any,
        does: "takes whole Hessians or Jacobians (`torch.func.hessian`, `jacrev`, `jacfwd`)",
        why: "each row or column is a derivative of its own, and a Hessian has as many as there are parameters",
        help: "if the matrix is only multiplied by a vector, take that product: `torch.func.jvp` or `vjp` for a Jacobian, and for a Hessian-vector product `torch.func.jvp(torch.func.grad(f), (x,), (v,))`",
        source: "https://docs.pytorch.org/docs/stable/func.html",
        is_sure: false,
    },
    Part {
        signs: &[Host("torch/optim/lbfgs.py")],
        pass: Any,
        does: "goes to L-BFGS steps (`torch.optim.LBFGS`)",
        why: "each step evaluates the loss and its gradient up to `max_iter` times, or more with a line search",
        help: "lower `max_iter` or `max_eval`, set `line_search_fn=None` if the learning rate is known, or use an optimizer with one evaluation per step (Adam)",
        source: "https://docs.pytorch.org/docs/stable/generated/torch.optim.LBFGS.html",
        is_sure: false,
    },
];
