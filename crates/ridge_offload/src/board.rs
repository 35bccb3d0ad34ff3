//! Boards: what one holds, what its memory and its link carry, each figure with its source.

use crate::Basis;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use thiserror::Error;

/// A family of devices: what its operators take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// AMD UltraScale+.
    Ultrascale,
    /// AMD Versal.
    Versal,
    /// Intel, with 32-bit floating point in its DSP blocks.
    HardFp32,
}

impl Family {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Family::Ultrascale => "ultrascale",
            Family::Versal => "versal",
            Family::HardFp32 => "hard-fp32",
        }
    }

    /// The family of this name.
    pub fn from_name(name: &str) -> Option<Family> {
        [Family::Ultrascale, Family::Versal, Family::HardFp32].into_iter().find(|family| family.name() == name)
    }
}

/// A figure with where it is from.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The figure, in the unit of its place.
    pub value: f64,
    /// How far it can be trusted.
    pub basis: Basis,
    /// The document, in words.
    pub source: String,
}

/// Which kind of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// High-bandwidth memory in the package.
    Hbm,
    /// DRAM on the board.
    Ddr,
}

/// A memory of a board.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Which kind.
    pub kind: MemoryKind,
    /// Channels that a kernel sees; pseudo-channels of HBM.
    pub channels: f64,
    /// Bytes that a port carries each clock.
    pub port_bytes: f64,
    /// Peak of all channels together, bytes per second.
    pub bytes_per_s: Figure,
    /// Its size, bytes.
    pub bytes: Figure,
}

/// The link to the host: PCI Express.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Generation.
    pub generation: u32,
    /// Lanes.
    pub lanes: u32,
    /// How far that can be trusted.
    pub basis: Basis,
    /// The document, in words.
    pub source: String,
}

impl Link {
    /// Its rate over that of PCI Express 3.0 with 16 lanes: each generation doubles a lane.
    pub fn times_gen3x16(&self) -> f64 {
        f64::from(self.lanes) / 16.0 * 2_f64.powi(self.generation as i32 - 3)
    }
}

/// What is published of one board.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    /// Its name in options, `u55c`.
    pub id: String,
    /// The maker's name for it.
    pub name: String,
    /// What its operators take.
    pub family: Family,
    /// Whether it is among those that a program is laid beside; the others serve to score published kernels.
    pub is_offered: bool,
    /// Look-up tables.
    pub lut: Figure,
    /// DSP slices or blocks.
    pub dsp: Figure,
    /// Memory on the chip, bytes.
    pub onchip_bytes: Figure,
    /// Design power, watts.
    pub tdp_w: Option<Figure>,
    /// Power of a published design, watts.
    pub measured_w: Option<Figure>,
    /// Its link to the host.
    pub link: Link,
    /// Its memories.
    pub memories: Vec<Memory>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Why a board cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BoardError {
    /// It is not TOML, or a key is absent or not of its kind.
    #[error("expected a board in TOML: {0}")]
    NotABoard(String),
    /// A number's source is not among the board's sources.
    #[error("expected the source of `{key}` among the board's sources, found `{source_key}`")]
    UnknownSource {
        /// The number.
        key: &'static str,
        /// The source it names.
        source_key: String,
    },
    /// A number that must be positive is not.
    #[error("expected a positive number at `{0}`")]
    NotPositive(&'static str),
}

const TEXTS: [&str; 12] = [
    include_str!("../boards/u50.toml"),
    include_str!("../boards/u55c.toml"),
    include_str!("../boards/u200.toml"),
    include_str!("../boards/u250.toml"),
    include_str!("../boards/u280.toml"),
    include_str!("../boards/v80.toml"),
    include_str!("../boards/vck5000.toml"),
    include_str!("../boards/s10mx.toml"),
    include_str!("../boards/agilex7m.toml"),
    include_str!("../boards/s10gx.toml"),
    include_str!("../boards/a10gx.toml"),
    include_str!("../boards/vcu1525.toml"),
];

static BOARDS: LazyLock<Vec<Board>> = LazyLock::new(|| {
    let board = |text: &&str| Board::parse(text).expect("the tests read the files that are compiled in");
    TEXTS.iter().map(board).collect()
});

/// Every board of this version.
pub fn boards() -> &'static [Board] {
    &BOARDS
}

