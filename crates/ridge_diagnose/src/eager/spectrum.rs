//! Fourier transforms that another one gives for less, and convolutions that a Fourier transform gives for less.

use super::calls::{Form, LeftBy, Match, Node, Nodes, WIDTH, elements};
use crate::lengths::{FEWEST_POINTS, is_short, left_of, next_short};
use crate::pricing::Work;

/// Elements of a window that is worth transforming.
const LONG: i64 = 256;
/// Operations of a transform for each point and each halving of its length.
const TRANSFORM: f64 = 5.0;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    match node.name {
        "conv1d" => convolution(*at, node),
        name if name.starts_with("fft_") => length(*at, node).or_else(|| complex(*at, node)),
        _ => None,
    }
}

fn complex(at: usize, node: &Node<'_>) -> Option<Match> {
    let is_complex = matches!(node.name, "fft_fft" | "fft_fft2" | "fft_fftn");
    let is_real = node.types.starts_with(r#"["float""#) || node.types.starts_with(r#"["double""#);
    let array = node.arrays.first().filter(|_| is_complex && is_real)?;
    (elements(array) > 1.0).then(|| Match::by_form(REAL, vec![at], array.clone()))
}

/// A transform along one axis of a length with a large prime factor.
fn length(at: usize, node: &Node<'_>) -> Option<Match> {
    if !matches!(node.name, "fft_fft" | "fft_rfft" | "fft_ifft" | "fft_irfft") {
        return None;
    }
    // The length, the axis and the norm follow the array; what is not given is empty.
    let mut values = node.values.split('"').skip(3).step_by(2);
    let (asked, axis) = (values.next()?, values.next()?);
    let array = node.arrays.first()?;
    let axis: i64 = axis.parse().ok()?;
    let axis = usize::try_from(if axis < 0 { axis + array.len() as i64 } else { axis }).ok()?;
    // Without a length, an inverse transform to real numbers gives two for each frequency but the first.
    let all = |extent: i64| if node.name == "fft_irfft" { 2 * (extent - 1) } else { extent };
    let points = asked.parse().ok().or_else(|| u64::try_from(all(*array.get(axis)?)).ok())?;
    if points < FEWEST_POINTS || is_short(points) {
        return None;
    }
    let left = left_of(points) * next_short(points)? as f64 / points as f64;
    let form = if left < 0.3 { LENGTH_LONG } else { LENGTH };
    Some(Match::by_form(form, vec![at], vec![points as i64]))
}

/// A convolution along one axis with a window so long that transforms of signal and window cost less.
fn convolution(at: usize, node: &Node<'_>) -> Option<Match> {
    let [signal, weights, ..] = node.arrays else { return None };
    let ([.., inputs, points], [outputs, channels, taps]) = (&signal[..], &weights[..]) else { return None };
    if *taps < LONG || points < taps {
        return None;
    }
    let batch = elements(signal) / (*inputs * *points) as f64;
    let [inputs, outputs, channels] = [*inputs, *outputs, *channels].map(|extent| extent as f64);
    let padded = (points + taps) as f64;
    let transforms = batch * inputs + outputs * channels + batch * outputs;
    let plain = TRANSFORM * transforms * padded * padded.log2() + 4.0 * batch * outputs * channels * padded;
    let better = Work { plain, bytes: WIDTH * 4.0 * transforms * padded, ..Work::default() };
    let direct = 2.0 * batch * outputs * channels * (*taps * *points) as f64;
    (direct > 4.0 * plain).then(|| Match { better, ..Match::by_form(CONVOLUTION, vec![at], vec![*taps]) })
}

const REAL: Form = Form {
    does: "goes to transforming real numbers ({}) as if they were complex",
    instead: "a transform of real numbers",
    why: "half of a real signal's spectrum is the conjugate of the other half",
    help: "use `torch.fft.rfft` and `irfft` (`rfft2`, `rfftn` for several dimensions), which compute and store one half; work on the spectrum also takes half as long",
    left: LeftBy::Parts(0.4, 0.75),
};

const LENGTH: Form = Form {
    does: "goes to Fourier transforms of {} points, a length with a large prime factor",
    instead: "transforms of the next length that is a product of small primes",
    why: "the fast Fourier transform splits a length into its factors; a large prime needs a longer transform, or a pass over all pairs of points",
    help: "pad with zeros where the result allows it, as in convolutions and correlations: `torch.fft.rfft(x, n=scipy.fft.next_fast_len(len))`, or choose a length of small factors",
    left: LeftBy::Parts(0.3, 0.8),
};

const LENGTH_LONG: Form = Form { left: LeftBy::Parts(0.1, 0.6), ..LENGTH };

const CONVOLUTION: Form = Form {
    does: "goes to direct convolution with a long window of {} elements",
    instead: "a convolution by Fourier transforms",
    why: "a direct convolution takes as many multiplications for each element as the window has, a Fourier transform the logarithm of the length",
    help: "transform both with `torch.fft.rfft(x, n)` for `n` of at least both lengths together, multiply, and take `torch.fft.irfft`; `torchaudio.functional.fftconvolve` does this",
    left: LeftBy::Price,
};
