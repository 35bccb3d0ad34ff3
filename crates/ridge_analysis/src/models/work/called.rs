//! What an operator of PyTorch had to compute and move, by the sizes and types that it was called with.
//!
//! Products are counted as `torch/utils/flop_counter.py` counts them, a multiply-add as two operations. Bytes are each
//! array read once and each result written once. Operators that only call others, or that only look at memory another
//! way, have no cost of their own.

use ridge_hlo::ElementType;
use ridge_hlo::cost::{Cost, OpKind, Traffic};
use serde_json::Value;

/// An array: its sizes and the type of its elements.
#[derive(Debug, Clone)]
struct Array {
    dims: Vec<f64>,
    element: ElementType,
}

impl Array {
    fn elements(&self) -> f64 {
        self.dims.iter().product()
    }

    fn bytes(&self) -> f64 {
        self.elements() * f64::from(self.element.bits().unwrap_or(0)) / 8.0
    }

    fn dim(&self, at: usize) -> Option<f64> {
        self.dims.get(at).copied()
    }

    /// The size that is `back` from the last.
    fn last(&self, back: usize) -> Option<f64> {
        self.dim(self.dims.len().checked_sub(back + 1)?)
    }
}

/// The arguments of a call, as a capture writes them.
#[derive(Debug)]
struct Arguments {
    arrays: Vec<Option<Array>>,
    values: Vec<String>,
}

impl Arguments {
    fn read(dims: &str, types: &str, values: &str) -> Option<Arguments> {
        let list = |text: &str| serde_json::from_str::<Vec<Value>>(text).ok();
        let (dims, types) = (list(dims)?, list(types)?);
        let values = list(values).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let array = |(dims, named): (&Value, &Value)| {
            let element = element_type(named.as_str()?)?;
            let dims: Option<Vec<f64>> = dims.as_array()?.iter().map(Value::as_f64).collect();
            Some(Array { dims: dims?, element })
        };
        Some(Arguments {
            arrays: dims.iter().zip(&types).map(array).collect(),
            values: values.iter().map(text).collect(),
        })
    }

    fn array(&self, at: usize) -> Option<&Array> {
        self.arrays.get(at)?.as_ref()
    }

    /// Those that are arrays and no single numbers.
    fn all(&self) -> impl Iterator<Item = &Array> {
        self.arrays.iter().flatten()
    }

    fn numbers(&self, at: usize) -> Option<Vec<f64>> {
        serde_json::from_str(self.values.get(at)?).ok()
    }

    fn is_true(&self, at: usize) -> bool {
        self.values.get(at).is_some_and(|value| value == "True")
    }
}

/// The type that PyTorch's profiler writes so; `None` for what is no array.
fn element_type(name: &str) -> Option<ElementType> {
    Some(match name {
        "float" => ElementType::F32,
        "double" => ElementType::F64,
        "c10::Half" => ElementType::F16,
        "c10::BFloat16" => ElementType::Bf16,
        "long" | "long int" => ElementType::S64,
        "int" => ElementType::S32,
        "short" | "short int" => ElementType::S16,
        "signed char" => ElementType::S8,
        "unsigned char" => ElementType::U8,
        "bool" => ElementType::Pred,
        "c10::complex<float>" => ElementType::C64,
        "c10::complex<double>" => ElementType::C128,
        _ => return None,
    })
}

/// Whether an array among the arguments has elements of that type.
pub(super) fn takes(dims: &str, types: &str, element: ElementType) -> bool {
    let arguments = Arguments::read(dims, types, "");
    arguments.is_some_and(|arguments| arguments.all().any(|array| array.element == element && !array.dims.is_empty()))
}

