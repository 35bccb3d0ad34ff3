//! The compare-exchanges that put a few values in order, or find some of the places among them.

/// Values up to which a sort is a network of its own; beyond, its area grows past any board.
pub const LARGEST: usize = 64;

/// Batcher's odd-even merge sort for `values`, in order, without the exchanges that no place in `wanted` needs.
///
/// Places count from 0, the least; `None` wants all. Batcher, "Sorting networks and their applications", AFIPS 1968.
/// A median of 27 takes 126. There is none for more than [`LARGEST`] values.
pub fn exchanges(values: usize, wanted: Option<&[usize]>) -> Option<Vec<(usize, usize)>> {
    if values > LARGEST {
        return None;
    }
    let mut network = batcher(values);
    let Some(wanted) = wanted else { return Some(network) };
    let mut is_needed = vec![false; values];
    wanted.iter().filter(|place| **place < values).for_each(|place| is_needed[*place] = true);
    let mut kept = Vec::new();
    while let Some((low, high)) = network.pop() {
        if is_needed[low] || is_needed[high] {
            (is_needed[low], is_needed[high]) = (true, true);
            kept.push((low, high));
        }
    }
    kept.reverse();
    Some(kept)
}

/// Layers of the network for `values`: k (k + 1) / 2 for 2^k values.
pub fn layers(values: usize) -> usize {
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

    /// `values` after the network that puts `wanted` in place.
    fn exchanged(mut values: Vec<u32>, wanted: Option<&[usize]>) -> Vec<u32> {
        for (low, high) in exchanges(values.len(), wanted).expect("few values") {
            if values[low] > values[high] {
                values.swap(low, high);
            }
        }
        values
    }

    // By the 0-1 principle a network that sorts all words of zeros and ones sorts everything.
    fn words(length: usize) -> impl Iterator<Item = Vec<u32>> {
        (0..1_u32 << length).map(move |word| (0..length).map(|bit| word >> bit & 1).collect())
    }

    #[test]
    fn the_network_sorts() {
        for word in (0..12).flat_map(words) {
            assert!(exchanged(word.clone(), None).is_sorted(), "{word:?}");
        }
    }

    #[test]
    fn what_is_wanted_is_in_its_place() {
        for word in (1..11).flat_map(words) {
            let mut sorted = word.clone();
            sorted.sort_unstable();
            for (place, value) in sorted.into_iter().enumerate() {
                assert_eq!(exchanged(word.clone(), Some(&[place]))[place], value, "{place} {word:?}");
            }
        }
    }

    #[test]
    fn published_sizes() {
        let count = |values, wanted: Option<&[usize]>| exchanges(values, wanted).map(|pairs| pairs.len());
        // Batcher's own counts for powers of two: 3 of 4... (k² − k + 4) 2^(k−2) − 1.
        for (values, published) in [(2, 1), (4, 5), (8, 19), (16, 63), (32, 191)] {
            assert_eq!(count(values, None), Some(published), "{values}");
        }
        assert_eq!(count(27, Some(&[13])), Some(126));
        assert_eq!(count(65, None), None);
        assert_eq!((layers(27), layers(2), layers(1)), (15, 1, 0));
    }
}
