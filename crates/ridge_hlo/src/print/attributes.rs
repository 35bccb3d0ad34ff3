//! The attributes after an instruction's operands, in one fixed order.

use std::fmt::{self, Write as _};

use super::write_quoted;
use crate::shape::write_joined;
use crate::{Attributes, HloModule, Instruction, ReplicaGroups, Window};

impl HloModule {
    pub(super) fn write_attributes(&self, out: &mut String, instruction: &Instruction) -> fmt::Result {
        let is_dimensioned = !instruction.dimensions.is_empty();
        match &*instruction.opcode {
            "iota" if is_dimensioned => write!(out, ", iota_dimension={}", instruction.dimensions[0])?,
            "broadcast" => write_list(out, "dimensions", &instruction.dimensions)?,
            _ if is_dimensioned => write_list(out, "dimensions", &instruction.dimensions)?,
            _ => {}
        }
        if let Some(index) = instruction.tuple_index {
            write!(out, ", index={index}")?;
        }
        if let Some(kind) = &instruction.fusion_kind {
            write!(out, ", kind={kind}")?;
        }
        if let Some(channel) = instruction.channel_id {
            write!(out, ", channel_id={channel}")?;
        }
        if let Some(target) = &instruction.custom_call_target {
            out.push_str(", custom_call_target=");
            write_quoted(out, target)?;
        }
        self.write_called(out, instruction)?;
        if let Some(attributes) = &instruction.attributes {
            write_rare(out, attributes)?;
        }
        if !instruction.control_predecessors.is_empty() {
            let names = instruction.control_predecessors.iter().map(|id| format!("%{}", self.instruction(*id).name));
            write!(out, ", control-predecessors={{{}}}", names.collect::<Vec<_>>().join(", "))?;
        }
        write_metadata(out, instruction)?;
        let config = instruction.backend_config.raw.as_str();
        match config.trim_start().starts_with('{') {
            _ if config.is_empty() => Ok(()),
            true => write!(out, ", backend_config={config}"),
            false => {
                out.push_str(", backend_config=");
                write_quoted(out, config)
            }
        }
    }

    fn write_called(&self, out: &mut String, instruction: &Instruction) -> fmt::Result {
        let names: Vec<&str> = instruction.called.iter().map(|id| self.computation(*id).name.as_str()).collect();
        match (&*instruction.opcode, &names[..]) {
            (_, []) => Ok(()),
            ("while", [body, condition]) => write!(out, ", condition=%{condition}, body=%{body}"),
            ("fusion" | "async-start" | "async-update" | "async-done", [one]) => write!(out, ", calls=%{one}"),
            ("conditional", names) => write!(out, ", branch_computations={{%{}}}", names.join(", %")),
            ("custom-call", names) => write!(out, ", called_computations={{%{}}}", names.join(", %")),
            ("select-and-scatter", [select, scatter]) => write!(out, ", select=%{select}, scatter=%{scatter}"),
            (_, [one]) => write!(out, ", to_apply=%{one}"),
            (_, names) => write!(out, ", called_computations={{%{}}}", names.join(", %")),
        }
    }
}

fn write_list(out: &mut String, name: &str, numbers: &[i64]) -> fmt::Result {
    write!(out, ", {name}={{")?;
    write_joined(out, numbers)?;
    out.push('}');
    Ok(())
}

/// Writes a list only if it has something in it.
fn write_some(out: &mut String, name: &str, numbers: &[i64]) -> fmt::Result {
    if numbers.is_empty() { Ok(()) } else { write_list(out, name, numbers) }
}

fn write_rare(out: &mut String, attributes: &Attributes) -> fmt::Result {
    write_dimension_numbers(out, attributes)?;
    write_slices(out, attributes)?;
    write_groups(out, attributes)?;
    write_options(out, attributes)?;
    if let Some(sharding) = &attributes.sharding {
        write!(out, ", sharding={sharding}")?;
    }
    write_frontend(out, &attributes.frontend_attributes)?;
    for (name, value) in &attributes.other {
        write!(out, ", {name}={value}")?;
    }
    Ok(())
}

