//! The compare-exchanges that put a few values in order, or find some places among them.

/// Values up to which a sort is a network.
pub(crate) const LARGEST: usize = 64;

/// Batcher's odd-even merge sort for `values`, without the exchanges that no place in `wanted` needs; in order.
///
/// Batcher, "Sorting networks and their applications", AFIPS 1968.
pub(crate) fn exchanges(values: usize, wanted: &[usize]) -> Vec<(usize, usize)> {
    let mut is_needed = vec![false; values];
    wanted.iter().filter(|place| **place < values).for_each(|place| is_needed[*place] = true);
    let mut kept: Vec<(usize, usize)> = Vec::new();
    for (low, high) in batcher(values).into_iter().rev() {
        if is_needed[low] || is_needed[high] {
            (is_needed[low], is_needed[high]) = (true, true);
            kept.push((low, high));
        }
    }
    kept.reverse();
    kept
}

fn batcher(values: usize) -> Vec<(usize, usize)> {
    let size = values.max(1).next_power_of_two();
    let mut pairs = Vec::new();
    let mut merged = 1;
    while merged < size {
        let mut apart = merged;
        while apart >= 1 {
            let mut from = apart % merged;
            while from + apart < size {
                for at in from..(from + apart).min(size - apart) {
                    if at / (2 * merged) == (at + apart) / (2 * merged) && at + apart < values {
                        pairs.push((at, at + apart));
                    }
                }
                from += 2 * apart;
            }
            apart /= 2;
        }
        merged *= 2;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_is_in_its_place() {
        // By the 0-1 principle words of zeros and ones are enough.
        for values in 1..11 {
            for place in 0..values {
                let pairs = exchanges(values, &[place]);
                for word in 0..1_u32 << values {
                    let mut found: Vec<u32> = (0..values).map(|bit| word >> bit & 1).collect();
                    let mut sorted = found.clone();
                    sorted.sort_unstable();
                    for &(low, high) in &pairs {
                        if found[high] < found[low] {
                            found.swap(low, high);
                        }
                    }
                    assert_eq!(found[place], sorted[place], "{values} {place} {word:b}");
                }
            }
        }
        assert_eq!(exchanges(27, &[13]).len(), 126);
    }
}
