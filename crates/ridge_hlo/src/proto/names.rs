//! Names of XLA's enum values, as HLO text spells them.

/// The entry `number` of a table, or the number itself where the table is older than the file.
fn named(table: &[&str], number: u64) -> String {
    match usize::try_from(number).ok().and_then(|position| table.get(position)) {
        Some(name) => (*name).to_owned(),
        None => number.to_string(),
    }
}

pub(super) fn fft_type(number: u64) -> String {
    named(&["FFT", "IFFT", "RFFT", "IRFFT"], number)
}

pub(super) fn distribution(number: u64) -> String {
    named(&["rng_invalid", "rng_uniform", "rng_normal"], number)
}

pub(super) fn rng_algorithm(number: u64) -> String {
    named(&["rng_default", "rng_three_fry", "rng_philox"], number)
}

pub(super) fn precision(number: u64) -> String {
    named(&["default", "high", "highest"], number)
}

pub(super) fn algorithm(number: u64) -> String {
    const ALGORITHMS: &[&str] = &[
        "unset",
        "dot_any_f8_any_f8_f32",
        "dot_any_f8_any_f8_f32_fast_accum",
        "dot_f16_f16_f16",
        "dot_f16_f16_f32",
        "dot_bf16_bf16_bf16",
        "dot_bf16_bf16_f32",
        "dot_bf16_bf16_f32_x3",
        "dot_bf16_bf16_f32_x6",
        "dot_tf32_tf32_f32",
        "dot_tf32_tf32_f32_x3",
        "dot_f32_f32_f32",
        "dot_f64_f64_f64",
        "dot_bf16_bf16_f32_x9",
    ];
    named(ALGORITHMS, number)
}

pub(super) fn transpose(number: u64) -> String {
    named(&["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"], number)
}

pub(super) fn api_version(number: u64) -> String {
    const VERSIONS: &[&str] = &[
        "API_VERSION_UNSPECIFIED",
        "API_VERSION_ORIGINAL",
        "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED",
        "API_VERSION_TYPED_FFI",
    ];
    named(VERSIONS, number)
}

pub(super) fn call_schedule(number: u64) -> String {
    named(&["SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"], number)
}

pub(super) fn padding_type(number: u64) -> String {
    named(&["PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"], number)
}
