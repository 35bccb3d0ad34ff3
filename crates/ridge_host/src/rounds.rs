//! Times of equal rounds of work, and the rates they amount to.

/// Times of equal rounds of work.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounds {
    /// Work of one round: bytes moved, or operations done.
    pub amount: f64,
    /// Time of each round in nanoseconds, never zero.
    pub nanos: Vec<u64>,
}

impl Rounds {
    /// The rate of the fastest round, per second; `None` where no round ended.
    pub fn best_per_sec(&self) -> Option<f64> {
        self.nanos.iter().min().map(|nanos| self.rate(*nanos))
    }

    /// The rate of the round of median time (the slower one of two in the middle), per second.
    pub fn median_per_sec(&self) -> Option<f64> {
        let mut sorted = self.nanos.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).map(|nanos| self.rate(*nanos))
    }

    fn rate(&self, nanos: u64) -> f64 {
        self.amount * 1e9 / nanos.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_round_is_the_best() {
        let rounds = Rounds { amount: 6e3, nanos: vec![4_000, 2_000, 3_000] };
        assert_eq!((rounds.best_per_sec(), rounds.median_per_sec()), (Some(3e9), Some(2e9)));
        let none = Rounds { amount: 1.0, nanos: Vec::new() };
        assert_eq!((none.best_per_sec(), none.median_per_sec()), (None, None));
    }
}
