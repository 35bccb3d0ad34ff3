//! Element types: XLA's primitive types by number, name and width.
//!
//! Numbers are those of `PrimitiveType` in XLA's `xla_data.proto`.

use std::fmt;

macro_rules! element_types {
    ($($(#[$doc:meta])* $variant:ident = $number:literal, $name:literal, $bits:expr;)*) => {
        /// The type of an array's elements.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        #[non_exhaustive]
        pub enum ElementType {
            $($(#[$doc])* $variant,)*
            /// Nothing was said, or a type newer than this crate.
            #[default]
            Unknown,
        }

        impl ElementType {
            /// The type with this number in XLA's protos.
            pub fn from_number(number: u64) -> ElementType {
                match number {
                    $($number => ElementType::$variant,)*
                    _ => ElementType::Unknown,
                }
            }

            /// The type with this name in HLO text (`f32`, `bf16`), lower case.
            pub fn from_name(name: &str) -> Option<ElementType> {
                match name {
                    $($name => Some(ElementType::$variant),)*
                    _ => None,
                }
            }

            /// Its name in HLO text; `invalid` if unknown.
            pub fn name(self) -> &'static str {
                match self {
                    $(ElementType::$variant => $name,)*
                    ElementType::Unknown => "invalid",
                }
            }

            /// Bits of one element; `None` for tuples, tokens, opaque and unknown types.
            ///
            /// `pred` counts 8, as it is stored.
            pub fn bits(self) -> Option<u32> {
                match self {
                    $(ElementType::$variant => $bits,)*
                    ElementType::Unknown => None,
                }
            }
        }
    };
}

element_types! {
    /// Boolean, one byte.
    Pred = 1, "pred", Some(8);
    /// Signed, 1 bit.
    S1 = 30, "s1", Some(1);
    /// Signed, 2 bits.
    S2 = 26, "s2", Some(2);
    /// Signed, 4 bits.
    S4 = 21, "s4", Some(4);
    /// Signed, 8 bits.
    S8 = 2, "s8", Some(8);
    /// Signed, 16 bits.
    S16 = 3, "s16", Some(16);
    /// Signed, 32 bits.
    S32 = 4, "s32", Some(32);
    /// Signed, 64 bits.
    S64 = 5, "s64", Some(64);
    /// Unsigned, 1 bit.
    U1 = 31, "u1", Some(1);
    /// Unsigned, 2 bits.
    U2 = 27, "u2", Some(2);
    /// Unsigned, 4 bits.
    U4 = 22, "u4", Some(4);
    /// Unsigned, 8 bits.
    U8 = 6, "u8", Some(8);
    /// Unsigned, 16 bits.
    U16 = 7, "u16", Some(16);
    /// Unsigned, 32 bits.
    U32 = 8, "u32", Some(32);
    /// Unsigned, 64 bits.
    U64 = 9, "u64", Some(64);
    /// IEEE half precision.
    F16 = 10, "f16", Some(16);
    /// IEEE single precision.
    F32 = 11, "f32", Some(32);
    /// Brain float, 16 bits.
    Bf16 = 16, "bf16", Some(16);
    /// IEEE double precision.
    F64 = 12, "f64", Some(64);
    /// 8-bit float, 5 exponent and 2 mantissa bits.
    F8e5m2 = 19, "f8e5m2", Some(8);
    /// 8-bit float, 4 exponent and 3 mantissa bits.
    F8e4m3 = 28, "f8e4m3", Some(8);
    /// 8-bit float, 4 exponent and 3 mantissa bits, finite.
    F8e4m3fn = 20, "f8e4m3fn", Some(8);
    /// 8-bit float, 4 exponent and 3 mantissa bits, bias 11, finite, no negative zero.
    F8e4m3b11fnuz = 23, "f8e4m3b11fnuz", Some(8);
    /// 8-bit float, 3 exponent and 4 mantissa bits.
    F8e3m4 = 29, "f8e3m4", Some(8);
    /// 8-bit float, 5 exponent and 2 mantissa bits, finite, no negative zero.
    F8e5m2fnuz = 24, "f8e5m2fnuz", Some(8);
    /// 8-bit float, 4 exponent and 3 mantissa bits, finite, no negative zero.
    F8e4m3fnuz = 25, "f8e4m3fnuz", Some(8);
    /// 4-bit float, 2 exponent and 1 mantissa bits.
    F4e2m1fn = 32, "f4e2m1fn", Some(4);
    /// 8-bit power-of-two scale.
    F8e8m0fnu = 33, "f8e8m0fnu", Some(8);
    /// Complex of two single precision floats.
    C64 = 15, "c64", Some(64);
    /// Complex of two double precision floats.
    C128 = 18, "c128", Some(128);
    /// A tuple of shapes.
    Tuple = 13, "tuple", None;
    /// A value the compiler knows nothing of.
    Opaque = 14, "opaque", None;
    /// Ordering without a value.
    Token = 17, "token", None;
    /// A mutable buffer.
    Buffer = 34, "b", None;
}

impl ElementType {
    /// Whether it is a signed or unsigned integer, booleans aside.
    pub fn is_integer(self) -> bool {
        use ElementType::*;
        matches!(self, S1 | S2 | S4 | S8 | S16 | S32 | S64 | U1 | U2 | U4 | U8 | U16 | U32 | U64)
    }

    /// Whether it is complex.
    pub fn is_complex(self) -> bool {
        matches!(self, ElementType::C64 | ElementType::C128)
    }

    /// Whether it is a real floating-point type.
    pub fn is_float(self) -> bool {
        self.bits().is_some() && !self.is_integer() && !self.is_complex() && self != ElementType::Pred
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
