//! What an instruction says beyond its operands: windows, dimension numbers, replica groups, precision.
//!
//! These are the facts a cost model needs. They sit behind one pointer because most instructions have none.

/// The less common attributes of an instruction; [`Default`] where it has none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Attributes {
    /// Sliding window of convolutions and `reduce-window`.
    pub window: Option<Window>,
    /// Which dimension of a convolution's arrays means what.
    pub convolution: Option<ConvolutionDimensions>,
    /// Contracting and batch dimensions of a `dot`.
    pub dot: Option<DotDimensions>,
    /// Dimension numbers of a `ragged-dot`.
    pub ragged_dot: Option<RaggedDotDimensions>,
    /// Dimension numbers of a `gather`.
    pub gather: Option<GatherDimensions>,
    /// Dimension numbers of a `scatter`.
    pub scatter: Option<ScatterDimensions>,
    /// Bounds of a `slice`, one per dimension.
    pub slices: Vec<SliceBounds>,
    /// Slice extents of a `dynamic-slice` or a `gather`, in elements.
    pub slice_sizes: Vec<i64>,
    /// Edges of a `pad`, one per dimension.
    pub padding: Vec<PaddingDimension>,
    /// `FFT`, `IFFT`, `RFFT` or `IRFFT`.
    pub fft_type: Option<String>,
    /// Extents of the transformed dimensions, in elements.
    pub fft_length: Vec<i64>,
    /// Groups of input features of a convolution; 0 where not said, which means 1.
    pub feature_group_count: i64,
    /// Groups of the batch dimension of a convolution; 0 where not said, which means 1.
    pub batch_group_count: i64,
    /// Devices that take part in a collective.
    pub replica_groups: ReplicaGroups,
    /// Sender and receiver of each transfer of a `collective-permute`.
    pub source_target_pairs: Vec<(i64, i64)>,
    /// Whether replica groups hold global device numbers.
    pub use_global_device_ids: bool,
    /// Whether the layout of a collective is fixed.
    pub constrain_layout: bool,
    /// Requested precision of a `dot` or convolution.
    pub precision: Precision,
    /// `EQ`, `NE`, `GE`, `GT`, `LE` or `LT`.
    pub comparison_direction: Option<String>,
    /// `FLOAT`, `TOTALORDER`, `SIGNED` or `UNSIGNED`.
    pub comparison_type: Option<String>,
    /// Whether a `sort` keeps the order of equal elements.
    pub is_stable: bool,
    /// Whether the indices of a `gather` or `scatter` are sorted.
    pub indices_are_sorted: bool,
    /// Whether the indices of a `scatter` do not repeat.
    pub unique_indices: bool,
    /// Options of a `triangular-solve`.
    pub triangular_solve: Option<TriangularSolve>,
    /// Whether a `cholesky` returns the lower triangle.
    pub cholesky_lower: bool,
    /// `rng_uniform` or `rng_normal`.
    pub distribution: Option<String>,
    /// `rng_default`, `rng_three_fry` or `rng_philox`.
    pub rng_algorithm: Option<String>,
    /// Exponent bits of a `reduce-precision`.
    pub exponent_bits: Option<i64>,
    /// Mantissa bits of a `reduce-precision`.
    pub mantissa_bits: Option<i64>,
    /// Epsilon of a batch norm.
    pub epsilon: Option<f32>,
    /// Feature dimension of a batch norm.
    pub feature_index: Option<i64>,
    /// How many elements a `topk` keeps.
    pub k: Option<i64>,
    /// Whether a `topk` keeps the largest elements.
    pub largest: bool,
    /// Whether a `scan` runs backwards.
    pub is_reverse: bool,
    /// Carried values of a `scan`.
    pub num_carries: Option<i64>,
    /// Offset of a `get-dimension-size` or async pair, as XLA's `delta`.
    pub delta: Option<i64>,
    /// Sharding, in HLO's notation with its braces.
    pub sharding: Option<String>,
    /// Key and value of each frontend attribute, in file order.
    pub frontend_attributes: Vec<(String, String)>,
    /// Outputs that share a buffer with an operand.
    pub output_aliases: Vec<OutputAlias>,
    /// Layouts a custom call or host transfer fixes for its operands.
    pub operand_layouts: Vec<crate::Shape>,
    /// `API_VERSION_TYPED_FFI` and the like.
    pub custom_call_api_version: Option<String>,
    /// `SCHEDULE_LATEST` or `SCHEDULE_EARLIEST`.
    pub custom_call_schedule: Option<String>,
    /// Whether a custom call has side effects.
    pub custom_call_has_side_effect: bool,
    /// Thread an async computation runs on; `None` for the main one.
    pub async_execution_thread: Option<String>,
    /// Whether `send` and `recv` talk to the host.
    pub is_host_transfer: bool,
    /// Whether a `call` stands for a named composite.
    pub is_composite: bool,
    /// `PADDING_VALID` or `PADDING_SAME`.
    pub padding_type: Option<String>,
    /// Which of several prefetches across programs a `copy-start` is.
    pub cross_program_prefetch_index: Option<i64>,
    /// The name a scheduler gave the instruction, from its metadata.
    pub scheduling_name: Option<String>,
    /// The name of the instruction this one is a copy of, from its metadata.
    pub deduplicated_name: Option<String>,
    /// Attributes with no field here, by name, as text; only the text reader fills it.
    pub other: Vec<(String, String)>,
}

