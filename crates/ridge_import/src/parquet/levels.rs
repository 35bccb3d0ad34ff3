//! Runs of small numbers: the hybrid of repeats and bit packing that levels and dictionary indices are written in.
//!
//! <https://parquet.apache.org/docs/file-format/data-pages/encodings/>, "Run Length Encoding / Bit-Packing Hybrid".

/// Appends `count` numbers of `width` bits from `bytes` to `out`; `None` where they are broken or too few.
pub(super) fn hybrid(bytes: &[u8], width: u32, count: usize, out: &mut Vec<u32>) -> Option<()> {
    if width > 32 {
        return None;
    }
    let (mut at, end) = (0, out.len() + count);
    while out.len() < end {
        let head = varint(bytes, &mut at)?;
        let left = end - out.len();
        if head & 1 == 0 {
            let wide = width.div_ceil(8) as usize;
            let little = bytes.get(at..at + wide)?.iter().rev();
            let value = little.fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
            at += wide;
            let run = usize::try_from(head >> 1).ok()?.min(left);
            if run == 0 {
                return None;
            }
            out.resize(out.len() + run, value);
        } else {
            let groups = usize::try_from(head >> 1).ok()?;
            let packed = groups.checked_mul(width as usize)?;
            // The last run may be cut at the end of the page.
            let packed = bytes.get(at..)?.get(..packed).or_else(|| bytes.get(at..))?;
            at += packed.len();
            let whole = if width == 0 { left } else { packed.len() * 8 / width as usize };
            let run = groups.checked_mul(8)?.min(left).min(whole);
            if run == 0 {
                return None;
            }
            unpack_bits(packed, width, run, out);
        }
    }
    Some(())
}

fn unpack_bits(packed: &[u8], width: u32, count: usize, out: &mut Vec<u32>) {
    let mask = if width == 32 { u64::from(u32::MAX) } else { (1_u64 << width) - 1 };
    let (mut pool, mut bits, mut bytes) = (0_u64, 0, packed.iter());
    for _ in 0..count {
        while bits < width {
            pool |= u64::from(bytes.next().copied().unwrap_or(0)) << bits;
            bits += 8;
        }
        out.push((pool & mask) as u32);
        pool >>= width;
        bits -= width;
    }
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], width: u32, count: usize, expected: Option<&[u32]>) {
        let mut out = Vec::new();
        let read = hybrid(bytes, width, count, &mut out);
        assert_eq!(read.map(|()| &out[..]), expected);
    }

    #[test]
    fn repeats_and_packed_bits() {
        // The specification's own example: 0 to 7 in three bits.
        check(&[3, 0b1000_1000, 0b1100_0110, 0b1111_1010], 3, 8, Some(&[0, 1, 2, 3, 4, 5, 6, 7]));
        check(&[10, 7, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010], 3, 7, Some(&[7, 7, 7, 7, 7, 0, 1]));
        check(&[8], 0, 4, Some(&[0, 0, 0, 0]));
    }

    #[test]
    fn broken_runs_end() {
        for broken in [&[0, 1][..], &[], &[200, 200, 200], &[1], &[3]] {
            check(broken, 3, 8, None);
        }
        check(&[3, 0], 40, 8, None);
    }
}
