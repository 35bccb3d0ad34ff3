//! libFuzzer's way into the target `rocprof`; what it does is in the library beside it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ridge_fuzz::rocprof(bytes));
