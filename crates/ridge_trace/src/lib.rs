//! ridge_trace.