/// The cost of one call of `operator`, with its arguments as the capture writes them; `None` where nothing is known of it.
pub(super) fn cost(operator: &str, dims: &str, types: &str, values: &str) -> Option<Cost> {
    let arguments = Arguments::read(dims, types, values)?;
    let name = operator.strip_prefix("aten::")?;
    products(name, &arguments)
        .or_else(|| convolution(name, &arguments))
        .or_else(|| attention(name, &arguments))
        .or_else(|| rowwise(name, &arguments))
        .or_else(|| pointwise(name, &arguments))
}

fn products(name: &str, arguments: &Arguments) -> Option<Cost> {
    let (left, right, added) = match name {
        "mm" | "bmm" | "_scaled_mm" | "mv" | "dot" | "mkldnn_linear" | "mkl_linear" => (0, 1, None),
        "addmm" | "addmm_" | "baddbmm" | "baddbmm_" | "_addmm_activation" | "addmv" => (1, 2, Some(0)),
        _ => return None,
    };
    let (left, right) = (arguments.array(left)?, arguments.array(right)?);
    // A linear layer's weights are stored with what is summed over last.
    let is_turned = name.ends_with("_linear");
    let columns = match right.dims.len() {
        0 => return None,
        1 => 1.0,
        _ => right.last(usize::from(is_turned))?,
    };
    let rows = left.elements() / left.last(0).filter(|inner| *inner > 0.0)?;
    let result = Array { dims: vec![rows, columns], element: left.element };
    let added = added.and_then(|at| arguments.array(at));
    let sums = if added.is_some() { result.elements() } else { 0.0 };
    let read = left.bytes() + right.bytes() + added.map_or(0.0, Array::bytes);
    let traffic = Traffic { read, written: result.bytes() };
    Some(Cost::of_call(left.element, left.elements() * columns, &[(OpKind::Add, sums)], traffic))
}

fn convolution(name: &str, arguments: &Arguments) -> Option<Cost> {
    // Where padding, stride and dilation stand among the arguments.
    let (padding, stride, dilation) = match name {
        "cudnn_convolution" => (2, 3, Some(4)),
        "mkldnn_convolution" | "miopen_convolution" => (3, 4, Some(5)),
        "_slow_conv2d_forward" | "thnn_conv2d" => (5, 4, None),
        "convolution_backward" => return convolution_backward(arguments),
        _ => return None,
    };
    let (input, weight) = (arguments.array(0)?, arguments.array(1)?);
    let (padding, stride) = (arguments.numbers(padding)?, arguments.numbers(stride)?);
    let dilation = dilation.and_then(|at| arguments.numbers(at));
    let each = |list: &[f64], at: usize| list.get(at).or(list.first()).copied();
    let mut dims = vec![input.dim(0)?, weight.dim(0)?];
    for at in 0..weight.dims.len().checked_sub(2)? {
        let wide = dilation.as_ref().map_or(Some(1.0), |list| each(list, at))?;
        let covered = wide * (weight.dim(at + 2)? - 1.0) + 1.0;
        let stride = each(&stride, at).filter(|stride| *stride > 0.0)?;
        dims.push(((input.dim(at + 2)? + 2.0 * each(&padding, at)? - covered) / stride).floor() + 1.0);
    }
    let result = Array { dims, element: input.element };
    let traffic = Traffic { read: input.bytes() + weight.bytes(), written: result.bytes() };
    Some(Cost::of_call(input.element, result.elements() * weight.elements() / weight.dim(0)?, &[], traffic))
}

fn convolution_backward(arguments: &Arguments) -> Option<Cost> {
    let (gradient, input, weight) = (arguments.array(0)?, arguments.array(1)?, arguments.array(2)?);
    // Turned round, the channels of the weights change places.
    if arguments.is_true(7) {
        return None;
    }
    let wanted: Vec<bool> = serde_json::from_str(&arguments.values.get(10)?.to_ascii_lowercase()).ok()?;
    let has = |at: usize| wanted.get(at).copied().unwrap_or(false);
    let one = gradient.elements() * weight.elements() / weight.dim(0)?;
    let (mut count, mut traffic) = (0.0, Traffic { read: gradient.bytes(), written: 0.0 });
    for (is_wanted, other, result) in [(has(0), weight, input), (has(1), input, weight)] {
        if is_wanted {
            count += one;
            traffic.read += other.bytes();
            traffic.written += result.bytes();
        }
    }
    Some(Cost::of_call(gradient.element, count, &[], traffic))
}

