//! Values in wires of Verilog.

use crate::program::Relation;

/// How a value lies in wires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Wires {
    pub(super) width: usize,
    pub(super) is_signed: bool,
}

impl Wires {
    /// A number in them.
    pub(super) fn literal(self, value: i64) -> String {
        let mask = if self.width >= 64 { u64::MAX } else { (1_u64 << self.width) - 1 };
        format!("{}'{}h{:x}", self.width, if self.is_signed { "s" } else { "" }, value.cast_unsigned() & mask)
    }
}

/// Two values so related, where Verilog's own comparison says it.
pub(super) fn compared(relation: Relation, a: &str, b: &str) -> String {
    let sign = match relation {
        Relation::Eq => "==",
        Relation::Ne => "!=",
        Relation::Lt => "<",
        Relation::Le => "<=",
        Relation::Gt => ">",
        Relation::Ge => ">=",
    };
    format!("{a} {sign} {b}")
}
