//! `samples/*.jsonl` of a capture folder: where the Python of one process stood, look by look.
//!
//! Lines of JSON: the first names the document and the process, each other one says what was new since the one before, so that a
//! program that is killed loses no more than the last seconds. Numbers of frames and stacks count through all lines.

use crate::read::{Document, DocumentError, read};
use serde::{Deserialize, Serialize};

/// What was sampled of one process. Times are Unix times in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples {
    /// The process, as its system numbers it.
    pub pid: Option<u64>,
    /// Places in the program's own files.
    pub frames: Vec<SampledFrame>,
    /// Stacks of them.
    pub stacks: Vec<SampledStack>,
    /// What was seen of each thread.
    pub threads: Vec<SampledThread>,
    /// What was watched besides; the last line has all of it.
    pub watched: Watched,
    /// Time of a processor that looking took, seconds.
    pub cost_s: f64,
    /// Lines that are damaged and were left out.
    pub damaged: u64,
}

/// A place in the program's own files: file, line, function, and what is called there (`numpy.concatenate`; empty where that is not
/// known). Then what the innermost loop around the line goes over (`model.parameters()`, or nothing), whether no turn of that loop needs a
/// result of the turns before, and how many loops are around the line in its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledFrame(
    pub String,
    pub u32,
    pub String,
    pub String,
    #[serde(default)] pub String,
    #[serde(default)] pub bool,
    #[serde(default)] pub u32,
);

/// A stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SampledStack {
    /// Its frames in the program's own files, innermost first.
    pub frames: Vec<u32>,
    /// The function of a package that the innermost of them called (`numpy/lib/npyio.py:load`).
    pub calls: Option<String>,
    /// The innermost function of all.
    #[serde(rename = "in")]
    pub innermost: Option<String>,
}

/// What was seen of a thread.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SampledThread {
    /// The system's number of it.
    pub id: Option<i64>,
    /// Whether it is the one that the program began in.
    pub main: bool,
    /// Stretches in which every look found the same stack.
    pub samples: Vec<Stretch>,
}

/// When the first look was, how much later the last one, nanoseconds; the stack that all found, and how many there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch(pub i64, pub i64, pub u32, pub u32);

/// What a PyTorch program did that no trace tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Watched {
    /// Modules that were given the same input again, with the same weights.
    pub repeated: Vec<RepeatedCalls>,
    /// Padding in the indices of an embedding, or in the arguments of a compiled function: of the one with most.
    pub padding: Option<Padding>,
    /// Gradients that were computed and that no optimizer has.
    pub unread_gradients: Option<UnreadGradients>,
    /// Gradients that an optimizer clears before it reads them.
    pub cleared_gradients: Vec<ClearedGradients>,
    /// Loaders that started their workers more than once.
    pub restarted_workers: Vec<RestartedWorkers>,
    /// Arguments of compiled functions that were the same arrays in every look at the program.
    pub steady: Vec<SteadyArguments>,
    /// Matrices that are mostly zeros, as products and compiled functions are given them.
    pub zeros: Vec<ZeroMatrix>,
    /// Conversions of lists to tensors, by place.
    pub conversions: Vec<Conversions>,
    /// Variables that are given a new array with the same numbers again and again.
    pub recomputed: Vec<RecomputedValue>,
}

/// A variable whose arrays had the same numbers in every look, each a new one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecomputedValue {
    /// The statement that assigns it in the program's own files: its first line.
    pub frame: Option<SampledFrame>,
    /// Its last line.
    pub until: u32,
    /// The variable: `mask`, `self.grid`.
    pub name: String,
    /// The extents of the array.
    pub extents: Vec<i64>,
    /// New arrays that had the numbers of the one before.
    pub again: u64,
}

/// Conversions of lists or tuples to tensors at one place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conversions {
    /// What is converted: `torch.tensor` of a list of NumPy arrays.
    pub of: String,
    /// How often.
    pub calls: u64,
    /// The part of the time from the first to the last that they took, 0 to 1.
    pub part: f64,
    /// The place in the program's own files.
    pub frame: Option<SampledFrame>,
}

/// A matrix that was mostly zeros in every look at it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ZeroMatrix {
    /// The place of the product or of the call in the program's own files.
    pub frame: Option<SampledFrame>,
    /// The variable there: `self.adjacency`.
    pub name: String,
    /// Its extents.
    pub extents: Vec<i64>,
    /// The part of the numbers that were read, 0 to 1, that is zero.
    pub zeros: f64,
    /// Most numbers in one row that are not zero, of the rows that were read.
    pub most_in_row: u64,
    /// Arrays that were read.
    pub looks: u64,
}

/// Arguments of the compiled functions of one name that never changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SteadyArguments {
    /// The function.
    pub function: String,
    /// The arrays, as JAX names those of an argument: `params['w']`.
    pub arguments: Vec<String>,
    /// Looks in which each of them was the same.
    pub looks: u64,
    /// Those that were others from call to call.
    pub changing: Vec<String>,
}