fn attention(name: &str, arguments: &Arguments) -> Option<Cost> {
    // Where the queries stand, how many products there are, how many results of their size, where it says `is_causal`, and
    // which size, counted from the last, is the length: the inner operators have the heads behind it.
    let (first, times, results, causal, length) = match name {
        "_scaled_dot_product_flash_attention" | "_scaled_dot_product_flash_attention_for_cpu" => (0, 2.0, 1.0, 4, 1),
        "_scaled_dot_product_efficient_attention" => (0, 2.0, 1.0, 6, 1),
        "_scaled_dot_product_cudnn_attention" => (0, 2.0, 1.0, 6, 1),
        "_scaled_dot_product_flash_attention_backward" => (1, 5.0, 3.0, 11, 1),
        "_scaled_dot_product_flash_attention_for_cpu_backward" => (1, 5.0, 3.0, 7, 1),
        "_flash_attention_forward" => (0, 2.0, 1.0, 8, 2),
        "_flash_attention_backward" => (1, 5.0, 3.0, 11, 2),
        _ => return None,
    };
    let (query, key, value) = (arguments.array(first)?, arguments.array(first + 1)?, arguments.array(first + 2)?);
    // Sequences of several lengths are packed into three sizes, which do not tell them.
    if query.dims.len() != 4 {
        return None;
    }
    let pairs = query.elements() / query.last(0).filter(|depth| *depth > 0.0)? * key.last(length)?;
    // Each half of the products is over the depth of the keys, the other over that of the values.
    let all = pairs * (query.last(0)? + value.last(0)?) / 2.0 * times;
    let part = if arguments.is_true(causal) && query.last(length) == key.last(length) { 0.5 } else { 1.0 };
    let read = arguments.all().map(Array::bytes).sum();
    let written = if results > 1.0 { query.bytes() + key.bytes() + value.bytes() } else { query.bytes() };
    Some(Cost::of_call(query.element, all * part, &[], Traffic { read, written }))
}

/// Norms, softmax, pooling by rows and sums: operations per element of the first array, and results of its size.
fn rowwise(name: &str, arguments: &Arguments) -> Option<Cost> {
    let (each, results): (&[(OpKind, f64)], f64) = match name {
        "native_layer_norm" | "native_batch_norm" | "cudnn_batch_norm" | "native_group_norm" | "_fused_rms_norm" => {
            (&[(OpKind::MultiplyAdd, 2.0), (OpKind::Add, 3.0)], 1.0)
        }
        "native_layer_norm_backward" | "native_batch_norm_backward" | "native_group_norm_backward" => {
            (&[(OpKind::MultiplyAdd, 4.0), (OpKind::Add, 3.0)], 1.0)
        }
        "_softmax" | "_log_softmax" | "_safe_softmax" => {
            (&[(OpKind::Compare, 1.0), (OpKind::Transcendental, 1.0), (OpKind::Add, 2.0), (OpKind::Multiply, 1.0)], 1.0)
        }
        "_softmax_backward_data" | "_log_softmax_backward_data" => {
            (&[(OpKind::MultiplyAdd, 2.0), (OpKind::Multiply, 1.0)], 1.0)
        }
        // How much of the result is left is not said, and it is less than what is read.
        "sum" | "mean" | "amax" | "max" | "min" | "linalg_vector_norm" | "norm" => (&[(OpKind::Add, 1.0)], 0.0),
        _ => return None,
    };
    let first = arguments.array(0)?;
    let read = arguments.all().map(Array::bytes).sum();
    Some(plain(first, first.elements(), each, Traffic { read, written: results * first.bytes() }))
}

