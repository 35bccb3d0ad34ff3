//! libFuzzer's way into the target `perfetto`; what it does is in the library beside it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ridge_fuzz::perfetto(bytes));
