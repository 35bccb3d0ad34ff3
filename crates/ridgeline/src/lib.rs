//! ridgeline.
