//! ridge_test.