impl Board {
    /// The board called `id`, in any case.
    pub fn named(id: &str) -> Option<&'static Board> {
        boards().iter().find(|board| board.id.eq_ignore_ascii_case(id))
    }

    /// The memory with the highest rate, or the one of `kind` where that is asked for.
    pub fn memory(&self, kind: Option<MemoryKind>) -> Option<&Memory> {
        let wanted = self.memories.iter().filter(|memory| kind.is_none_or(|kind| memory.kind == kind));
        wanted.max_by(|one, other| one.bytes_per_s.value.total_cmp(&other.bytes_per_s.value))
    }

    /// Its figures by their names in words.
    pub fn figures(&self) -> Vec<(&'static str, &Figure)> {
        let mut figures =
            vec![("look-up tables", &self.lut), ("DSP slices", &self.dsp), ("memory on the chip", &self.onchip_bytes)];
        figures.extend(self.tdp_w.iter().map(|figure| ("design power", figure)));
        figures.extend(self.measured_w.iter().map(|figure| ("measured power", figure)));
        figures.extend(self.memories.iter().map(|memory| match memory.kind {
            MemoryKind::Hbm => ("rate of HBM", &memory.bytes_per_s),
            MemoryKind::Ddr => ("rate of DDR", &memory.bytes_per_s),
        }));
        figures
    }

    /// Which of its figures nobody has checked against a source, in words.
    pub fn unverified(&self) -> Vec<&'static str> {
        let is_unverified = |figure: &Figure| figure.basis == Basis::Unverified;
        let mut words: Vec<&'static str> =
            self.figures().into_iter().filter(|(_, figure)| is_unverified(figure)).map(|(name, _)| name).collect();
        if self.link.basis == Basis::Unverified {
            words.push("link");
        }
        words
    }

    /// Reads the text of a board.
    ///
    /// # Errors
    /// [`BoardError`] where something is missing, not positive, or names no source.
    pub fn parse(text: &str) -> Result<Board, BoardError> {
        let file: File = toml::from_str(text).map_err(|error| BoardError::NotABoard(error.message().to_owned()))?;
        let family = Family::from_name(&file.family)
            .ok_or_else(|| BoardError::NotABoard(format!("there is no family `{}`", file.family)))?;
        let sources = &file.sources;
        let figure = |key, said: &Said, scale: f64| said.figure(key, scale, sources);
        let memory = |memory: &SaidMemory| -> Result<Memory, BoardError> {
            let is_positive = memory.channels > 0.0 && memory.port_bytes > 0.0;
            Ok(Memory {
                kind: memory.kind,
                channels: is_positive.then_some(memory.channels).ok_or(BoardError::NotPositive("channels"))?,
                port_bytes: memory.port_bytes,
                bytes_per_s: figure("gb_per_s", &memory.gb_per_s, 1e9)?,
                bytes: figure("gb", &memory.gb, 1e9)?,
            })
        };
        let (basis, source) = source_of("link", &file.link.source, sources)?;
        Ok(Board {
            family,
            is_offered: file.offered,
            lut: figure("lut", &file.lut, 1.0)?,
            dsp: figure("dsp", &file.dsp, 1.0)?,
            onchip_bytes: figure("onchip_mb", &file.onchip_mb, 1e6)?,
            tdp_w: file.tdp_w.as_ref().map(|said| figure("tdp_w", said, 1.0)).transpose()?,
            measured_w: file.measured_w.as_ref().map(|said| figure("measured_w", said, 1.0)).transpose()?,
            link: Link { generation: file.link.generation, lanes: file.link.lanes, basis, source },
            memories: file.memory.iter().map(memory).collect::<Result<_, _>>()?,
            id: file.id,
            name: file.name,
            notes: file.notes,
        })
    }
}

/// A board's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    id: String,
    name: String,
    family: String,
    offered: bool,
    lut: Said,
    dsp: Said,
    onchip_mb: Said,
    tdp_w: Option<Said>,
    measured_w: Option<Said>,
    link: SaidLink,
    memory: Vec<SaidMemory>,
    notes: Vec<String>,
    sources: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    value: f64,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidLink {
    generation: u32,
    lanes: u32,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidMemory {
    kind: MemoryKind,
    channels: f64,
    port_bytes: f64,
    gb_per_s: Said,
    gb: Said,
}

impl Said {
    fn figure(&self, key: &'static str, scale: f64, sources: &BTreeMap<String, String>) -> Result<Figure, BoardError> {
        let (basis, source) = source_of(key, &self.source, sources)?;
        let is_positive = self.value.is_finite() && self.value > 0.0;
        let value = is_positive.then_some(self.value * scale).ok_or(BoardError::NotPositive(key))?;
        Ok(Figure { value, basis, source })
    }
}

/// The basis and the words of the source called `name`; those of one that says that it derives are derived.
fn source_of(key: &'static str, name: &str, sources: &BTreeMap<String, String>) -> Result<(Basis, String), BoardError> {
    if name == "unverified" {
        return Ok((Basis::Unverified, "not checked against a source".to_owned()));
    }
    let words = sources.get(name).cloned();
    let words = words.ok_or_else(|| BoardError::UnknownSource { key, source_key: name.to_owned() })?;
    let basis = if words.starts_with("derived:") { Basis::Derived } else { Basis::Sheet };
    Ok((basis, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_read_and_say_what_is_unverified() {
        let said: Vec<String> = boards()
            .iter()
            .filter(|board| board.is_offered)
            .map(|board| format!("{}: {}", board.id, board.unverified().join(", ")))
            .collect();
        assert_eq!(
            said,
            [
                "u50: design power, rate of HBM",
                "u55c: design power",
                "u200: design power",
                "u250: design power",
                "u280: design power, rate of DDR, link",
                "v80: ",
                "vck5000: design power, rate of DDR",
                "s10mx: ",
                "agilex7m: look-up tables, DSP slices, memory on the chip, rate of HBM, link",
            ]
        );
        assert_eq!(Board::named("U55C").expect("a board").memory(None).expect("its memory").channels, 32.0);
        assert_eq!(Board::named("agilex7m").expect("a board").link.times_gen3x16(), 4.0);
    }

    #[test]
    fn a_figure_without_a_source_is_an_error() {
        let text = include_str!("../boards/u50.toml");
        let broken = |from: &str, to: &str| Board::parse(&text.replace(from, to)).expect_err("broken").to_string();
        assert_eq!(
            broken("value = 699619, source = \"vitis\"", "value = 699619, source = \"hearsay\""),
            "expected the source of `lut` among the board's sources, found `hearsay`"
        );
        assert_eq!(broken("699619", "-1"), "expected a positive number at `lut`");
        assert!(broken("family = \"ultrascale\"", "family = \"abacus\"").contains("there is no family `abacus`"));
        assert!(Board::parse("x = ").is_err());
    }
}
