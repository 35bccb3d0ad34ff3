//! Products in types of numbers for which a processor has no fast one.

use super::calls::{Form, LeftBy, Match, Node, Nodes, elements};

/// Smaller arrays cost what their calls cost.
const LARGE: f64 = 4096.0;

/// Operators that multiply matrices or filters.
const PRODUCTS: [&str; 11] = [
    "linear",
    "addmm",
    "mm",
    "matmul",
    "bmm",
    "baddbmm",
    "einsum",
    "conv1d",
    "conv2d",
    "conv3d",
    "scaled_dot_product_attention",
];

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let array = node.arrays.first().filter(|array| elements(array) >= LARGE)?;
    let form = form(node).filter(|_| PRODUCTS.contains(&node.name))?;
    Some(Match::by_form(form, vec![*at], array.clone()))
}

/// By the type of its first two arguments.
fn form(node: &Node<'_>) -> Option<Form> {
    let mut types = node.types.trim_matches(['[', ']']).split(',').map(|one| one.trim().trim_matches('"'));
    match (types.next()?, types.next()?) {
        ("c10::Half", "c10::Half") => Some(HALF),
        ("long int" | "long", "long int" | "long") | ("int", "int") | ("short int", "short int") => Some(WHOLE),
        _ => None,
    }
}

const HALF: Form = Form {
    does: "goes to products in half precision (float16) on a processor, of arrays such as {}",
    instead: "single precision or bfloat16",
    why: "most processors have no fast product in float16: measured on one without AVX512-FP16, it takes 30 to 45 times as long as in float32",
    help: "on a processor use `model.float()`, or bfloat16 (`torch.autocast(\"cpu\", dtype=torch.bfloat16)`); keep float16 for storage and for GPUs",
    left: LeftBy::Parts(0.02, 0.5),
};

const WHOLE: Form = Form {
    does: "goes to products of integers, of arrays such as {}",
    instead: "a floating-point product",
    why: "PyTorch multiplies matrices of integers in a plain loop, without the fast library that it uses for floating-point numbers",
    help: "convert once with `.float()` (exact for results up to 2²⁴) or `.double()` (up to 2⁵³), multiply, and convert the result back where integers are needed",
    left: LeftBy::Parts(0.15, 0.6),
};
