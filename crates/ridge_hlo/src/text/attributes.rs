//! The attributes of an instruction, each by its name in HLO text.

use super::Loading;
use super::lists::{inside_braces, names, number_lists, numbers, pairs, parameter, split_list, unquote};
use super::{labels, shape};
use crate::{
    Instruction, Metadata, OutputAlias, PaddingDimension, ReplicaGroups, SliceBounds, Window, WindowDimension,
};

impl<'t> Loading<'t> {
    /// Files one attribute; `calls` gets computations with their place in call order.
    pub(super) fn attribute(
        &mut self,
        instruction: &mut Instruction,
        name: &str,
        value: &'t str,
        calls: &mut Vec<(u32, &'t str)>,
    ) {
        match name {
            "metadata" => metadata(instruction, value),
            "backend_config" => instruction.backend_config.raw = unquote(value),
            "dimensions" => instruction.dimensions = numbers(value),
            "iota_dimension" | "dimension" => instruction.dimensions = numbers(value),
            "index" => instruction.tuple_index = value.parse().ok(),
            "kind" => instruction.fusion_kind = Some(value.to_owned()),
            "channel_id" => instruction.channel_id = value.parse().ok().filter(|&channel: &i64| channel != 0),
            "custom_call_target" => instruction.custom_call_target = Some(unquote(value)),
            "calls" | "to_apply" | "body" | "select" | "true_computation" => push_calls(calls, 0, value),
            "condition" | "scatter" | "false_computation" => push_calls(calls, 1, value),
            "branch_computations" | "called_computations" => push_calls(calls, 0, value),
            _ => self.rare_attribute(instruction, name, value),
        }
    }

    fn rare_attribute(&mut self, instruction: &mut Instruction, name: &str, value: &str) {
        // What is false or default needs no attributes at all.
        if value == "false" {
            return;
        }
        if !(dimension_attribute(instruction, name, value)
            || call_attribute(instruction, name, value)
            || option_attribute(instruction, name, value))
        {
            instruction.attributes_mut().other.push((name.to_owned(), value.to_owned()));
        }
    }
}

fn push_calls<'t>(calls: &mut Vec<(u32, &'t str)>, order: u32, value: &'t str) {
    calls.extend(names(value).into_iter().map(|name| (order, name)));
}

/// Windows, dimension numbers, slices; whether `name` is one of them.
fn dimension_attribute(instruction: &mut Instruction, name: &str, value: &str) -> bool {
    let is_scatter = instruction.opcode == "scatter";
    let attributes = instruction.attributes_mut();
    match name {
        "window" => attributes.window = Some(window(value)),
        "dim_labels" => attributes.convolution = labels::parse(value),
        "lhs_contracting_dims" => attributes.dot.get_or_insert_default().lhs_contracting = numbers(value),
        "rhs_contracting_dims" => attributes.dot.get_or_insert_default().rhs_contracting = numbers(value),
        "lhs_batch_dims" => attributes.dot.get_or_insert_default().lhs_batch = numbers(value),
        "rhs_batch_dims" => attributes.dot.get_or_insert_default().rhs_batch = numbers(value),
        "lhs_ragged_dims" => attributes.ragged_dot.get_or_insert_default().lhs_ragged = numbers(value),
        "rhs_group_dims" => attributes.ragged_dot.get_or_insert_default().rhs_group = numbers(value),
        "offset_dims" => attributes.gather.get_or_insert_default().offset_dims = numbers(value),
        "collapsed_slice_dims" => attributes.gather.get_or_insert_default().collapsed_slice_dims = numbers(value),
        "start_index_map" => attributes.gather.get_or_insert_default().start_index_map = numbers(value),
        "operand_batching_dims" => attributes.gather.get_or_insert_default().operand_batching_dims = numbers(value),
        "start_indices_batching_dims" => {
            attributes.gather.get_or_insert_default().start_indices_batching_dims = numbers(value)
        }
        "update_window_dims" => attributes.scatter.get_or_insert_default().update_window_dims = numbers(value),
        "inserted_window_dims" => attributes.scatter.get_or_insert_default().inserted_window_dims = numbers(value),
        "scatter_dims_to_operand_dims" => {
            attributes.scatter.get_or_insert_default().scatter_dims_to_operand_dims = numbers(value)
        }
        "input_batching_dims" => attributes.scatter.get_or_insert_default().input_batching_dims = numbers(value),
        "scatter_indices_batching_dims" => {
            attributes.scatter.get_or_insert_default().scatter_indices_batching_dims = numbers(value)
        }
        "index_vector_dim" if is_scatter => {
            attributes.scatter.get_or_insert_default().index_vector_dim = value.parse().unwrap_or(0)
        }
        "index_vector_dim" => attributes.gather.get_or_insert_default().index_vector_dim = value.parse().unwrap_or(0),
        "slice" => attributes.slices = slices(value),
        "dynamic_slice_sizes" | "slice_sizes" => attributes.slice_sizes = numbers(value),
        "padding" => attributes.padding = padding(value),
        "fft_type" => attributes.fft_type = Some(value.to_owned()),
        "fft_length" => attributes.fft_length = numbers(value),
        "feature_group_count" => attributes.feature_group_count = value.parse().unwrap_or(0),
        "batch_group_count" => attributes.batch_group_count = value.parse().unwrap_or(0),
        _ => return false,
    }
    true
}

