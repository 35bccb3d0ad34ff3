//! Windows that are cut out of an array to add them up or to multiply them, and images that are enlarged too early.

use super::calls::{Form, LeftBy, Match, Nodes, elements, later};

/// Elements of a window from which on another form is worth it.
const WIDE: i64 = 24;
/// Times by which an image is larger, from which on the order is worth it.
const LARGER: f64 = 2.0;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (_, node) = rest.first()?;
    match node.name {
        "unfold" => sums(rest),
        "im2col" => patches(rest),
        name if name.starts_with("upsample_") => enlarged(rest),
        _ => None,
    }
}

/// Windows along one axis that are only added up.
fn sums(rest: &Nodes<'_>) -> Option<Match> {
    let (_, node) = rest.first()?;
    let array = node.arrays.first()?;
    let (at, next) = later(rest).next()?;
    let windows = next.arrays.first()?;
    let width = *windows.last().filter(|width| **width >= WIDE)?;
    let is_of_it = windows.len() == array.len() + 1 && elements(windows) > 8.0 * elements(array);
    let is_sum =
        matches!(next.name, "sum" | "mean") && next.values.split('"').nth(3).is_some_and(|axis| axis == "[-1]");
    (is_sum && is_of_it).then(|| Match::by_form(SUMS, vec![*at], vec![width]))
}

/// Patches of an image that are written out for a product of matrices.
fn patches(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let image = elements(node.arrays.first()?);
    let (product_at, next) = later(rest).find(|(_, next)| next.name != "contiguous" && next.name != "clone")?;
    let product = next.product?;
    let written = (product.batch * product.m * product.k).max(product.batch * product.k * product.n);
    (written >= 4.0 * image).then(|| Match::by_form(PATCHES, vec![*at, *product_at], vec![written as i64]))
}

/// Images that are enlarged before each of their points is multiplied by a matrix that gives fewer channels.
fn enlarged(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let [batch, channels, ref small @ ..] = node.arrays.first()?[..] else { return None };
    let (next_at, next) = later(rest).next()?;
    let [image, weights, ..] = next.arrays else { return None };
    let ([_, inputs, large @ ..], [outputs, _, window @ ..]) = (&image[..], &weights[..]) else { return None };
    let larger = elements(large) / elements(small);
    let is_it = matches!(next.name, "conv2d" | "conv1d" | "conv3d")
        && image[0] == batch
        && *inputs == channels
        && window.iter().all(|extent| *extent == 1)
        && larger >= LARGER
        && 2 * outputs <= channels;
    let (fewer, rest) = (*outputs as f64 / channels as f64, 1.0 / larger);
    is_it.then(|| {
        Match::by_form(
            Form { left: LeftBy::Parts(fewer.min(rest), (fewer + rest + 0.2).min(0.9)), ..ENLARGED },
            vec![*at, *next_at],
            image.clone(),
        )
    })
}

const SUMS: Form = Form {
    does: "goes to adding up every window of {} elements separately",
    instead: "differences of a running sum",
    why: "neighboring windows share all but two elements, and each window adds all of its own again",
    help: "take differences of `torch.cumsum(x, -1)`, in double precision where sums are long, or `torch.nn.functional.avg_pool1d(x, k, stride=1)` for narrow windows",
    left: LeftBy::Parts(0.05, 0.5),
};

const PATCHES: Form = Form {
    does: "goes to writing out all patches of an image ({} elements) to multiply them by a matrix",
    instead: "a convolution",
    why: "each element is written as often as there are patches with it, and a convolution reads it where it is",
    help: "use `torch.nn.functional.conv2d` with the matrix reshaped to filters",
    left: LeftBy::Parts(0.1, 0.7),
};

const ENLARGED: Form = Form {
    does: "goes to upsampling feature maps to {} before a 1 × 1 convolution to fewer channels",
    instead: "the convolution at low resolution, and then upsampling its result",
    why: "interpolation works on each channel and a 1 × 1 convolution on each point, so their order doesn't change the result, but the number of channels and points that each works on",
    help: "apply the 1 × 1 convolution (the classifier) first, and `torch.nn.functional.interpolate` to its logits",
    left: LeftBy::Parts(0.1, 0.5),
};
