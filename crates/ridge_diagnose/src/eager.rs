//! Calls of PyTorch's operators that another form gives for less, told by their order and the sizes of their arguments.
//!
//! A trace does not say which array a call reads. An array that is much larger than others is known again by its number of
//! elements, however it is viewed, as long as no other of that size was made in between; patterns rest on such arrays alone.

use crate::case::Case;
use crate::operator_calls::{OperatorCall, is_view};
use crate::pricing::{Left, Rates, Work};
use calls::{Form, LeftBy, Match, Node, Nodes, Product, elements};
use ridge_hlo::ElementType;
use ridge_trace::NONE;
use rustc_hash::{FxHashMap, FxHashSet};

mod calls;
mod chain;
mod composed;
mod diagonal;
mod dropped;
mod elementwise;
mod expanded;
mod factors;
mod low_rank;
mod pairwise;
mod selection;
mod singular;
mod spectrum;
mod structured;
mod types;
mod windows;

/// Calls after one that makes an array in which those that read it are looked for.
const REACH: usize = 32;

/// A better form with its price, over all of its places.
pub(crate) struct PricedCalls {
    pub(crate) does: String,
    pub(crate) instead: &'static str,
    pub(crate) why: &'static str,
    pub(crate) help: &'static str,
    /// Positions of the calls that would go, with those for their gradients.
    pub(crate) calls: Vec<usize>,
    /// The one that takes most, of those that the program calls.
    pub(crate) at: usize,
    /// The part of their time that would be left.
    pub(crate) left: Left,
}

