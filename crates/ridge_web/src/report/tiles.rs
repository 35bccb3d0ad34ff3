//! Which tiles a report holds: level by level from the whole capture down.

use crate::Page;
use crate::timeline::outline;

/// Tiles from the whole capture down; below one that holds its events there is nothing more to know.
pub(super) struct Tiles {
    level: Option<u32>,
    open: Vec<(u32, u64)>,
}

impl Tiles {
    pub(super) fn new(page: &Page) -> Tiles {
        let outline = outline(page);
        let tracks = outline["groups"].as_array().into_iter().flatten();
        let tracks = tracks.flat_map(|group| group["tracks"].as_array().into_iter().flatten());
        let open = tracks.filter_map(|track| Some((track["id"].as_u64()? as u32, 0))).collect();
        Tiles { level: Some(page.timeline().top_level()), open }
    }

    /// The level whose tiles come next.
    pub(super) fn next_level(&self) -> Option<u32> {
        self.level.filter(|_| !self.open.is_empty())
    }

    /// Passes its tiles with their keys to `put`, one at a time, until that does not take one; whether it took all.
    pub(super) fn put_level(&mut self, page: &Page, put: &mut dyn FnMut(&str, &[u8]) -> bool) -> bool {
        let Some(level) = self.level else { return true };
        let mut below = Vec::new();
        for (track, index) in std::mem::take(&mut self.open) {
            let key = format!("tile/{track}/{level}/{index}");
            let Ok(answer) = page.answer(&key) else { continue };
            const MODE: usize = 4;
            if answer.body.get(MODE) == Some(&0) {
                below.extend([(track, index * 2), (track, index * 2 + 1)]);
            }
            if !put(&key, &answer.body) {
                return false;
            }
        }
        self.open = below;
        self.level = level.checked_sub(1);
        true
    }
}
