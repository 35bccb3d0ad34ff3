//! ridge_analysis.
