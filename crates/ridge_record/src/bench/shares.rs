//! How much of an operation its parts are, and how much longer one takes than another that does the same.

use ridge_documents::{PartShare, Ratio};

use super::event::Plan;

/// What is known of an operation at one size.
pub(super) trait Figures {
    /// Median of its timed runs, seconds.
    fn median_s(&self, operation: &str, size: u32) -> Option<f64>;
    /// Bytes that its modules access, each counted once, by XLA's cost analysis.
    fn bytes(&self, operation: &str, size: u32) -> Option<f64>;
}

/// The shares of the parts that were measured, where all parts of their whole were.
pub(super) fn parts(plan: &Plan, sizes: &[u32], figures: &dyn Figures) -> Vec<PartShare> {
    let of_size = |&size: &u32| plan.parts.iter().filter_map(move |part| share(plan, part, size, figures));
    sizes.iter().flat_map(of_size).collect()
}

fn share(plan: &Plan, (part, whole): &(String, String), size: u32, figures: &dyn Figures) -> Option<PartShare> {
    let siblings = || plan.parts.iter().filter(|(_, other)| other == whole).map(|(name, _)| name.as_str());
    let sum =
        |figure: &dyn Fn(&str) -> Option<f64>| siblings().map(figure).sum::<Option<f64>>().filter(|sum| *sum > 0.0);
    let median = |name: &str| figures.median_s(name, size);
    let bytes = |name: &str| figures.bytes(name, size);
    let own = median(part)?;
    Some(PartShare {
        operation: part.clone(),
        part_of: whole.clone(),
        volume_size: size.into(),
        share: own / sum(&median)?,
        expected_share: bytes(part).and_then(|own| Some(own / sum(&bytes)?)),
        of_whole: median(whole).filter(|whole| *whole > 0.0).map(|whole| own / whole),
    })
}

/// The ratios of pairs of which both were measured.
pub(super) fn ratios(plan: &Plan, sizes: &[u32], figures: &dyn Figures) -> Vec<Ratio> {
    let of_size = |&size: &u32| plan.ratios.iter().filter_map(move |pair| ratio(pair, size, figures));
    sizes.iter().flat_map(of_size).collect()
}

fn ratio((slower, faster): &(String, String), size: u32, figures: &dyn Figures) -> Option<Ratio> {
    let over = figures.median_s(faster, size).filter(|over| *over > 0.0)?;
    let ratio = figures.median_s(slower, size)? / over;
    Some(Ratio { slower: slower.clone(), faster: faster.clone(), volume_size: size.into(), ratio })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Known(&'static [(&'static str, f64, Option<f64>)]);

    impl Figures for Known {
        fn median_s(&self, operation: &str, _: u32) -> Option<f64> {
            self.0.iter().find(|(name, ..)| *name == operation).map(|(_, median, _)| *median)
        }
        fn bytes(&self, operation: &str, _: u32) -> Option<f64> {
            self.0.iter().find(|(name, ..)| *name == operation)?.2
        }
    }

    fn told(known: &'static [(&'static str, f64, Option<f64>)]) -> String {
        let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        let plan = Plan {
            parts: vec![pair("flux", "rhs"), pair("push", "rhs")],
            ratios: vec![pair("python", "loop")],
            ..Plan::default()
        };
        let shares = parts(&plan, &[8], &Known(known))
            .into_iter()
            .map(|part| format!("{} {:.2} {:?} {:?}", part.operation, part.share, part.expected_share, part.of_whole));
        let times =
            ratios(&plan, &[8], &Known(known)).into_iter().map(|ratio| format!("{} {:.1}", ratio.slower, ratio.ratio));
        shares.chain(times).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn shares_are_of_all_parts_and_need_all_of_them() {
        let all = told(&[
            ("flux", 3.0, Some(1.0)),
            ("push", 1.0, Some(3.0)),
            ("rhs", 2.0, None),
            ("python", 9.0, None),
            ("loop", 2.0, None),
        ]);
        assert_eq!(all, "flux 0.75 Some(0.25) Some(1.5); push 0.25 Some(0.75) Some(0.5); python 4.5");
        assert_eq!(told(&[("flux", 3.0, Some(1.0)), ("push", 1.0, None)]), "flux 0.75 None None; push 0.25 None None");
        assert_eq!(told(&[("flux", 3.0, Some(1.0)), ("python", 9.0, None)]), "");
    }
}
