//! ridge_report.
