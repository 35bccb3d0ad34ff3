//! Which devices a user means.

use crate::error::{Details, OpenError};
use ridge_analysis::device_labels;
use ridge_trace::{DeviceRow, Trace};

/// The devices of `trace` that `name` names: a number is the last part of a plane's name, anything else a part of the
/// name that tables show, which may have the process behind the plane's.
///
/// # Errors
/// [`OpenError`] where it names none, with the devices that there are.
pub(crate) fn devices_named(trace: &Trace, name: &str) -> Result<Vec<DeviceRow>, OpenError> {
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let labels = device_labels(trace);
    let is_wanted = |plane: &str, label: &str| match plane.rsplit_once(':') {
        Some((_, number)) if is_number => number == name,
        _ => label.contains(name),
    };
    let devices = trace.devices.iter().zip(&labels).enumerate();
    let wanted = devices.filter(|(_, (device, label))| is_wanted(&device.plane, label));
    let found: Vec<DeviceRow> = wanted.map(|(row, _)| DeviceRow(row as u32)).collect();
    if found.is_empty() { Err(unknown(labels, name)) } else { Ok(found) }
}

fn unknown(mut labels: Vec<String>, wanted: &str) -> OpenError {
    labels.dedup();
    let found = if labels.is_empty() { "none".to_owned() } else { labels.join(", ") };
    let details = Details::new(format!("unknown device `{wanted}`"));
    OpenError::UnknownName(details.hint(format!("the capture's devices: {found}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_parts_of_names() {
        let trace = ridge_test::trace(
            "stream 1 on /device:GPU:1
               0 +1 a
             stream 1 on /device:GPU:11
               0 +1 a
             stream 1 on /host:CPU",
        );
        let named = |wanted: &str| devices_named(&trace, wanted).map_err(|error| error.to_string());
        assert_eq!(named("1"), Ok(vec![DeviceRow(0)]));
        assert_eq!(named("GPU"), Ok(vec![DeviceRow(0), DeviceRow(1)]));
        assert_eq!(named("CPU"), Ok(vec![DeviceRow(2)]));
        assert_eq!(named("TPU"), Err("unknown device `TPU`".to_owned()));
    }

    #[test]
    fn processes_tell_devices_of_one_name_apart() {
        let trace = ridge_test::trace(
            "stream 1 on /device:CPU:0
               0 +1 a
             process looped
             stream 1 on /device:CPU:0
               0 +1 a",
        );
        let named = |wanted: &str| devices_named(&trace, wanted).map_err(|error| error.hints().join(""));
        assert_eq!(named("0"), Ok(vec![DeviceRow(0), DeviceRow(1)]));
        assert_eq!(named("/device:CPU:0 looped"), Ok(vec![DeviceRow(1)]));
        assert_eq!(named("x"), Err("the capture's devices: /device:CPU:0 host0, /device:CPU:0 looped".to_owned()));
    }
}
