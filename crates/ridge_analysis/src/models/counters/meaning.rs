//! What a monitor's counters mean, by the names that `nvidia-smi`, `rocm-smi` and `amd-smi` give them.

/// What a counter is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// Part of the time in which any kernel ran, percent.
    Utilization,
    /// Memory taken, in bytes where it is multiplied by so many.
    MemoryUsed(u64),
    /// All of the memory, likewise.
    MemoryTotal(u64),
    /// Clock of the cores, MHz.
    CoreClock,
    /// The highest clock of the cores, MHz.
    MostCoreClock,
    /// Why clocks are lower than they could be: bits as NVML gives them.
    ThrottleReasons,
    /// One such reason, 1 while it holds: its bit.
    ThrottleReason(u64),
    /// Part of the time in which clocks were lowered to keep to the power limit, percent.
    PowerViolation,
    /// Whether clocks were lowered because of heat, 0 or 1.
    ThermalViolation,
}

impl Meaning {
    /// What the counter called `name` means.
    pub fn of(name: &str) -> Option<Meaning> {
        let lower = name.to_ascii_lowercase();
        let (bare, unit) = split(&lower);
        let bytes = match unit {
            Some("b") => 1,
            Some("kib" | "kb") => 1 << 10,
            // `nvidia-smi dmon` writes MB and means the driver's MiB.
            Some("mib" | "mb") => 1 << 20,
            Some("gib" | "gb") => 1 << 30,
            _ => 0,
        };
        let reason =
            bare.strip_prefix("clocks_event_reasons.").or_else(|| bare.strip_prefix("clocks_throttle_reasons."));
        if let Some(reason) = reason {
            return Meaning::of_reason(reason);
        }
        match bare {
            "utilization.gpu" | "sm" | "gpu use" | "gfx_activity" | "gfx" if matches!(unit, None | Some("%")) => {
                Some(Meaning::Utilization)
            }
            "memory.used" | "fb" | "vram total used memory" if bytes > 0 => Some(Meaning::MemoryUsed(bytes)),
            "memory.total" | "vram total memory" if bytes > 0 => Some(Meaning::MemoryTotal(bytes)),
            "clocks.sm" | "clocks.current.sm" | "pclk" => Some(Meaning::CoreClock),
            "clocks.max.sm" => Some(Meaning::MostCoreClock),
            "pviol" => Some(Meaning::PowerViolation),
            "tviol" => Some(Meaning::ThermalViolation),
            _ => None,
        }
    }

    /// Bits of `nvmlClocksEventReasons` in NVIDIA's `nvml.h`.
    fn of_reason(reason: &str) -> Option<Meaning> {
        Some(match reason {
            "active" => Meaning::ThrottleReasons,
            "sw_power_cap" => Meaning::ThrottleReason(0x4),
            "hw_slowdown" => Meaning::ThrottleReason(0x8),
            "sw_thermal_slowdown" => Meaning::ThrottleReason(0x20),
            "hw_thermal_slowdown" => Meaning::ThrottleReason(0x40),
            "hw_power_brake_slowdown" => Meaning::ThrottleReason(0x80),
            _ => return None,
        })
    }
}

/// The unit at the end of a counter's name: `[MiB]`, `(C)`.
pub fn unit_of(name: &str) -> Option<&str> {
    split(name).1
}

/// A counter's name without its unit, and the unit.
fn split(name: &str) -> (&str, Option<&str>) {
    let name = name.trim();
    let cut = |open: &str, close: char| {
        let (bare, unit) = name.strip_suffix(close)?.rsplit_once(open)?;
        (!unit.is_empty() && unit.len() <= 12).then_some((bare.trim_end(), Some(unit)))
    };
    cut(" [", ']').or_else(|| cut(" (", ')')).unwrap_or((name, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_three_monitors() {
        for (name, meaning) in [
            ("utilization.gpu [%]", Some(Meaning::Utilization)),
            ("sm [%]", Some(Meaning::Utilization)),
            ("GPU use (%)", Some(Meaning::Utilization)),
            ("sm [MHz]", None),
            ("utilization.memory [%]", None),
            ("memory.used [MiB]", Some(Meaning::MemoryUsed(1 << 20))),
            ("fb [MB]", Some(Meaning::MemoryUsed(1 << 20))),
            ("memory.total [MiB]", Some(Meaning::MemoryTotal(1 << 20))),
            ("VRAM Total Used Memory (B)", Some(Meaning::MemoryUsed(1))),
            ("pclk [MHz]", Some(Meaning::CoreClock)),
            ("clocks_event_reasons.active", Some(Meaning::ThrottleReasons)),
            ("clocks_throttle_reasons.sw_power_cap", Some(Meaning::ThrottleReason(4))),
            ("clocks_event_reasons.gpu_idle", None),
        ] {
            assert_eq!(Meaning::of(name), meaning, "{name}");
        }
    }

    #[test]
    fn the_unit_is_the_last_word_in_brackets() {
        for (name, unit) in [
            ("power.draw [W]", Some("W")),
            ("Temperature (Sensor edge) (C)", Some("C")),
            ("temperature.gpu", None),
            ("odd []", None),
        ] {
            assert_eq!(unit_of(name), unit, "{name}");
        }
    }
}