/// A sliding window, one entry per spatial dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Window {
    /// The dimensions in order.
    pub dimensions: Vec<WindowDimension>,
}

/// One dimension of a window, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WindowDimension {
    /// Extent of the window.
    pub size: i64,
    /// Step from one position to the next.
    pub stride: i64,
    /// Padding before the first element; negative crops.
    pub padding_low: i64,
    /// Padding after the last element; negative crops.
    pub padding_high: i64,
    /// Distance between window elements; 1 means none are skipped.
    pub window_dilation: i64,
    /// Distance between input elements; 1 means no holes.
    pub base_dilation: i64,
    /// Whether the window runs backwards.
    pub reversal: bool,
}

impl Default for WindowDimension {
    fn default() -> Self {
        WindowDimension {
            size: 1,
            stride: 1,
            padding_low: 0,
            padding_high: 0,
            window_dilation: 1,
            base_dilation: 1,
            reversal: false,
        }
    }
}

/// Which dimension of a convolution's input, kernel and output means what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConvolutionDimensions {
    /// Batch dimension of the input.
    pub input_batch: i64,
    /// Feature dimension of the input.
    pub input_feature: i64,
    /// Spatial dimensions of the input, in window order.
    pub input_spatial: Vec<i64>,
    /// Input feature dimension of the kernel.
    pub kernel_input_feature: i64,
    /// Output feature dimension of the kernel.
    pub kernel_output_feature: i64,
    /// Spatial dimensions of the kernel, in window order.
    pub kernel_spatial: Vec<i64>,
    /// Batch dimension of the output.
    pub output_batch: i64,
    /// Feature dimension of the output.
    pub output_feature: i64,
    /// Spatial dimensions of the output, in window order.
    pub output_spatial: Vec<i64>,
}

/// Contracting and batch dimensions of a `dot`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct DotDimensions {
    /// Summed dimensions of the left operand.
    pub lhs_contracting: Vec<i64>,
    /// Summed dimensions of the right operand.
    pub rhs_contracting: Vec<i64>,
    /// Batch dimensions of the left operand.
    pub lhs_batch: Vec<i64>,
    /// Batch dimensions of the right operand.
    pub rhs_batch: Vec<i64>,
}

/// Dimension numbers of a `ragged-dot`; its contraction is in [`Attributes::dot`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RaggedDotDimensions {
    /// Ragged dimensions of the left operand.
    pub lhs_ragged: Vec<i64>,
    /// Group dimensions of the right operand.
    pub rhs_group: Vec<i64>,
}

