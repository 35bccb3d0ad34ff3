//! The rules, by group. A new one is a file, a document and a line here.

use crate::rule::Rule;

macro_rules! rules {
    ($($file:ident)*) => {
        $(mod $file;)*

        /// Every rule, in the order of groups.
        pub static RULES: &[&Rule] = &[$(&$file::RULE),*];
    };
}

rules! {
    capture_empty
    graph_capture_phase
    graph_under_recorded
    graph_opaque
    zero_timestamps
    malformed_outlier
    dropped_records
    profiler_overhead
    cpu_contention
    capture_too_heavy
    compile_in_window
    no_sync_timing
    few_or_unstable_steps
    setup_not_work
    clock_disagreement
    unlinked_launches
    no_source_lines
    unexplained_wait
    data_loading
    reading_on_host
    results_on_host
    writing_on_host
    converted_again
    grown_on_host
    python_loop_of_eager_ops
    small_programs_in_loop
    finite_differences
    small_calls_in_loop
    low_utilization
    blocking_call
    cold_start
    host_bound_dispatch
    anomaly_detection
    host_pause
    many_small_kernels
    recompilation
    unrolled_loop
    late_warmup
    alloc_storm
    module_load_late
    host_callback
    copies_dwarf_work
    copies_in_loop
    weights_streamed
    sync_copy
    device_to_device_copies
    many_small_copies
    slow_copy
    pageable_copy
    defensive_copies
    sequential_updates
    serial_while_small_body
    loop_state_copies
    missed_donation
    cheaper_form
    grown_input
    grows_each_step
    unused_gradients
    repeated_backward
    unread_gradients
    same_input_again
    computed_again
    padded_batches
    dense_embedding_gradients
    work_done_twice
    lanes_wait
    runs_to_limit
    solver_steps
    no_warm_start
    factorized_again
    frozen_work
    mostly_zeros
    both_branches
    stacked_results
    sequence_in_loop
    evaluated_each_step
    library_part
    distant_pairs
    one_by_one
    tiny_operations
    small_operators
    wide_convolution
    strided_gather
    narrow_reduction
    layout_copies
    gather_scatter_bound
    scatter_without_hints
    sort_for_selection
    fp64_used
    dtype_round_trips
    opaque_custom_call
    padding_waste
    transcendental_heavy
    recompute_heavy
    collective_in_loop
    tensor_cores_idle
    tf32_off
    low_occupancy
    small_grid
    matrix_shape
    below_roof
    variance_of_kernel
    profiled_kernel
    unexplained_work
    kernel_hotspot
    hot_line
    hot_host_line
    uncoalesced_access
    register_spills
    tail_wave
    atomics
    clocks_throttled
    bank_conflicts
    warp_stalls
    divergence
    unfused_attention
    unfused_eager
    dataparallel_used
    exposed_collectives
    straggler
    imbalance_of_work
    same_stream_comm
    small_messages
    collective_outlier
    decode_without_graphs
    host_between_steps
    kv_cache_update_heavy
    prefill_delays_decode
    small_decode_batch
    out_of_memory
    near_memory_limit
    fragmentation
    held_unused
    memory_growth
}

/// The rule called `id`.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

#[cfg(test)]
mod tests;
