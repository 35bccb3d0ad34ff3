//! What the custom call counted, and how often the original was called: files that are whole whenever the program ends.

use std::fs;
use std::path::Path;

/// Processes of one program whose counts are read.
const MOST_PROCESSES: usize = 1024;

/// How two arrays differ.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Difference {
    /// Elements.
    pub values: u64,
    /// Elements with the same bits; what is no number is the same as what is no number.
    pub same: u64,
    /// Elements whose original lies beyond what the format can hold, or is no number; no error counts them.
    pub beyond: u64,
    /// Elements of which one is a number and the other is not.
    pub unlike: u64,
    /// Elements that differ by less than the least normal number, as where one side flushes denormals.
    pub tiny: u64,
    /// The largest difference.
    pub largest: f64,
    /// The sum of all squared differences, of elements that errors count.
    pub squares: f64,
    /// The sum of all squared originals, of the same elements.
    pub energy: f64,
}

impl Difference {
    /// Whether every bit is the same.
    pub fn is_none(&self) -> bool {
        self.same == self.values
    }

    /// Elements that errors count.
    pub fn compared(&self) -> u64 {
        self.values.saturating_sub(self.beyond).saturating_sub(self.unlike)
    }

    /// The root mean square of the differences; `None` where nothing was compared.
    pub fn rms(&self) -> Option<f64> {
        (self.compared() > 0).then(|| (self.squares / self.compared() as f64).sqrt())
    }

    /// The root mean square of the differences as a part of that of the originals; `None` where those are zero.
    pub fn relative(&self) -> Option<f64> {
        (self.energy > 0.0).then(|| (self.squares / self.energy).sqrt())
    }

    fn add(&mut self, other: &Difference) {
        self.values += other.values;
        self.same += other.same;
        self.beyond += other.beyond;
        self.unlike += other.unlike;
        self.tiny += other.tiny;
        self.largest = self.largest.max(other.largest);
        self.squares += other.squares;
        self.energy += other.energy;
    }
}

/// What was seen of the values of one array, over all calls.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Seen {
    /// The least and the greatest finite value; `None` where there was none.
    pub range: Option<(f64, f64)>,
    /// How the kernel's values differ from the original's; of an input only `values` and `beyond` are told.
    pub difference: Difference,
}

/// What the custom call counted in all processes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    /// Calls of the kernel.
    pub calls: u64,
    /// Time in the kernel's reference, nanoseconds; what a board would take is another question.
    pub kernel_ns: u64,
    /// Of each input.
    pub inputs: Vec<Seen>,
    /// Of each output.
    pub outputs: Vec<Seen>,
}

/// Calls of the program as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls {
    /// Of the region.
    pub region: u64,
    /// Nanoseconds in them, from arguments that are ready to results that are.
    pub region_ns: u64,
    /// Of others of its name: other shapes, or other code.
    pub others: u64,
}

/// Adds up what the custom call left in `folder`.
pub fn tally(folder: &Path, inputs: usize, outputs: usize) -> Tally {
    let none = || vec![Seen::default(); inputs];
    let mut sum = Tally { inputs: none(), outputs: vec![Seen::default(); outputs], ..Tally::default() };
    for words in files(folder, "tally.", 2 + 10 * (inputs + outputs)) {
        sum.calls += words[0];
        sum.kernel_ns += words[1];
        let ports = sum.inputs.iter_mut().chain(sum.outputs.iter_mut());
        for (port, words) in ports.zip(words[2..].chunks_exact(10)) {
            port.add(words);
        }
    }
    sum
}

/// Adds up the calls that the harness counted in `folder`.
pub fn calls(folder: &Path) -> Calls {
    files(folder, "counts.", 3).iter().fold(Calls::default(), |sum, words| Calls {
        region: sum.region + words[0],
        region_ns: sum.region_ns + words[1],
        others: sum.others + words[2],
    })
}

impl Seen {
    /// The words of `Values` in `xla_call.h`, in their order.
    fn add(&mut self, words: &[u64]) {
        let real = |at: usize| f64::from_bits(words[at]);
        self.difference.add(&Difference {
            values: words[0],
            same: words[1],
            beyond: words[2],
            tiny: words[3],
            unlike: words[4],
            largest: real(5),
            squares: real(6),
            energy: real(7),
        });
        let (low, high) = (real(8), real(9));
        if low <= high {
            self.range = Some(self.range.map_or((low, high), |(a, b)| (a.min(low), b.max(high))));
        }
    }
}

/// Files of `words` little-endian words each whose names begin with `start`.
fn files(folder: &Path, start: &str, words: usize) -> Vec<Vec<u64>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_PROCESSES) {
        let is_ours = entry.file_name().to_string_lossy().starts_with(start);
        let has_length = entry.metadata().is_ok_and(|kept| kept.len() == words as u64 * 8);
        if !is_ours || !has_length {
            continue;
        }
        let bytes = fs::read(entry.path()).unwrap_or_default();
        let all: Vec<u64> =
            bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap_or_default())).collect();
        if all.len() == words {
            found.push(all);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_add_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let port = |values: u64, same: u64, largest: f64, low: f64, high: f64| {
            [
                values,
                same,
                0,
                0,
                0,
                largest.to_bits(),
                4.0_f64.to_bits(),
                16.0_f64.to_bits(),
                low.to_bits(),
                high.to_bits(),
            ]
        };
        let write = |name: &str, words: &[u64]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            fs::write(folder.path().join(name), bytes).expect("written");
        };
        write("tally.1.bin", &[&[2, 100][..], &port(8, 0, 0.0, -1.0, 2.0), &port(8, 6, 0.5, 0.0, 1.0)].concat());
        write(
            "tally.2.bin",
            &[&[1, 50][..], &port(4, 0, 0.0, f64::INFINITY, f64::NEG_INFINITY), &port(4, 4, 0.25, 3.0, 4.0)].concat(),
        );
        write("tally.3.bin", &[1, 2, 3]);
        let sum = tally(folder.path(), 1, 1);
        assert_eq!((sum.calls, sum.kernel_ns), (3, 150));
        assert_eq!(sum.inputs[0].range, Some((-1.0, 2.0)));
        let output = &sum.outputs[0];
        assert_eq!((output.range, output.difference.values, output.difference.same), (Some((0.0, 4.0)), 12, 10));
        assert_eq!((output.difference.largest, output.difference.relative()), (0.5, Some(0.5)));
        assert_eq!(tally(Path::new("/nowhere"), 1, 1).calls, 0);
    }
}
