//! ridge_record.
