//! Amounts of memory, shown in binary units because allocators work in them.

use crate::digits::scaled;
use std::fmt;

/// An amount of memory or traffic in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const KIB: f64 = 1024.0;
        let scales = [(KIB.powi(4), "TiB"), (KIB.powi(3), "GiB"), (KIB * KIB, "MiB"), (KIB, "KiB"), (1.0, "B")];
        f.pad(&scaled(self.0 as f64, &scales))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_binary_units() {
        for (bytes, text) in
            [(0, "0 B"), (1023, "1,023 B"), (1024, "1 KiB"), (1 << 20, "1 MiB"), (1_158_138_880, "1.08 GiB")]
        {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }
}