/// The better forms that save at least `least` of the judged time, what saves most first.
pub(crate) fn better_calls(case: &Case<'_>, least: f64) -> Vec<PricedCalls> {
    let trace = case.trace();
    if trace.operator_shapes.is_empty() {
        return Vec::new();
    }
    let (all, is_on_processors) = (&case.operator_calls().calls, case.is_on_processors());
    let mut read: FxHashMap<u32, Vec<Vec<i64>>> = FxHashMap::default();
    let details = all.iter().flat_map(OperatorCall::rows).map(|row| trace.events.detail[row as usize]);
    for detail in details.filter(|detail| *detail != NONE) {
        read.entry(detail).or_insert_with(|| case.extents_at(detail));
    }
    let mut forms: FxHashMap<&'static str, (Form, Places)> = FxHashMap::default();
    for process in all.chunk_by(|one, next| one.process == next.process) {
        let first = all.partition_point(|call| call.process < process[0].process);
        let nodes: Vec<(usize, Node<'_>)> = process
            .iter()
            .enumerate()
            .filter(|(_, call)| !call.is_backward)
            .map(|(at, call)| (first + at, node(case, call, &read)))
            .collect();
        let near = (0..nodes.len()).flat_map(|at| found(&nodes[at..nodes.len().min(at + REACH)]));
        let slow_types = (0..nodes.len()).filter(|_| is_on_processors).filter_map(|at| types::find(&nodes[at..]));
        for one in near.chain(structured::kronecker(&nodes)).chain(slow_types) {
            let (_, places) = forms.entry(one.form.does).or_insert_with(|| (one.form, Places::default()));
            places.calls.extend(one.calls);
            places.better = places.better.plus(one.better);
            places.now = places.now.plus(one.now);
            if elements(&one.large) > elements(&places.large) {
                places.large = one.large;
            }
        }
    }
    let mut found: Vec<PricedCalls> =
        forms.into_values().filter_map(|(form, places)| priced(case, form, places)).collect();
    let saved = |one: &PricedCalls| {
        case.share_of(case.claim_of_calls(one.calls.iter().copied(), 1.0 - (one.left.least + one.left.most) / 2.0))
    };
    found.retain(|one| saved(one) >= least);
    found.sort_by(|a, b| saved(b).total_cmp(&saved(a)).then_with(|| a.does.cmp(&b.does)));
    found
}

/// What the patterns find at the first of some calls.
fn found(rest: &Nodes<'_>) -> Vec<Match> {
    let all = [
        pairwise::find(rest),
        chain::find(rest),
        singular::find(rest),
        structured::find(rest),
        spectrum::find(rest),
        selection::find(rest),
        diagonal::find(rest),
        factors::find(rest),
        windows::find(rest),
        elementwise::find(rest),
        composed::find(rest),
        dropped::find(rest),
        low_rank::find(rest),
        expanded::find(rest),
    ];
    all.into_iter().flatten().collect()
}

fn node<'a>(case: &Case<'a>, call: &OperatorCall, read: &'a FxHashMap<u32, Vec<Vec<i64>>>) -> Node<'a> {
    let trace = case.trace();
    let name = |id: u32| trace.strings.get(ridge_trace::StringId(id)).strip_prefix("aten::").unwrap_or_default();
    let arrays = |detail: u32| read.get(&detail).map_or(&[][..], Vec::as_slice);
    // A product that broadcasts or is written as a sum over indices calls the one that multiplies.
    let product = call.rows().find_map(|row| {
        let (id, detail) = (trace.events.name[row as usize], trace.events.detail[row as usize]);
        Product::of(name(id), arrays(detail))
    });
    let shape = trace.operator_shapes.get(call.detail as usize);
    Node {
        name: name(call.name.0),
        arrays: arrays(call.detail),
        dims: shape.map_or("", |shape| trace.strings.get(shape.dims)),
        strides: shape.map_or("", |shape| trace.strings.get(shape.strides)),
        values: shape.map_or("", |shape| trace.strings.get(shape.values)),
        types: shape.map_or("", |shape| trace.strings.get(shape.types)),
        is_view: is_view(trace.strings.get(call.name)),
        product,
        is_known: call.detail != NONE,
    }
}

/// All places of one form: their calls, what would take their place, and the sizes of the largest array that would not be made.
#[derive(Default)]
struct Places {
    calls: Vec<usize>,
    better: Work,
    now: Work,
    large: Vec<i64>,
}

/// The form with what its calls take and would take; `None` where it costs as much.
fn priced(case: &Case<'_>, form: Form, places: Places) -> Option<PricedCalls> {
    let Places { mut calls, better, now, large } = places;
    calls.sort_unstable();
    calls.dedup();
    let (trace, all) = (case.trace(), case.operator_calls());
    let ns = |at: usize| all.work_of(at).fold(0_i64, |sum, (_, ns)| sum.saturating_add(ns));
    let forward: i64 = calls.iter().map(|at| ns(*at)).sum();
    let counted: f64 = calls.iter().map(|at| case.price_of_call(&all.calls[*at])).sum();
    let at = calls.iter().copied().max_by_key(|at| (ns(*at), std::cmp::Reverse(*at)))?;
    // The gradients of those calls go with them, and take as much of their time as the calls themselves do.
    let rows: FxHashSet<u32> = calls.iter().flat_map(|at| all.calls[*at].rows()).collect();
    let backward: FxHashSet<u32> =
        trace.backwards.iter().filter(|link| rows.contains(&link.forward)).map(|link| link.event).collect();
    let gradients = all.calls.iter().enumerate().filter(|(_, call)| call.is_backward && backward.contains(&call.row));
    calls.extend(gradients.map(|(at, _)| at));
    let device = case.breakdown().devices.first()?.device;
    let rates = Rates::of(case, device, ElementType::F32)?;
    let after = rates.ns(better);
    let left = match form.left {
        LeftBy::Price => Left::of(forward as f64, counted + rates.ns(now), after)?,
        LeftBy::OwnPrice => Left::near(forward as f64, after)?,
        LeftBy::Parts(least, most) => Left { least, most },
    };
    let Form { instead, why, help, .. } = form;
    let sizes: Vec<String> = large.iter().map(i64::to_string).collect();
    let does = form.does.replace("{}", &sizes.join(" × "));
    (left.most < SURE).then_some(PricedCalls { does, instead, why, help, calls, at, left })
}

/// Above this part of what it takes now, a better form is not sure to be one.
const SURE: f64 = 0.85;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator_calls::extents;

    /// What the patterns find at the first of some calls: each a name, the sizes of its arrays and its other arguments.
    fn forms(calls: &[(&str, &str, &str)]) -> String {
        let read: Vec<Vec<Vec<i64>>> = calls.iter().map(|(_, dims, _)| extents(dims)).collect();
        let nodes: Vec<(usize, Node<'_>)> = calls
            .iter()
            .zip(&read)
            .map(|((name, _, values), arrays)| Node {
                name,
                arrays,
                dims: "",
                strides: "",
                values,
                types: r#"["float"]"#,
                is_view: is_view(&format!("aten::{name}")),
                product: Product::of(if *name == "matmul" { "bmm" } else { name }, arrays),
                is_known: true,
            })
            .enumerate()
            .collect();
        let all = found(&nodes).into_iter().chain(structured::kronecker(&nodes));
        let texts = all.map(|one| format!("{} in {:?}", one.form.instead, one.calls));
        texts.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn results_of_which_a_part_is_read() {
        let head = ("linear", "[[16, 80, 256], [9000, 256], [9000]]", "");
        let last = ("select", "[[16, 80, 9000], [], []]", "");
        let largest = ("argmax", "[[16, 9000], [], []]", "");
        assert_eq!(forms(&[head, last, largest]), "selecting that part first in [0]");
        // What is computed of all of them, and a part that is most of them.
        assert_eq!(forms(&[head, ("softmax", "[[16, 80, 9000], [], []]", ""), last, largest]), "");
        let most = ("slice", "[[16, 80, 9000], [], [], [], []]", "");
        assert_eq!(forms(&[head, most, ("argmax", "[[16, 79, 9000], [], []]", "")]), "");
        let convolution = ("conv2d", "[[8, 3, 64, 64], [32, 3, 3, 3], [32]]", "");
        let every = |rows: &'static str| ("slice", rows, "");
        let strided =
            [convolution, every("[[8, 32, 64, 64]]"), every("[[8, 32, 32, 64]]"), ("relu", "[[8, 32, 32, 32]]", "")];
        assert_eq!(forms(&strided), "selecting that part first in [0]");
    }

    #[test]
    fn rows_of_an_embedding_that_are_averaged() {
        let rows = ("embedding", "[[50000, 128], [64, 256]]", "");
        let mean = ("mean", "[[64, 256, 128], [], [], []]", "");
        assert_eq!(forms(&[rows, mean]), "`nn.EmbeddingBag` in [0, 1]");
        assert_eq!(forms(&[rows, mean, ("pow", "[[64, 256, 128], []]", "")]), "");
        assert_eq!(forms(&[rows, ("mul", "[[64, 256, 128], [64, 256, 1]]", ""), mean]), "");
    }

    #[test]
    fn matrices_of_low_rank_that_are_written_out() {
        let product = |sizes: &'static str| ("mm", sizes, "");
        let scaled = ("mul", "[[1280, 1280], []]", "");
        let merged = ("add", "[[1280, 1280], [1280, 1280], []]", "");
        let layer = ("linear", "[[32, 1280], [1280, 1280], []]", "");
        let all = |first: (&'static str, &'static str, &'static str)| forms(&[first, scaled, merged, layer]);
        assert_eq!(all(product("[[1280, 8], [8, 1280]]")), "multiplying the rows by each factor in turn in [0, 1, 2]");
        assert_eq!(all(product("[[1280, 640], [640, 1280]]")), "");
        let sum = ("add", "[[450, 450], [450, 450], []]", "");
        let factor = ("linalg_cholesky_ex", "[[450, 450], [], []]", "");
        let gram = product("[[450, 4], [4, 450]]");
        assert_eq!(forms(&[gram, sum, factor]), "a factorization of the small matrix in [0, 1, 2]");
        assert_eq!(forms(&[product("[[450, 400], [400, 450]]"), sum, factor]), "");
    }

    #[test]
    fn differences_of_all_pairs() {
        let difference = ("sub", "[[900, 1, 48], [1, 64, 48], []]", "");
        let square = ("pow", "[[900, 64, 48], []]", "");
        let sum = ("sum", "[[900, 64, 48], [], []]", r#"["", "[-1]", "False", ""]"#);
        assert_eq!(forms(&[difference, square, sum]), "a product of matrices in [0, 1, 2]");
        assert_eq!(
            forms(&[difference, ("linalg_vector_norm", "[[900, 64, 48], []]", "")]),
            "a product of matrices in [0, 1]"
        );
        // Sums over the partners, of what was made large in between, of absolute values, and of few terms.
        let partners = ("sum", "[[900, 64, 48], [], []]", r#"["", "[1]", "False", ""]"#);
        assert_eq!(forms(&[difference, square, partners]), "");
        assert_eq!(forms(&[difference, ("rand", "[[900, 64, 48]]", ""), square, sum]), "");
        assert_eq!(forms(&[difference, ("abs", "[[900, 64, 48]]", ""), sum]), "");
        let narrow = ("sub", "[[900, 1, 2], [1, 64, 2], []]", "");
        assert_eq!(forms(&[narrow, ("pow", "[[900, 64, 2], []]", ""), sum]), "");
    }

    #[test]
    fn norms_and_softmaxes_that_are_written_out() {
        let large = "[[32, 256, 64]]";
        let (whole, small) = ("[[32, 256, 64], [32, 256, 1]]", "[[32, 256, 1], []]");
        let mean = ("mean", "[[32, 256, 64], [], [], []]", r#"["", "[-1]", "True", ""]"#);
        let var = ("var", "[[32, 256, 64], [], []]", r#"["", "[-1]", "False"]"#);
        let (center, root, scale) = (("sub", whole, ""), ("sqrt", "[[32, 256, 1]]", ""), ("div", whole, ""));
        let norm = [mean, var, center, ("add", small, ""), root, scale];
        assert_eq!(forms(&norm), "one fused operator (`torch.nn.functional.layer_norm`) in [0, 1, 2, 3, 4, 5]");
        let rms = [
            ("pow", "[[32, 256, 64], []]", ""),
            mean,
            ("add", small, ""),
            ("rsqrt", "[[32, 256, 1]]", ""),
            ("mul", whole, ""),
        ];
        assert_eq!(forms(&rms), "one fused operator (`torch.nn.functional.rms_norm`) in [0, 1, 2, 3, 4]");
        let softmax = [("exp", large, ""), ("sum", "[[32, 256, 64], [], []]", ""), ("div", whole, "")];
        assert_eq!(forms(&softmax), "one fused operator (`torch.softmax`) in [0, 1, 2]");
        // A loss that is an average of squares, a mean over other axes, and exponentials that are only added up.
        assert_eq!(forms(&[("pow", "[[32, 256, 64], []]", ""), mean]), "");
        let over_batch = ("mean", "[[32, 256, 64], [], [], []]", r#"["", "[0]", "True", ""]"#);
        assert_eq!(forms(&[over_batch, var, center, root, scale]), "");
        assert_eq!(forms(&[softmax[0], softmax[1], ("log", "[[32, 256, 1]]", "")]), "");
    }

    #[test]
    fn products_of_all_pairs() {
        let product = ("mul", "[[900, 1, 48], [1, 64, 48]]", "");
        let sum = ("sum", "[[900, 64, 48], [], []]", r#"["", "[-1]", "False", ""]"#);
        assert_eq!(forms(&[product, sum]), "a product of matrices in [0, 1]");
        // A weight for each term has no partner.
        assert_eq!(forms(&[("mul", "[[900, 64, 48], [48]]", ""), sum]), "");
    }

    #[test]
    fn an_order_that_makes_a_large_matrix() {
        let scores = ("bmm", "[[8, 1024, 16], [8, 16, 1024]]", "");
        let scaled = ("mul", "[[8, 1024, 1024], []]", "");
        let sums = ("sum", "[[8, 1024, 1024], [], []]", "");
        let values = ("bmm", "[[8, 1024, 1024], [8, 1024, 16]]", "");
        assert_eq!(forms(&[scores, scaled, sums, values]), "the other order in [0, 1, 2, 3]");
        // A softmax stands between, another matrix is read, and sizes for which both orders cost the same.
        assert_eq!(forms(&[scores, ("softmax", "[[8, 1024, 1024], []]", ""), values]), "");
        assert_eq!(forms(&[scores, scores, values]), "");
        let wide = ("bmm", "[[8, 1024, 1024], [8, 1024, 2048]]", "");
        assert_eq!(forms(&[scores, wide]), "the other order in [0, 1]");
        assert_eq!(forms(&[("mm", "[[64, 32], [32, 64]]", ""), ("mm", "[[64, 64], [64, 64]]", "")]), "");
    }

    #[test]
    fn a_square_matrix_of_singular_vectors() {
        let full = ("linalg_svd", "[[1200, 32], [], [], []]", r#"["", "True", "", ""]"#);
        let first = ("matmul", "[[1, 1200, 32], [1, 32, 32]]", "");
        assert_eq!(forms(&[full, first]), "the vectors with a singular value in [0]");
        assert_eq!(
            forms(&[full, ("slice", "[[1200, 1200], [], [], [], []]", ""), first]),
            "the vectors with a singular value in [0]"
        );
        assert_eq!(forms(&[full, ("mm", "[[1200, 1200], [1200, 7]]", "")]), "");
        assert_eq!(forms(&[("linalg_svd", "[[1200, 32], [], [], []]", r#"["", "False", "", ""]"#), first]), "");
        assert_eq!(forms(&[("linalg_svd", "[[40, 32], [], [], []]", r#"["", "True", "", ""]"#), first]), "");
    }

    #[test]
    fn matrices_that_are_written_out() {
        let solve = "solving for the right-hand side directly in [0, 1]";
        assert_eq!(forms(&[("linalg_inv", "[[900, 900]]", ""), ("mm", "[[900, 900], [900, 3]]", "")]), solve);
        assert_eq!(forms(&[("inverse", "[[900, 900]]", ""), ("mm", "[[3, 900], [900, 900]]", "")]), solve);
        // For as many right-hand sides there is nothing to save.
        assert_eq!(forms(&[("linalg_inv", "[[900, 900]]", ""), ("mm", "[[900, 900], [900, 900]]", "")]), "");
        let scaling = "scaling rows or columns in [0, 1]";
        assert_eq!(forms(&[("diag", "[[900], []]", ""), ("mm", "[[900, 900], [900, 64]]", "")]), scaling);
        assert_eq!(
            forms(&[("diag_embed", "[[8, 90], [], [], []]", ""), ("bmm", "[[8, 90, 90], [8, 90, 64]]", "")]),
            scaling
        );
        assert_eq!(forms(&[("diag", "[[900], []]", ""), ("add", "[[900, 900], [900, 900], []]", "")]), "");
        let kron = ("kron", "[[30, 30], [40, 40]]", "");
        let small = "one small product along each dimension in [0, 1]";
        assert_eq!(forms(&[kron, ("mm", "[[1200, 1200], [1200, 8]]", "")]), small);
        let one_hot = ("one_hot", "[[64, 50], []]", "");
        let to = ("to", "[[64, 50, 300], [], [], [], []]", "");
        assert_eq!(forms(&[one_hot, to, ("mm", "[[3200, 300], [300, 32]]", "")]), "indexing rows in [0, 1, 2]");
        assert_eq!(forms(&[one_hot, to, ("mm", "[[3200, 32], [32, 300]]", "")]), "");
    }

    #[test]
    fn spectra_and_selections() {
        assert_eq!(forms(&[("fft_fft", "[[64, 4096], [], [], []]", "")]), "a transform of real numbers in [0]");
        let sort = ("sort", "[[64, 4096], [], []]", "");
        let first = ("slice", "[[64, 4096], [], [], [], []]", "");
        assert_eq!(forms(&[sort, first, ("sum", "[[64, 10], [], []]", "")]), "a selection in [0]");
        // All of it is read, and a part of something else.
        assert_eq!(forms(&[sort, first, ("mul", "[[64, 4096], [64, 4096]]", "")]), "");
        assert_eq!(forms(&[sort, ("slice", "[[64, 99], [], [], [], []]", "")]), "");
    }

    #[test]
    fn lengths_and_long_windows() {
        let transform = |points: &str, asked: &str| {
            let (dims, values) = (format!("[[64, {points}], [], [], []]"), format!(r#"["", "{asked}", "-1", ""]"#));
            forms(&[("fft_rfft", &dims, &values)])
        };
        let shorter = "transforms of the next length that is a product of small primes in [0]";
        assert_eq!(transform("4099", ""), shorter);
        assert_eq!(transform("4096", "4099"), shorter);
        assert_eq!((transform("4096", ""), transform("4099", "4096")), (String::new(), String::new()));
        let direct = ("conv1d", "[[8, 1, 48000], [1, 1, 8000], [], [], [], [], []]", "");
        assert_eq!(forms(&[direct]), "a convolution by Fourier transforms in [0]");
        assert_eq!(forms(&[("conv1d", "[[8, 64, 480], [64, 64, 9], [64], [], [], [], []]", "")]), "");
    }

    #[test]
    fn the_diagonal_of_a_product() {
        let product = ("mm", "[[900, 40], [40, 900]]", "");
        let diagonal = ("diagonal", "[[900, 900], [], [], []]", "");
        assert_eq!(forms(&[product, diagonal]), "one sum for each row in [0]");
        assert_eq!(forms(&[product, diagonal, ("sum", "[[900, 900], []]", "")]), "");
        assert_eq!(forms(&[product, ("exp", "[[900, 900]]", ""), diagonal]), "");
    }

    #[test]
    fn elements_that_are_picked_from_a_product() {
        let product = ("mm", "[[768, 40], [40, 5000]]", "");
        let gather = ("gather", "[[768, 5000], [], [768, 2], []]", "");
        let few = "one dot product for each element that is used in [0, 1]";
        assert_eq!(forms(&[product, gather]), few);
        let biased = ("add", "[[768, 5000], [5000], []]", "");
        assert_eq!(forms(&[product, biased, gather]), "one dot product for each element that is used in [0, 1, 2]");
        // Sums over all of it, and most of it.
        assert_eq!(forms(&[product, ("logsumexp", "[[768, 5000], [], []]", ""), gather]), "");
        assert_eq!(forms(&[product, ("gather", "[[768, 5000], [], [768, 4000], []]", "")]), "");
    }

    #[test]
    fn images_that_are_enlarged_too_early() {
        let larger = ("upsample_bilinear2d", "[[8, 64, 32, 32], [], [], []]", "");
        let classes = ("conv2d", "[[8, 64, 128, 128], [6, 64, 1, 1], [6], [], [], [], []]", "");
        let low = "the convolution at low resolution, and then upsampling its result in [0, 1]";
        assert_eq!(forms(&[larger, classes]), low);
        assert_eq!(forms(&[larger, ("relu", "[[8, 64, 128, 128]]", ""), classes]), "");
        let wide = ("conv2d", "[[8, 64, 128, 128], [6, 64, 3, 3], [6], [], [], [], []]", "");
        assert_eq!(forms(&[larger, wide]), "");
    }

    #[test]
    fn one_matrix_that_is_factorized_again() {
        let (factor, determinant) =
            (("linalg_cholesky", "[[300, 300], []]", ""), ("linalg_slogdet", "[[300, 300]]", ""));
        assert_eq!(
            forms(&[factor, ("mv", "[[300, 300], [300]]", ""), determinant]),
            "one factorization for both in [0, 2]"
        );
        // Another matrix is made in between, or the same function is called for the next one.
        assert_eq!(forms(&[factor, ("add", "[[300, 300], [300, 300], []]", ""), determinant]), "");
        assert_eq!(forms(&[determinant, determinant]), "");
        let expand = ("expand", "[[1, 300, 300], [], []]", "");
        assert_eq!(
            forms(&[expand, ("linalg_cholesky", "[[64, 300, 300], []]", "")]),
            "one factorization for the batch in [1]"
        );
        assert_eq!(forms(&[expand, ("add", "[[64, 300, 300], [64, 300, 300], []]", "")]), "");
    }

    #[test]
    fn windows_and_patches() {
        let unfold = ("unfold", "[[32, 9000], [], [], []]", "");
        let last = r#"["", "[-1]", "False", ""]"#;
        assert_eq!(
            forms(&[unfold, ("mean", "[[32, 8901, 100], [], [], []]", last)]),
            "differences of a running sum in [1]"
        );
        assert_eq!(forms(&[unfold, ("mul", "[[32, 8901, 100], [100]]", "")]), "");
        let patches = ("im2col", "[[16, 3, 64, 64], [], [], [], []]", "");
        assert_eq!(forms(&[patches, ("bmm", "[[16, 32, 147], [16, 147, 3364]]", "")]), "a convolution in [0, 1]");
    }

    #[test]
    fn powers_and_copies() {
        assert_eq!(forms(&[("pow", "[[200, 300], []]", r#"["", "6"]"#)]), "a few multiplications in [0]");
        assert_eq!(
            forms(&[("pow", "[[200, 300], []]", r#"["", "2"]"#), ("pow", "[[200, 300], []]", r#"["", "2.5"]"#)]),
            ""
        );
        let repeat = ("repeat", "[[1, 300], []]", "");
        assert_eq!(forms(&[repeat, ("mul", "[[200, 300], [200, 300]]", "")]), "broadcasting in [0]");
        assert_eq!(forms(&[repeat, ("mm", "[[200, 300], [300, 8]]", "")]), "");
    }
}
