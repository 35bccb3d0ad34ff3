//! ridge_import.
