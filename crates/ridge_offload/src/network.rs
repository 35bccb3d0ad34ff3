//! How many compare-exchanges put a few values in order, or find some of the places among them.

/// Values up to which a sort is a network of its own; beyond, its area grows past any board.
pub(crate) const LARGEST: usize = 64;

/// Compare-exchanges of Batcher's odd-even merge sort for `values`, without those that no place in `wanted` needs.
///
/// Places count from 0, the least; `None` wants all. Batcher, "Sorting networks and their applications", AFIPS 1968.
/// A median of 27 takes 126. More than 64 values give `None`.
pub fn exchanges(values: usize, wanted: Option<&[usize]>) -> Option<usize> {
    if values > LARGEST {
        return None;
    }
    let network = batcher(values);
    let Some(wanted) = wanted else { return Some(network.len()) };
    let mut is_needed = vec![false; values];
    wanted.iter().filter(|place| **place < values).for_each(|place| is_needed[*place] = true);
    let mut count = 0;
    for (low, high) in network.into_iter().rev() {
        if is_needed[low] || is_needed[high] {
            (is_needed[low], is_needed[high]) = (true, true);
            count += 1;
        }
    }
    Some(count)
}

/// Layers of the network for `values`: k (k + 1) / 2 for 2^k values.
pub(crate) fn layers(values: usize) -> usize {
    let order = values.max(1).next_power_of_two().trailing_zeros() as usize;
    order * (order + 1) / 2
}

/// The exchanges in order, each a pair of places; those that touch a place past `values` would change nothing.
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

    /// `values` after the network.
    fn sorted(mut values: Vec<u32>) -> Vec<u32> {
        for (low, high) in batcher(values.len()) {
            if values[low] > values[high] {
                values.swap(low, high);
            }
        }
        values
    }

    #[test]
    fn the_network_sorts() {
        // By the 0-1 principle a network that sorts all words of zeros and ones sorts everything.
        for length in 0..12 {
            for word in 0..1_u32 << length {
                let found = sorted((0..length).map(|bit| word >> bit & 1).collect());
                assert!(found.is_sorted(), "{length} {word:b}");
            }
        }
    }

    #[test]
    fn published_sizes() {
        // Batcher's own counts for powers of two: 3 of 4... (k² − k + 4) 2^(k−2) − 1.
        for (values, count) in [(2, 1), (4, 5), (8, 19), (16, 63), (32, 191)] {
            assert_eq!(exchanges(values, None), Some(count), "{values}");
        }
        assert_eq!(exchanges(27, Some(&[13])), Some(126));
        assert_eq!(exchanges(65, None), None);
        assert_eq!((layers(27), layers(2), layers(1)), (15, 1, 0));
    }
}
