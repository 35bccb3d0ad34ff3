//! Every sheet in the folder of sheets is in the program and whole.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and take the time")]

use ridge_analysis::{DeviceSheet, ProcessorSheet, processor_sheets, sheets};
use std::path::Path;

#[test]
fn every_file_is_listed_and_read() {
    let files = ridge_test::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("devices"), ".toml");
    assert_eq!(files.len(), sheets().len(), "a sheet is missing from the list in device.rs, or listed twice");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("UTF-8");
        let sheet = DeviceSheet::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(sheets().contains(&sheet), "{} is not in the list in device.rs", file.display());
    }
}

#[test]
fn every_processor_is_listed_and_read() {
    let files = ridge_test::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("processors"), ".toml");
    assert_eq!(
        files.len(),
        processor_sheets().len(),
        "a sheet is missing from the list in processor.rs, or listed twice"
    );
    for file in files {
        let text = std::fs::read_to_string(&file).expect("UTF-8");
        let sheet = ProcessorSheet::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(processor_sheets().contains(&sheet), "{} is not in the list in processor.rs", file.display());
    }
}