/// Collectives and custom calls; whether `name` is one of theirs.
fn call_attribute(instruction: &mut Instruction, name: &str, value: &str) -> bool {
    let is_true = value == "true";
    let is_custom_call = instruction.opcode == "custom-call";
    let attributes = instruction.attributes_mut();
    match name {
        "replica_groups" => attributes.replica_groups = replica_groups(value),
        "source_target_pairs" => {
            let pairs = number_lists(value);
            attributes.source_target_pairs =
                pairs.iter().filter_map(|pair| Some((*pair.first()?, *pair.get(1)?))).collect();
        }
        "use_global_device_ids" => attributes.use_global_device_ids = is_true,
        "constrain_layout" => attributes.constrain_layout = is_true,
        "operand_layout_constraints" => {
            let shapes = split_list(inside_braces(value));
            attributes.constrain_layout |= is_custom_call;
            attributes.operand_layouts = shapes.into_iter().filter_map(|text| Some(shape::parse(text)?.0)).collect();
        }
        "output_to_operand_aliasing" => attributes.output_aliases = output_aliases(value),
        "api_version" => attributes.custom_call_api_version = Some(value.to_owned()),
        "schedule" => attributes.custom_call_schedule = Some(value.to_owned()),
        "custom_call_has_side_effect" => attributes.custom_call_has_side_effect = is_true,
        "padding_type" => attributes.padding_type = Some(value.to_owned()),
        "async_execution_thread" => {
            attributes.async_execution_thread = Some(unquote(value)).filter(|thread| thread != "main")
        }
        "is_host_transfer" => attributes.is_host_transfer = is_true,
        "is_composite" => attributes.is_composite = is_true,
        "cross_program_prefetch_index" => attributes.cross_program_prefetch_index = value.parse().ok(),
        "sharding" => attributes.sharding = Some(value.to_owned()),
        "frontend_attributes" => attributes.frontend_attributes = frontend_attributes(value),
        _ => return false,
    }
    true
}