fn write_dimension_numbers(out: &mut String, attributes: &Attributes) -> fmt::Result {
    if let Some(window) = attributes.window.as_ref().filter(|window| !window.dimensions.is_empty()) {
        write_window(out, window)?;
    }
    if let Some(dimensions) = &attributes.convolution {
        write!(out, ", dim_labels={}", crate::text::labels::render(dimensions))?;
    }
    if let Some(dot) = &attributes.dot {
        write_some(out, "lhs_batch_dims", &dot.lhs_batch)?;
        write_some(out, "lhs_contracting_dims", &dot.lhs_contracting)?;
        write_some(out, "rhs_batch_dims", &dot.rhs_batch)?;
        write_some(out, "rhs_contracting_dims", &dot.rhs_contracting)?;
    }
    if let Some(ragged) = &attributes.ragged_dot {
        write_list(out, "lhs_ragged_dims", &ragged.lhs_ragged)?;
        write_list(out, "rhs_group_dims", &ragged.rhs_group)?;
    }
    if let Some(gather) = &attributes.gather {
        write_list(out, "offset_dims", &gather.offset_dims)?;
        write_list(out, "collapsed_slice_dims", &gather.collapsed_slice_dims)?;
        write_list(out, "start_index_map", &gather.start_index_map)?;
        write_some(out, "operand_batching_dims", &gather.operand_batching_dims)?;
        write_some(out, "start_indices_batching_dims", &gather.start_indices_batching_dims)?;
        write!(out, ", index_vector_dim={}", gather.index_vector_dim)?;
    }
    if let Some(scatter) = &attributes.scatter {
        write_list(out, "update_window_dims", &scatter.update_window_dims)?;
        write_list(out, "inserted_window_dims", &scatter.inserted_window_dims)?;
        write_list(out, "scatter_dims_to_operand_dims", &scatter.scatter_dims_to_operand_dims)?;
        write_some(out, "input_batching_dims", &scatter.input_batching_dims)?;
        write_some(out, "scatter_indices_batching_dims", &scatter.scatter_indices_batching_dims)?;
        write!(out, ", index_vector_dim={}", scatter.index_vector_dim)?;
    }
    Ok(())
}

fn write_slices(out: &mut String, attributes: &Attributes) -> fmt::Result {
    if !attributes.slices.is_empty() {
        let bounds = attributes.slices.iter().map(|slice| match slice.stride {
            1 => format!("[{}:{}]", slice.start, slice.limit),
            stride => format!("[{}:{}:{stride}]", slice.start, slice.limit),
        });
        write!(out, ", slice={{{}}}", bounds.collect::<Vec<_>>().join(", "))?;
    }
    write_some(out, "slice_sizes", &attributes.slice_sizes)?;
    if !attributes.padding.is_empty() {
        let edges = attributes.padding.iter().map(|edge| match edge.interior {
            0 => format!("{}_{}", edge.low, edge.high),
            interior => format!("{}_{}_{interior}", edge.low, edge.high),
        });
        write!(out, ", padding={}", edges.collect::<Vec<_>>().join("x"))?;
    }
    if let Some(kind) = &attributes.fft_type {
        write!(out, ", fft_type={kind}")?;
    }
    write_some(out, "fft_length", &attributes.fft_length)
}

fn write_groups(out: &mut String, attributes: &Attributes) -> fmt::Result {
    for (name, count) in
        [("feature_group_count", attributes.feature_group_count), ("batch_group_count", attributes.batch_group_count)]
    {
        if count > 1 {
            write!(out, ", {name}={count}")?;
        }
    }
    match &attributes.replica_groups {
        ReplicaGroups::Unsaid => {}
        ReplicaGroups::Mesh { text, .. } | ReplicaGroups::Other(text) => write!(out, ", replica_groups={text}")?,
        ReplicaGroups::Listed(groups) => {
            out.push_str(", replica_groups={");
            for (position, group) in groups.iter().enumerate() {
                out.push_str(if position == 0 { "{" } else { ",{" });
                write_joined(out, group)?;
                out.push('}');
            }
            out.push('}');
        }
        ReplicaGroups::Iota { groups, size, reshape, transpose } => {
            write!(out, ", replica_groups=[{groups},{size}]<=[")?;
            write_joined(out, reshape)?;
            out.push(']');
            if !transpose.is_empty() {
                out.push_str("T(");
                write_joined(out, transpose)?;
                out.push(')');
            }
        }
    }
    if !attributes.source_target_pairs.is_empty() {
        let pairs = attributes.source_target_pairs.iter().map(|(source, target)| format!("{{{source},{target}}}"));
        write!(out, ", source_target_pairs={{{}}}", pairs.collect::<Vec<_>>().join(","))?;
    }
    Ok(())
}

fn write_options(out: &mut String, attributes: &Attributes) -> fmt::Result {
    let flags = [
        ("use_global_device_ids", attributes.use_global_device_ids),
        ("constrain_layout", attributes.constrain_layout),
        ("is_stable", attributes.is_stable),
        ("indices_are_sorted", attributes.indices_are_sorted),
        ("unique_indices", attributes.unique_indices),
        ("custom_call_has_side_effect", attributes.custom_call_has_side_effect),
        ("is_host_transfer", attributes.is_host_transfer),
        ("is_composite", attributes.is_composite),
        ("largest", attributes.largest),
        ("is_reverse", attributes.is_reverse),
        ("lower", attributes.cholesky_lower),
    ];
    for (name, _) in flags.iter().filter(|(_, set)| *set) {
        write!(out, ", {name}=true")?;
    }
    let words = [
        ("direction", &attributes.comparison_direction),
        ("type", &attributes.comparison_type),
        ("distribution", &attributes.distribution),
        ("algorithm", &attributes.rng_algorithm),
        ("algorithm", &attributes.precision.algorithm),
        ("api_version", &attributes.custom_call_api_version),
        ("schedule", &attributes.custom_call_schedule),
        ("padding_type", &attributes.padding_type),
    ];
    for (name, word) in words {
        if let Some(word) = word {
            write!(out, ", {name}={word}")?;
        }
    }
    let numbers = [
        ("exponent_bits", attributes.exponent_bits),
        ("mantissa_bits", attributes.mantissa_bits),
        ("feature_index", attributes.feature_index),
        ("k", attributes.k),
        ("num_carries", attributes.num_carries),
        ("delta", attributes.delta),
        ("cross_program_prefetch_index", attributes.cross_program_prefetch_index),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            write!(out, ", {name}={number}")?;
        }
    }
    if let Some(epsilon) = attributes.epsilon {
        write!(out, ", epsilon={epsilon}")?;
    }
    if !attributes.precision.operands.is_empty() {
        write!(out, ", operand_precision={{{}}}", attributes.precision.operands.join(","))?;
    }
    if let Some(thread) = &attributes.async_execution_thread {
        write!(out, ", async_execution_thread=\"{thread}\"")?;
    }
    if let Some(options) = &attributes.triangular_solve {
        for (name, _) in
            [("left_side", options.left_side), ("lower", options.lower), ("unit_diagonal", options.unit_diagonal)]
                .iter()
                .filter(|(_, set)| *set)
        {
            write!(out, ", {name}=true")?;
        }
        write!(out, ", transpose_a={}", options.transpose)?;
    }
    write_call_details(out, attributes)
}