/// A loader whose workers are started for each pass over the data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RestartedWorkers {
    /// Workers of one pass.
    pub workers: u64,
    /// Passes.
    pub passes: u64,
    /// The place of the loop in the program's own files.
    pub frame: Option<SampledFrame>,
}

/// Gradients that one optimizer clears before it reads them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClearedGradients {
    /// The optimizer's class.
    pub optimizer: String,
    /// Their numbers.
    pub numbers: u64,
    /// How often they were cleared unread.
    pub times: u64,
    /// Clearings that were looked at.
    pub of: u64,
    /// The place of the clearing in the program's own files.
    pub frame: Option<SampledFrame>,
}

/// Calls of the modules of one class from one place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RepeatedCalls {
    /// The class.
    pub module: String,
    /// Calls whose inputs were compared.
    pub calls: u64,
    /// Those with an input that an earlier call had.
    pub again: u64,
    /// The place in the program's own files.
    pub frame: Option<SampledFrame>,
}

/// Padding, as means over looks at batches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Padding {
    /// The part of all indices that is padding, 0 to 1.
    pub share: f64,
    /// The part beyond the longest row of its batch, 0 to 1.
    pub beyond_longest: f64,
    /// Batches that were looked at.
    pub looks: u64,
    /// The place in the program's own files.
    pub frame: Option<SampledFrame>,
    /// The compiled function of JAX that is given the batches; empty for PyTorch.
    pub function: String,
    /// The padded extent of its arguments; 0 for PyTorch.
    pub extent: i64,
}

/// Gradients after one step of an optimizer that belong to no optimizer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnreadGradients {
    /// Their numbers.
    pub numbers: u64,
    /// Those of all gradients.
    pub of: u64,
    /// Their arrays.
    pub arrays: u64,
    /// The first names among these.
    pub names: Vec<String>,
}

/// The first line.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Head {
    pid: Option<u64>,
}

impl Document for Head {
    const SCHEMA: &'static str = "ridgeline.samples.v1";
    const MAX_BYTES: u64 = 1 << 16;
}

/// Any other line.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct News {
    frames: Vec<SampledFrame>,
    stacks: Vec<SampledStack>,
    threads: Vec<SampledThread>,
    watched: Option<Watched>,
    cost_s: f64,
}

impl Samples {
    /// Files larger than this are not ours, bytes.
    pub const MAX_BYTES: u64 = 64 << 20;

    /// Reads the lines of a file; one that is damaged is counted, and so are all after it, whose numbers would be others'.
    ///
    /// # Errors
    /// [`DocumentError`] where the first line does not name this document.
    pub fn read(text: &[u8]) -> Result<Samples, DocumentError> {
        let mut lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let head = read::<Head>(lines.next().unwrap_or_default())?.document;
        let mut found = Samples { pid: head.pid, ..Samples::default() };
        while let Some(line) = lines.next() {
            let Ok(news) = serde_json::from_slice::<News>(line) else {
                found.damaged = 1 + lines.count() as u64;
                break;
            };
            found.frames.extend(news.frames);
            found.stacks.extend(news.stacks);
            found.watched = news.watched.unwrap_or(found.watched);
            found.cost_s = found.cost_s.max(news.cost_s);
            for thread in news.threads {
                match found.threads.iter_mut().find(|known| (known.id, known.main) == (thread.id, thread.main)) {
                    Some(known) => known.samples.extend(thread.samples),
                    None => found.threads.push(thread),
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"schema":"ridgeline.samples.v1","pid":7}
{"frames":[["/x/train.py",12,"main","step"]],"stacks":[{"frames":[0]}],"threads":[{"id":7,"main":true,"samples":[[100,20,0,3]]}],"looks":3,"cost_s":0.001}
{"frames":[["/x/train.py",14,"main","numpy.percentile"]],"stacks":[{"frames":[1,0],"calls":"numpy/lib/f.py:percentile","in":"numpy/lib/f.py:q"}],"threads":[{"id":7,"main":true,"samples":[[140,0,1,1]]}],"cost_s":0.002}
"#;

    #[test]
    fn lines_are_joined() {
        let found = Samples::read(TEXT.as_bytes()).expect("samples");
        let lines: Vec<u32> = found.frames.iter().map(|frame| frame.1).collect();
        assert_eq!((found.pid, lines, found.damaged), (Some(7), vec![12, 14], 0));
        assert_eq!(found.threads[0].samples, [Stretch(100, 20, 0, 3), Stretch(140, 0, 1, 1)]);
        assert_eq!((found.stacks[1].frames.as_slice(), found.cost_s), (&[1, 0][..], 0.002));
    }

    #[test]
    fn a_line_that_was_cut_costs_itself() {
        let found = Samples::read(&TEXT.as_bytes()[..TEXT.len() - 40]).expect("samples");
        assert_eq!((found.frames.len(), found.threads[0].samples.len(), found.damaged), (1, 1, 1));
    }

    #[test]
    fn another_document_is_refused() {
        assert!(Samples::read(br#"{"schema":"ridgeline.manifest.v1"}"#).is_err());
        assert!(Samples::read(b"").is_err());
    }
}