/// Options of single operations; whether `name` is one.
fn option_attribute(instruction: &mut Instruction, name: &str, value: &str) -> bool {
    let opcode = instruction.opcode.clone();
    let is_true = value == "true";
    let attributes = instruction.attributes_mut();
    match name {
        "direction" => attributes.comparison_direction = Some(value.to_owned()),
        "type" => attributes.comparison_type = Some(value.to_owned()),
        "is_stable" => attributes.is_stable = is_true,
        "indices_are_sorted" => attributes.indices_are_sorted = is_true,
        "unique_indices" => attributes.unique_indices = is_true,
        "left_side" => attributes.triangular_solve.get_or_insert_default().left_side = is_true,
        "unit_diagonal" => attributes.triangular_solve.get_or_insert_default().unit_diagonal = is_true,
        "transpose_a" => attributes.triangular_solve.get_or_insert_default().transpose = value.to_owned(),
        "lower" if opcode == "triangular-solve" => attributes.triangular_solve.get_or_insert_default().lower = is_true,
        "lower" => attributes.cholesky_lower = is_true,
        "distribution" => attributes.distribution = Some(value.to_owned()),
        "algorithm" if opcode.starts_with("rng") => attributes.rng_algorithm = Some(value.to_owned()),
        "algorithm" => attributes.precision.algorithm = Some(value.to_owned()),
        "operand_precision" => {
            let operands = split_list(inside_braces(value));
            if operands.iter().any(|&operand| operand != "default") {
                attributes.precision.operands = operands.into_iter().map(str::to_owned).collect();
            }
        }
        "exponent_bits" => attributes.exponent_bits = value.parse().ok(),
        "mantissa_bits" => attributes.mantissa_bits = value.parse().ok(),
        "epsilon" => attributes.epsilon = value.parse().ok(),
        "feature_index" => attributes.feature_index = value.parse().ok().filter(|&index: &i64| index != 0),
        "k" => attributes.k = value.parse().ok(),
        "largest" => attributes.largest = is_true,
        "is_reverse" => attributes.is_reverse = is_true,
        "num_carries" => attributes.num_carries = value.parse().ok(),
        "delta" => attributes.delta = value.parse().ok(),
        _ => return false,
    }
    true
}

fn metadata(instruction: &mut Instruction, text: &str) {
    let mut metadata = Metadata::default();
    for (key, value) in pairs(text) {
        let number = || value.parse().unwrap_or(0);
        match key {
            "op_type" => metadata.op_type = unquote(value),
            "op_name" => metadata.op_name = unquote(value),
            "source_file" => metadata.source_file = unquote(value),
            "source_line" => metadata.source_line = number(),
            "source_end_line" => metadata.source_end_line = number(),
            "source_column" => metadata.source_column = number(),
            "source_end_column" => metadata.source_end_column = number(),
            "stack_frame_id" => metadata.stack_frame_id = number(),
            "scheduling_name" => instruction.attributes_mut().scheduling_name = Some(unquote(value)),
            "deduplicated_name" => instruction.attributes_mut().deduplicated_name = Some(unquote(value)),
            _ => {}
        }
    }
    instruction.metadata = metadata;
}

/// `{size=3x3 stride=2x1 pad=0_1x2_2 lhs_dilate=1x2 rhs_dilate=1x2 rhs_reversal=0x1}`
fn window(text: &str) -> Window {
    let mut window = Window::default();
    for (key, value) in pairs(text) {
        let parts: Vec<&str> = value.split('x').collect();
        if window.dimensions.is_empty() {
            window.dimensions = vec![WindowDimension::default(); parts.len()];
        }
        for (dimension, part) in window.dimensions.iter_mut().zip(parts) {
            let number = part.parse().unwrap_or(0);
            match key {
                "size" => dimension.size = number,
                "stride" => dimension.stride = number,
                "lhs_dilate" => dimension.base_dilation = number,
                "rhs_dilate" => dimension.window_dilation = number,
                "rhs_reversal" => dimension.reversal = number != 0,
                "pad" => {
                    let (low, high) = part.split_once('_').unwrap_or((part, part));
                    dimension.padding_low = low.parse().unwrap_or(0);
                    dimension.padding_high = high.parse().unwrap_or(0);
                }
                _ => {}
            }
        }
    }
    window
}

