//! Quantiles over several sorted lists without merging them.
//!
//! Tables are unions of groups whose durations are sorted once; a quantile of the union is found by bisecting on the
//! value and counting in each list.

/// The nearest-rank quantile of all values of `lists`, each sorted; `None` where there is no value.
///
/// `share` is from 0 to 1; 0.5 gives the lower median.
pub(crate) fn quantile(lists: &[&[i64]], share: f64) -> Option<i64> {
    let count: usize = lists.iter().map(|list| list.len()).sum();
    if count == 0 {
        return None;
    }
    let rank = ((share * count as f64).ceil() as usize).clamp(1, count);
    let mut low = lists.iter().filter_map(|list| list.first()).copied().min()?;
    let mut high = lists.iter().filter_map(|list| list.last()).copied().max()?;
    while low < high {
        let middle = low + (high - low) / 2;
        let at_most: usize = lists.iter().map(|list| list.partition_point(|value| *value <= middle)).sum();
        if at_most >= rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_merged_list() {
        let lists: [&[i64]; 4] = [&[1, 5, 9, 9], &[2], &[], &[-3, 5, 100]];
        let mut merged: Vec<i64> = lists.concat();
        merged.sort_unstable();
        for percent in 0..=100 {
            let share = f64::from(percent) / 100.0;
            let rank = ((share * merged.len() as f64).ceil() as usize).max(1);
            assert_eq!(quantile(&lists, share), Some(merged[rank - 1]), "at {percent}%");
        }
        assert_eq!(quantile(&[&[]], 0.5), None);
    }
}
