//! Complex Fourier transforms of real numbers.

use super::calls::{Form, LeftBy, Match, Nodes, elements};
use crate::pricing::Work;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let is_complex = matches!(node.name, "fft_fft" | "fft_fft2" | "fft_fftn");
    let is_real = node.types.starts_with(r#"["float""#) || node.types.starts_with(r#"["double""#);
    let array = node.arrays.first().filter(|_| is_complex && is_real)?;
    (elements(array) > 1.0).then(|| Match {
        form: REAL,
        calls: vec![*at],
        better: Work::default(),
        now: Work::default(),
        large: array.clone(),
    })
}

const REAL: Form = Form {
    does: "goes to transforming real numbers ({}) as if they were complex",
    instead: "a transform of real numbers",
    why: "half of a real signal's spectrum is the conjugate of the other half",
    help: "use `torch.fft.rfft` and `irfft` (`rfft2`, `rfftn` for several dimensions), which compute and store one half; work on the spectrum also takes half as long",
    left: LeftBy::Parts(0.4, 0.75),
};
