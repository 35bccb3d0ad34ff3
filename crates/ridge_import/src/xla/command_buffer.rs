//! How XLA names the thunk that launches a command buffer, a CUDA graph on NVIDIA.

/// Whether `operation` is no instruction but a whole command buffer: `command_buffer`, `command_buffer_3`.
///
/// Every kernel of the buffer carries this name, since it has the annotations of the one launch
/// (`profile_annotation` in XLA's `command_buffer_conversion_pass.cc`; xprof issues 2544 and 3070 show it).
pub(crate) fn is_command_buffer(operation: &str) -> bool {
    let rest = operation.strip_prefix("command_buffer");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', ' ', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_told_from_instructions() {
        for (name, expected) in [
            ("command_buffer", true),
            ("command_buffer_12", true),
            ("command_buffer (disabled for profiling)", true),
            ("command_buffered", false),
            ("loop_add_fusion", false),
        ] {
            assert_eq!(is_command_buffer(name), expected, "{name}");
        }
    }
}
