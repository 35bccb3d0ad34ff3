//! The messages behind [`crate::Attributes`]: windows, dimension numbers, replica groups and their like.

use super::{Reader, extend, names, string};
use crate::wire::Value;
use crate::{
    ConvolutionDimensions, DotDimensions, GatherDimensions, OutputAlias, PaddingDimension, Precision,
    RaggedDotDimensions, ReplicaGroups, ScatterDimensions, SliceBounds, TriangularSolve, Window, WindowDimension,
};

impl Reader<'_> {
    /// Reads a message whose fields are all numbers or lists of numbers; `take` gets each.
    fn numbers<'m>(&mut self, message: &'m [u8], what: &'static str, mut take: impl FnMut(u32, Value<'m>)) {
        self.each(message, what, |_, number, value| take(number, value));
    }

    pub(super) fn window(&mut self, message: &[u8]) -> Window {
        let mut window = Window::default();
        self.each(message, "window", |reader, number, value| {
            if let (1, Value::Bytes(part)) = (number, value) {
                window.dimensions.push(reader.window_dimension(part));
            }
        });
        window
    }

    fn window_dimension(&mut self, message: &[u8]) -> WindowDimension {
        // Absent numbers are zero on the wire, whatever the default would be.
        let mut dimension =
            WindowDimension { size: 0, stride: 0, window_dilation: 0, base_dilation: 0, ..WindowDimension::default() };
        self.numbers(message, "window dimension", |number, value| {
            let value = integer(value);
            match number {
                1 => dimension.size = value,
                2 => dimension.stride = value,
                3 => dimension.padding_low = value,
                4 => dimension.padding_high = value,
                5 => dimension.window_dilation = value,
                6 => dimension.base_dilation = value,
                7 => dimension.reversal = value != 0,
                _ => {}
            }
        });
        dimension
    }

    pub(super) fn convolution(&mut self, message: &[u8]) -> ConvolutionDimensions {
        let mut dimensions = ConvolutionDimensions::default();
        self.numbers(message, "convolution dimension numbers", |number, value| match number {
            3 => dimensions.kernel_input_feature = integer(value),
            4 => dimensions.kernel_output_feature = integer(value),
            6 => extend(&mut dimensions.kernel_spatial, value),
            7 => dimensions.input_batch = integer(value),
            8 => dimensions.input_feature = integer(value),
            9 => dimensions.output_batch = integer(value),
            10 => dimensions.output_feature = integer(value),
            11 => extend(&mut dimensions.input_spatial, value),
            12 => extend(&mut dimensions.output_spatial, value),
            _ => {}
        });
        dimensions
    }

    pub(super) fn dot(&mut self, message: &[u8]) -> DotDimensions {
        let mut dimensions = DotDimensions::default();
        self.numbers(message, "dot dimension numbers", |number, value| match number {
            1 => extend(&mut dimensions.lhs_contracting, value),
            2 => extend(&mut dimensions.rhs_contracting, value),
            3 => extend(&mut dimensions.lhs_batch, value),
            4 => extend(&mut dimensions.rhs_batch, value),
            _ => {}
        });
        dimensions
    }

    /// A `ragged-dot` holds a plain dot's numbers besides its own.
    pub(super) fn ragged_dot(&mut self, message: &[u8]) -> (RaggedDotDimensions, Option<DotDimensions>) {
        let mut ragged = RaggedDotDimensions::default();
        let mut dot = None;
        self.each(message, "ragged dot dimension numbers", |reader, number, value| match (number, value) {
            (1, Value::Bytes(part)) => dot = Some(reader.dot(part)),
            (2, value) => extend(&mut ragged.lhs_ragged, value),
            (3, value) => extend(&mut ragged.rhs_group, value),
            _ => {}
        });
        (ragged, dot)
    }

    pub(super) fn gather(&mut self, message: &[u8]) -> GatherDimensions {
        let mut dimensions = GatherDimensions::default();
        self.numbers(message, "gather dimension numbers", |number, value| match number {
            1 => extend(&mut dimensions.offset_dims, value),
            2 => extend(&mut dimensions.collapsed_slice_dims, value),
            3 => extend(&mut dimensions.start_index_map, value),
            4 => dimensions.index_vector_dim = integer(value),
            5 => extend(&mut dimensions.operand_batching_dims, value),
            6 => extend(&mut dimensions.start_indices_batching_dims, value),
            _ => {}
        });
        dimensions
    }

    pub(super) fn scatter(&mut self, message: &[u8]) -> ScatterDimensions {
        let mut dimensions = ScatterDimensions::default();
        self.numbers(message, "scatter dimension numbers", |number, value| match number {
            1 => extend(&mut dimensions.update_window_dims, value),
            2 => extend(&mut dimensions.inserted_window_dims, value),
            3 => extend(&mut dimensions.scatter_dims_to_operand_dims, value),
            4 => dimensions.index_vector_dim = integer(value),
            5 => extend(&mut dimensions.input_batching_dims, value),
            6 => extend(&mut dimensions.scatter_indices_batching_dims, value),
            _ => {}
        });
        dimensions
    }

    pub(super) fn slice_bounds(&mut self, message: &[u8]) -> SliceBounds {
        let mut bounds = SliceBounds { start: 0, limit: 0, stride: 0 };
        self.numbers(message, "slice dimensions", |number, value| match number {
            1 => bounds.start = integer(value),
            2 => bounds.limit = integer(value),
            3 => bounds.stride = integer(value),
            _ => {}
        });
        bounds
    }

    pub(super) fn padding(&mut self, message: &[u8]) -> Vec<PaddingDimension> {
        let mut padding = Vec::new();
        self.each(message, "padding", |reader, number, value| {
            if let (1, Value::Bytes(part)) = (number, value) {
                let mut dimension = PaddingDimension::default();
                reader.numbers(part, "padding dimension", |number, value| match number {
                    1 => dimension.low = integer(value),
                    2 => dimension.high = integer(value),
                    3 => dimension.interior = integer(value),
                    _ => {}
                });
                padding.push(dimension);
            }
        });
        padding
    }

    /// One group of the plain list of replica groups.
    pub(super) fn replica_group(&mut self, message: &[u8], groups: &mut ReplicaGroups) {
        let mut members = Vec::new();
        self.numbers(message, "replica group", |number, value| {
            if number == 1 {
                extend(&mut members, value);
            }
        });
        match groups {
            ReplicaGroups::Listed(listed) => listed.push(members),
            _ => *groups = ReplicaGroups::Listed(vec![members]),
        }
    }

    /// The newer list of replica groups, one message deeper.
    pub(super) fn device_list(&mut self, message: &[u8], groups: &mut ReplicaGroups) {
        self.each(message, "collective device list", |reader, number, value| {
            if let (1, Value::Bytes(part)) = (number, value) {
                reader.replica_group(part, groups);
            }
        });
    }

    pub(super) fn iota_groups(&mut self, message: &[u8]) -> ReplicaGroups {
        let (mut groups, mut size) = (0, 0);
        let (mut reshape, mut transpose) = (Vec::new(), Vec::new());
        self.numbers(message, "iota replica groups", |number, value| match number {
            1 => groups = integer(value),
            2 => size = integer(value),
            3 => extend(&mut reshape, value),
            4 => extend(&mut transpose, value),
            _ => {}
        });
        if transpose.iter().zip(0..).all(|(&dimension, position)| dimension == position) {
            transpose = Vec::new();
        }
        ReplicaGroups::Iota { groups, size, reshape, transpose }
    }

    /// Groups along mesh axes, rendered as HLO text has them.
    pub(super) fn mesh_groups(&mut self, message: &[u8]) -> ReplicaGroups {
        let mut axes: Vec<(String, i64)> = Vec::new();
        // Which axis, and the part of it: extent before it and of it.
        let mut chosen: Vec<(i64, Option<(i64, i64)>)> = Vec::new();
        self.each(message, "mesh axes replica groups", |reader, number, value| match (number, value) {
            (1, Value::Bytes(mesh)) => reader.each(mesh, "mesh", |reader, number, value| {
                if let (1, Value::Bytes(part)) = (number, value) {
                    let mut axis = (String::new(), 0);
                    reader.numbers(part, "mesh axis", |number, value| match (number, value) {
                        (1, Value::Bytes(name)) => axis.0 = string(name),
                        (2, value) => axis.1 = integer(value),
                        _ => {}
                    });
                    axes.push(axis);
                }
            }),
            (2, Value::Bytes(part)) => {
                let axis = reader.axis(part);
                chosen.push(axis);
            }
            _ => {}
        });
        render_mesh_groups(&axes, &chosen)
    }

    fn axis(&mut self, message: &[u8]) -> (i64, Option<(i64, i64)>) {
        let (mut index, mut part_of) = (0, None);
        self.each(message, "mesh axis reference", |reader, number, value| match (number, value) {
            (2, Value::Bytes(part)) => {
                let mut sub = (0, 0);
                reader.numbers(part, "part of a mesh axis", |number, value| match number {
                    1 => sub.0 = integer(value),
                    2 => sub.1 = integer(value),
                    _ => {}
                });
                part_of = Some(sub);
            }
            (1, value) => index = integer(value),
            _ => {}
        });
        (index, part_of)
    }

    pub(super) fn source_target(&mut self, message: &[u8]) -> (i64, i64) {
        let mut pair = (0, 0);
        self.numbers(message, "source and target", |number, value| match number {
            1 => pair.0 = integer(value),
            2 => pair.1 = integer(value),
            _ => {}
        });
        pair
    }

    pub(super) fn precision(&mut self, message: &[u8]) -> Precision {
        let mut operands = Vec::new();
        let mut precision = Precision::default();
        self.numbers(message, "precision", |number, value| match number {
            1 => extend(&mut operands, value),
            2 => precision.algorithm = value.integer().filter(|&set| set != 0).map(names::algorithm),
            _ => {}
        });
        // All-default operands are what an absent list means.
        if operands.iter().any(|&operand| operand != 0) {
            precision.operands = operands.into_iter().map(|operand| names::precision(operand as u64)).collect();
        }
        precision
    }

    pub(super) fn triangular_solve(&mut self, message: &[u8]) -> TriangularSolve {
        let mut options = TriangularSolve { transpose: names::transpose(0), ..TriangularSolve::default() };
        self.numbers(message, "triangular solve options", |number, value| match number {
            1 => options.left_side = integer(value) != 0,
            2 => options.lower = integer(value) != 0,
            3 => options.unit_diagonal = integer(value) != 0,
            4 => options.transpose = names::transpose(integer(value) as u64),
            _ => {}
        });
        options
    }

    pub(super) fn frontend_attributes(&mut self, message: &[u8]) -> Vec<(String, String)> {
        let mut attributes = Vec::new();
        self.each(message, "frontend attributes", |reader, number, value| {
            if let (1, Value::Bytes(part)) = (number, value) {
                let mut entry = (String::new(), String::new());
                reader.each(part, "frontend attribute", |_, number, value| match (number, value) {
                    (1, Value::Bytes(key)) => entry.0 = string(key),
                    (2, Value::Bytes(text)) => entry.1 = string(text),
                    _ => {}
                });
                attributes.push(entry);
            }
        });
        // Map entries come in any order; text sorts them.
        attributes.sort();
        attributes
    }

    pub(super) fn output_alias(&mut self, message: &[u8]) -> OutputAlias {
        let mut alias = OutputAlias::default();
        self.numbers(message, "output operand aliasing", |number, value| match number {
            1 => extend(&mut alias.output_index, value),
            2 => alias.operand = integer(value),
            3 => extend(&mut alias.operand_index, value),
            _ => {}
        });
        alias
    }
}

fn render_mesh_groups(axes: &[(String, i64)], chosen: &[(i64, Option<(i64, i64)>)]) -> ReplicaGroups {
    let mesh: Vec<String> = axes.iter().map(|(name, extent)| format!("'{name}'={extent}")).collect();
    let mut size = Some(1u64);
    let mut names = Vec::new();
    for (index, part_of) in chosen {
        let axis = usize::try_from(*index).ok().and_then(|index| axes.get(index));
        let (name, whole) = axis.map_or(("?", -1), |(name, extent)| (name.as_str(), *extent));
        let extent = part_of.map_or(whole, |(_, extent)| extent);
        size = size.and_then(|size| size.checked_mul(u64::try_from(extent).ok()?));
        names.push(match part_of {
            Some((before, extent)) => format!("'{name}':({before}){extent}"),
            None => format!("'{name}'"),
        });
    }
    let text = format!("mesh[{}] {{{}}}", mesh.join(","), names.join(","));
    ReplicaGroups::Mesh { text, size }
}

/// A number field; lengths where a number should stand count as 0.
pub(super) fn integer(value: Value<'_>) -> i64 {
    value.integer().unwrap_or(0) as i64
}