/// Element by element: the arrays are read, and one of their common shape is written.
fn pointwise(name: &str, arguments: &Arguments) -> Option<Cost> {
    let bare = name.strip_suffix('_').unwrap_or(name);
    let each: &[(OpKind, f64)] = match bare {
        "add" | "sub" | "rsub" | "neg" | "abs" => &[(OpKind::Add, 1.0)],
        "mul" => &[(OpKind::Multiply, 1.0)],
        "div" | "sqrt" | "rsqrt" | "reciprocal" => &[(OpKind::DivideSqrt, 1.0)],
        "addcmul" | "lerp" => &[(OpKind::MultiplyAdd, 1.0), (OpKind::Multiply, 1.0)],
        "addcdiv" => &[(OpKind::MultiplyAdd, 1.0), (OpKind::DivideSqrt, 1.0)],
        "exp" | "log" | "tanh" | "sigmoid" | "erf" | "sin" | "cos" | "pow" => &[(OpKind::Transcendental, 1.0)],
        "gelu" => &[(OpKind::Transcendental, 1.0), (OpKind::Multiply, 3.0), (OpKind::Add, 2.0)],
        "silu" => &[(OpKind::Transcendental, 1.0), (OpKind::DivideSqrt, 1.0), (OpKind::Add, 1.0)],
        "gelu_backward" | "silu_backward" => &[(OpKind::Transcendental, 1.0), (OpKind::MultiplyAdd, 3.0)],
        "tanh_backward" | "sigmoid_backward" => &[(OpKind::Multiply, 2.0), (OpKind::Add, 1.0)],
        "relu" | "clamp" | "clamp_min" | "clamp_max" | "threshold_backward" | "where" | "maximum" | "minimum"
        | "masked_fill" | "eq" | "ne" | "lt" | "le" | "gt" | "ge" => &[(OpKind::Compare, 1.0)],
        "copy" => &[],
        _ => return None,
    };
    let arrays: Vec<&Array> = arguments.all().collect();
    let widest = arrays.iter().max_by(|one, other| one.elements().total_cmp(&other.elements()))?;
    let result = result_of(name, bare, &arrays)?;
    let is_copy = bare == "copy";
    // What a copy goes to is only written.
    let read = arrays.iter().skip(usize::from(is_copy)).map(|array| array.bytes()).sum();
    Some(plain(widest, widest.elements(), each, Traffic { read, written: result }))
}

/// Bytes of what an operator of elements writes.
fn result_of(name: &str, bare: &str, arrays: &[&Array]) -> Option<f64> {
    let first = arrays.first()?;
    if name != bare {
        return Some(first.bytes());
    }
    // What is broadcast has the longest of the sizes at each place, counted from the last.
    let rank = arrays.iter().map(|array| array.dims.len()).max()?;
    let sizes = (0..rank).map(|back| arrays.iter().filter_map(|array| array.last(back)).fold(1.0, f64::max));
    let elements: f64 = sizes.product();
    let compares = matches!(bare, "eq" | "ne" | "lt" | "le" | "gt" | "ge");
    let bits = arrays.iter().filter(|array| !array.dims.is_empty()).filter_map(|array| array.element.bits()).max();
    let bits = if compares { 8 } else { bits.or(first.element.bits())? };
    Some(elements * f64::from(bits) / 8.0)
}

