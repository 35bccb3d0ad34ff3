//! Which profiler settings there are, checked before the program starts: a profiler drops what it does not know without a word.

use crate::error::RecordError;

/// What a setting's value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Flag,
    Integer,
    Text,
}

/// Fields of `jax.profiler.ProfileOptions` (jax 0.10.2); what they must be, as JAX's binding declares them.
const FIELDS: [(&str, Kind); 9] = [
    ("duration_ms", Kind::Integer),
    ("enable_hlo_proto", Kind::Flag),
    ("host_tracer_level", Kind::Integer),
    ("include_dataset_ops", Kind::Flag),
    ("python_tracer_level", Kind::Integer),
    ("raise_error_on_start_failure", Kind::Flag),
    ("repository_path", Kind::Text),
    ("session_id", Kind::Text),
    ("start_timestamp_ns", Kind::Integer),
];

/// Keys of its `advanced_configuration` that JAX documents (docs.jax.dev, "Profiling computation").
const ADVANCED: [(&str, Kind); 17] = [
    ("gpu_aggregated_tracing", Kind::Flag),
    ("gpu_dump_graph_node_mapping", Kind::Flag),
    ("gpu_enable_cupti_activity_graph_trace", Kind::Flag),
    ("gpu_enable_nvtx_tracking", Kind::Flag),
    ("gpu_max_activity_api_events", Kind::Integer),
    ("gpu_max_annotation_strings", Kind::Integer),
    ("gpu_max_callback_api_events", Kind::Integer),
    ("gpu_num_chips_to_profile_per_task", Kind::Integer),
    ("gpu_pm_sample_buffer_size_per_gpu_mb", Kind::Integer),
    ("gpu_pm_sample_counters", Kind::Text),
    ("gpu_pm_sample_interval_us", Kind::Integer),
    ("tpu_cpu_perf_counter_configs", Kind::Text),
    ("tpu_cpu_perf_counter_profile_events", Kind::Text),
    ("tpu_num_chips_to_profile_per_task", Kind::Integer),
    ("tpu_num_sparse_core_tiles_to_trace", Kind::Integer),
    ("tpu_num_sparse_cores_to_trace", Kind::Integer),
    ("tpu_trace_mode", Kind::Text),
];

/// Arguments of PyTorch's profiler, as `torch_tracer.py` takes them.
const TORCH: [(&str, Kind); 5] = [
    ("torch.profile_memory", Kind::Flag),
    ("torch.record_shapes", Kind::Flag),
    ("torch.with_flops", Kind::Flag),
    ("torch.with_modules", Kind::Flag),
    ("torch.with_stack", Kind::Flag),
];

/// What is passed on without a check, for a JAX that is newer than this.
const UNCHECKED: &str = "advanced.";

/// Look at each setting.
///
/// # Errors
/// [`RecordError::ProfileOption`] for the first that is not known or whose value does not suit it.
pub(crate) fn check(options: &[(String, String)]) -> Result<(), RecordError> {
    options.iter().try_for_each(|(key, value)| {
        if key.strip_prefix(UNCHECKED).is_some_and(|name| !name.is_empty()) {
            return Ok(());
        }
        let wrong = |expected: String| RecordError::ProfileOption { expected, found: format!("{key}={value}") };
        let Some((_, kind)) = known().find(|(name, _)| name == key) else {
            return Err(wrong(format!("one of the profiler settings {}", nearest(key).join(", "))));
        };
        if suits(*kind, value) { Ok(()) } else { Err(wrong(format!("{} for {key}", said(*kind)))) }
    })
}

/// The key and value as the harness passes them on.
pub(crate) fn passed_on(key: &str) -> &str {
    key.strip_prefix(UNCHECKED).unwrap_or(key)
}

fn known() -> impl Iterator<Item = &'static (&'static str, Kind)> {
    FIELDS.iter().chain(&ADVANCED).chain(&TORCH)
}

/// The known settings that share most words with `key`; all of them where none shares one.
fn nearest(key: &str) -> Vec<&'static str> {
    let words: Vec<&str> = key.split(['_', '.']).filter(|word| word.len() > 2).collect();
    let shared = |name: &str| words.iter().filter(|word| name.contains(**word)).count();
    let most = known().map(|(name, _)| shared(name)).max().unwrap_or_default();
    known().map(|(name, _)| *name).filter(|name| shared(name) == most).collect()
}

fn suits(kind: Kind, value: &str) -> bool {
    match kind {
        Kind::Flag => ["true", "false", "1", "0"].contains(&value.to_ascii_lowercase().as_str()),
        Kind::Integer => value.parse::<i64>().is_ok(),
        Kind::Text => !value.is_empty(),
    }
}

fn said(kind: Kind) -> &'static str {
    match kind {
        Kind::Flag => "true or false",
        Kind::Integer => "a whole number",
        Kind::Text => "a text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn settings_that_no_profiler_knows_are_named() {
        let all = [
            "host_tracer_level=3",
            "gpu_max_callback_api_events=1000",
            "torch.with_flops=true",
            "advanced.gpu_of_next_year=x",
            "host_trace_level=3",
            "host_tracer_level=high",
            "torch.with_flops=maybe",
            "advanced.=1",
        ];
        let lines: String = all
            .iter()
            .map(|text| {
                let (key, value) = text.split_once('=').expect("a pair");
                match check(&[(key.to_owned(), value.to_owned())]) {
                    Ok(()) => format!("{text}: fine\n"),
                    Err(error) => error.to_string().chars().take(120).chain(['\n']).collect(),
                }
            })
            .collect();
        expect![[r#"
            host_tracer_level=3: fine
            gpu_max_callback_api_events=1000: fine
            torch.with_flops=true: fine
            advanced.gpu_of_next_year=x: fine
            expected one of the profiler settings host_tracer_level, found "host_trace_level=3"
            expected a whole number for host_tracer_level, found "host_tracer_level=high"
            expected true or false for torch.with_flops, found "torch.with_flops=maybe"
            expected one of the profiler settings duration_ms, enable_hlo_proto, host_tracer_level, include_dataset_ops, python_trac
        "#]].assert_eq(&lines);
    }
}