/// `{[0:1], [0:8:2]}`
fn slices(text: &str) -> Vec<SliceBounds> {
    let bounds = |part: &str| {
        let mut numbers = part.trim_matches(['[', ']']).split(':').map(|number| number.trim().parse::<i64>().ok());
        let (start, limit) = (numbers.next()??, numbers.next()??);
        Some(SliceBounds { start, limit, stride: numbers.next().flatten().unwrap_or(1) })
    };
    split_list(inside_braces(text)).into_iter().filter_map(bounds).collect()
}

/// `0_1x2_2_1`
fn padding(text: &str) -> Vec<PaddingDimension> {
    let dimension = |part: &str| {
        let mut numbers = part.split('_').map(|number| number.parse().unwrap_or(0));
        let mut next = || numbers.next().unwrap_or(0);
        PaddingDimension { low: next(), high: next(), interior: next() }
    };
    text.split('x').map(dimension).collect()
}

/// `{{0,1},{2,3}}` or `[2,4]<=[4,2]T(1,0)`
fn replica_groups(text: &str) -> ReplicaGroups {
    if text.starts_with('{') {
        let groups = number_lists(text);
        return if groups.is_empty() { ReplicaGroups::Unsaid } else { ReplicaGroups::Listed(groups) };
    }
    iota_groups(text).or_else(|| mesh_groups(text)).unwrap_or_else(|| ReplicaGroups::Other(text.to_owned()))
}

fn iota_groups(text: &str) -> Option<ReplicaGroups> {
    let (counts, sequence) = text.split_once("<=")?;
    let counts = numbers(counts.trim_matches(['[', ']']));
    let (reshape, transpose) = sequence.split_once('T').unwrap_or((sequence, ""));
    Some(ReplicaGroups::Iota {
        groups: *counts.first()?,
        size: *counts.get(1)?,
        reshape: numbers(reshape.trim_matches(['[', ']'])),
        transpose: numbers(transpose.trim_matches(['(', ')'])),
    })
}

/// `mesh['x'=2,'y'=4] {'x','y':(1)2}`
fn mesh_groups(text: &str) -> Option<ReplicaGroups> {
    let (axes, rest) = text.strip_prefix("mesh[")?.split_once(']')?;
    let extents: Vec<(&str, u64)> = axes
        .split(',')
        .filter_map(|axis| axis.split_once('='))
        .filter_map(|(name, extent)| Some((name.trim(), extent.trim().parse().ok()?)))
        .collect();
    let chosen = split_list(inside_braces(&rest[rest.find('{')?..]));
    let extent = |axis: &str| match axis.split_once(':') {
        Some((_, part)) => part.rsplit(')').next()?.parse::<u64>().ok(),
        None => extents.iter().find(|(name, _)| *name == axis).map(|(_, extent)| *extent),
    };
    let size = chosen.into_iter().try_fold(1u64, |size, axis| size.checked_mul(extent(axis)?));
    Some(ReplicaGroups::Mesh { text: text.to_owned(), size })
}

/// `{{0}: (1, {}), {1}: (2, {0})}`
fn output_aliases(text: &str) -> Vec<OutputAlias> {
    let entries = split_list(inside_braces(text)).into_iter().filter_map(|entry| entry.split_once(':'));
    entries
        .map(|(output, input)| {
            let (operand, operand_index, _) = parameter(input);
            OutputAlias { output_index: numbers(output), operand, operand_index }
        })
        .collect()
}

/// `{key="value",other={dictionary}}`, sorted by key.
pub(super) fn frontend_attributes(text: &str) -> Vec<(String, String)> {
    let entries = split_list(inside_braces(text)).into_iter().filter_map(|entry| entry.split_once('='));
    let mut attributes: Vec<_> = entries.map(|(key, value)| (key.trim().to_owned(), unquote(value))).collect();
    attributes.sort();
    attributes
}