/// Dimension numbers of a `gather`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "XLA's own names, defined in its operation semantics")]
pub struct GatherDimensions {
    pub offset_dims: Vec<i64>,
    pub collapsed_slice_dims: Vec<i64>,
    pub start_index_map: Vec<i64>,
    pub index_vector_dim: i64,
    pub operand_batching_dims: Vec<i64>,
    pub start_indices_batching_dims: Vec<i64>,
}

/// Dimension numbers of a `scatter`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "XLA's own names, defined in its operation semantics")]
pub struct ScatterDimensions {
    pub update_window_dims: Vec<i64>,
    pub inserted_window_dims: Vec<i64>,
    pub scatter_dims_to_operand_dims: Vec<i64>,
    pub index_vector_dim: i64,
    pub input_batching_dims: Vec<i64>,
    pub scatter_indices_batching_dims: Vec<i64>,
}

/// Bounds of a `slice` in one dimension, in elements: `start` inclusive, `limit` exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the struct says it")]
pub struct SliceBounds {
    pub start: i64,
    pub limit: i64,
    pub stride: i64,
}

/// Edges of a `pad` in one dimension, in elements; negative crops, `interior` goes between elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the struct says it")]
pub struct PaddingDimension {
    pub low: i64,
    pub high: i64,
    pub interior: i64,
}

/// The devices that take part in a collective, group by group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ReplicaGroups {
    /// Nothing was said: all devices form one group.
    #[default]
    Unsaid,
    /// Each group's members.
    Listed(Vec<Vec<i64>>),
    /// Groups counted out of a reshaped and transposed sequence of device numbers, `[groups,size]<=[reshape]T(perm)`.
    Iota {
        /// Number of groups.
        groups: i64,
        /// Devices per group.
        size: i64,
        /// Shape the sequence is given.
        reshape: Vec<i64>,
        /// Order its dimensions are then read in; empty if unchanged.
        transpose: Vec<i64>,
    },
    /// Groups along axes of a device mesh, `mesh['x'=2,'y'=4] {'x'}`.
    Mesh {
        /// The notation as text.
        text: String,
        /// Devices per group, where every axis has a known extent.
        size: Option<u64>,
    },
    /// A notation this crate does not know, as text.
    Other(String),
}

impl ReplicaGroups {
    /// Devices per group where it is known and the same for all: what a collective's cost depends on.
    pub fn group_size(&self) -> Option<u64> {
        match self {
            ReplicaGroups::Listed(groups) => {
                let size = groups.first()?.len();
                groups.iter().all(|group| group.len() == size).then_some(size as u64)
            }
            ReplicaGroups::Iota { size, .. } => u64::try_from(*size).ok(),
            ReplicaGroups::Mesh { size, .. } => *size,
            ReplicaGroups::Unsaid | ReplicaGroups::Other(_) => None,
        }
    }
}

/// Requested precision of a `dot` or convolution.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Precision {
    /// Per operand: `default`, `high` or `highest`; empty where not said.
    pub operands: Vec<String>,
    /// `dot_bf16_bf16_f32_x3` and the like; `None` where not said.
    pub algorithm: Option<String>,
}

/// Options of a `triangular-solve`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TriangularSolve {
    /// Whether the matrix stands on the left.
    pub left_side: bool,
    /// Whether it is the lower triangle.
    pub lower: bool,
    /// Whether its diagonal is taken as ones.
    pub unit_diagonal: bool,
    /// `NO_TRANSPOSE`, `TRANSPOSE` or `ADJOINT`.
    pub transpose: String,
}

/// One output that shares a buffer with an operand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputAlias {
    /// Path of tuple positions in the output.
    pub output_index: Vec<i64>,
    /// Which operand.
    pub operand: i64,
    /// Path of tuple positions in the operand.
    pub operand_index: Vec<i64>,
}