fn write_call_details(out: &mut String, attributes: &Attributes) -> fmt::Result {
    if !attributes.operand_layouts.is_empty() {
        let shapes = attributes.operand_layouts.iter().map(ToString::to_string);
        write!(out, ", operand_layout_constraints={{{}}}", shapes.collect::<Vec<_>>().join(", "))?;
    }
    if !attributes.output_aliases.is_empty() {
        out.push_str(", output_to_operand_aliasing={");
        for (position, alias) in attributes.output_aliases.iter().enumerate() {
            out.push_str(if position == 0 { "{" } else { ", {" });
            write_joined(out, &alias.output_index)?;
            write!(out, "}}: ({}, {{", alias.operand)?;
            write_joined(out, &alias.operand_index)?;
            out.push_str("})");
        }
        out.push('}');
    }
    Ok(())
}

fn write_window(out: &mut String, window: &Window) -> fmt::Result {
    let dimensions = &window.dimensions;
    let join =
        |text: &dyn Fn(&crate::WindowDimension) -> String| dimensions.iter().map(text).collect::<Vec<_>>().join("x");
    write!(out, ", window={{size={}", join(&|d| d.size.to_string()))?;
    if dimensions.iter().any(|d| d.stride != 1) {
        write!(out, " stride={}", join(&|d| d.stride.to_string()))?;
    }
    if dimensions.iter().any(|d| d.padding_low != 0 || d.padding_high != 0) {
        write!(out, " pad={}", join(&|d| format!("{}_{}", d.padding_low, d.padding_high)))?;
    }
    if dimensions.iter().any(|d| d.base_dilation != 1) {
        write!(out, " lhs_dilate={}", join(&|d| d.base_dilation.to_string()))?;
    }
    if dimensions.iter().any(|d| d.window_dilation != 1) {
        write!(out, " rhs_dilate={}", join(&|d| d.window_dilation.to_string()))?;
    }
    if dimensions.iter().any(|d| d.reversal) {
        write!(out, " rhs_reversal={}", join(&|d| u8::from(d.reversal).to_string()))?;
    }
    out.push('}');
    Ok(())
}

pub(super) fn write_frontend(out: &mut String, attributes: &[(String, String)]) -> fmt::Result {
    if attributes.is_empty() {
        return Ok(());
    }
    out.push_str(", frontend_attributes={");
    for (position, (key, value)) in attributes.iter().enumerate() {
        write!(out, "{}{key}=", if position == 0 { "" } else { "," })?;
        // Dictionaries stand as they are, as XLA prints them.
        if value.starts_with('{') { out.push_str(value) } else { write_quoted(out, value)? }
    }
    out.push('}');
    Ok(())
}

fn write_metadata(out: &mut String, instruction: &Instruction) -> fmt::Result {
    let (metadata, attributes) = (&instruction.metadata, instruction.attributes());
    let texts = [
        ("op_type", metadata.op_type.as_str()),
        ("op_name", metadata.op_name.as_str()),
        ("source_file", metadata.source_file.as_str()),
        ("deduplicated_name", attributes.deduplicated_name.as_deref().unwrap_or_default()),
        ("scheduling_name", attributes.scheduling_name.as_deref().unwrap_or_default()),
    ];
    let numbers = [
        ("source_line", metadata.source_line),
        ("source_end_line", metadata.source_end_line),
        ("source_column", metadata.source_column),
        ("source_end_column", metadata.source_end_column),
        ("stack_frame_id", metadata.stack_frame_id),
    ];
    let mut separator = ", metadata={";
    for (name, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
        write!(out, "{separator}{name}=")?;
        write_quoted(out, text)?;
        separator = " ";
    }
    for (name, number) in numbers.iter().filter(|(_, number)| *number != 0) {
        write!(out, "{separator}{name}={number}")?;
        separator = " ";
    }
    out.push_str(if separator == " " { "}" } else { "" });
    Ok(())
}