fn plain(first: &Array, elements: f64, each: &[(OpKind, f64)], traffic: Traffic) -> Cost {
    let work: Vec<(OpKind, f64)> = each.iter().map(|(kind, count)| (*kind, count * elements)).collect();
    Cost::of_call(first.element, 0.0, &work, traffic)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations and bytes read and written.
    #[track_caller]
    fn check(operator: &str, dims: &str, types: &str, values: &str, expected: Option<(f64, f64, f64)>) {
        let found = cost(&format!("aten::{operator}"), dims, types, values);
        let told = found.map(|cost| (cost.counted_operations(), cost.compulsory.read, cost.compulsory.written));
        assert_eq!(told, expected, "{operator}");
    }

    /// The counts of `torch.utils.flop_counter.FlopCounterMode` of torch 2.15 for the same calls.
    #[test]
    fn products_are_counted_as_pytorch_counts_them() {
        check("mm", "[[8, 16], [16, 4]]", r#"["float", "float"]"#, "", Some((1024.0, 768.0, 128.0)));
        check("bmm", "[[3, 8, 16], [3, 16, 4]]", r#"["double", "double"]"#, "", Some((3072.0, 4608.0, 768.0)));
        let types = r#"["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"]"#;
        // The bias is added besides the product.
        check("addmm", "[[4], [8, 16], [16, 4], [], []]", types, "", Some((1024.0 + 32.0, 392.0, 64.0)));
        check(
            "mkldnn_convolution",
            "[[2, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], []]",
            r#"["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar"]"#,
            r#"["", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "1"]"#,
            Some((2.0 * 2.0 * 4.0 * 16.0 * 27.0, 4.0 * (384.0 + 108.0), 4.0 * 128.0)),
        );
        check(
            "convolution_backward",
            "[[2, 4, 4, 4], [2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], [], []]",
            r#"["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", ""]"#,
            r#"["", "", "", "[4]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[False, True, True]"]"#,
            Some((2.0 * 128.0 * 27.0, 4.0 * (128.0 + 384.0), 4.0 * 108.0)),
        );
        let four = "[[1, 2, 8, 16], [1, 2, 8, 16], [1, 2, 8, 16], [], []]";
        let types = r#"["float", "float", "float", "Scalar", "Scalar"]"#;
        let name = "_scaled_dot_product_flash_attention_for_cpu";
        let bytes = 4.0 * 256.0;
        check(name, four, types, r#"["", "", "", "0.", "False"]"#, Some((8192.0, 3.0 * bytes, bytes)));
        check(name, four, types, r#"["", "", "", "0.", "True"]"#, Some((4096.0, 3.0 * bytes, bytes)));
        let inner = "[[1, 8, 2, 16], [1, 8, 2, 16], [1, 8, 2, 16], [], [], [], [], [], [], []]";
        let types = r#"["float", "float", "float", "", "", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"]"#;
        let values = r#"["", "", "", "", "", "8", "8", "0.", "False", "False"]"#;
        check("_flash_attention_forward", inner, types, values, Some((8192.0, 3.0 * bytes, bytes)));
        let packed = "[[8, 2, 16], [8, 2, 16], [8, 2, 16], [9], [9], [], [], [], [], []]";
        check("_flash_attention_forward", packed, types, values, None);
    }

    #[test]
    fn elements_are_read_and_written_once() {
        check("add", "[[8, 16], [16], []]", r#"["float", "float", "Scalar"]"#, "", Some((128.0, 576.0, 512.0)));
        check("mul_", "[[8], []]", r#"["c10::Half", "Scalar"]"#, "", Some((8.0, 16.0, 16.0)));
        check("copy_", "[[8], [8], []]", r#"["c10::Half", "float", "Scalar"]"#, "", Some((0.0, 32.0, 16.0)));
        check("gt", "[[8], []]", r#"["float", "Scalar"]"#, "", Some((8.0, 32.0, 8.0)));
        check("_softmax", "[[4, 8], [], []]", r#"["float", "Scalar", "Scalar"]"#, "", Some((160.0, 128.0, 128.0)));
    }

    #[test]
    fn what_is_not_known_has_no_cost() {
        check("view", "[[8], []]", r#"["float", ""]"#, "", None);
        check("mm", "", "", "", None);
        check("mm", "[[8, 16], [", "[", "", None);
        check("mm", "[[], [16, 4]]", r#"["float", "float"]"#, "", None);
    }
}
