//! The names of the folders of ranks, in a recording of several.

/// How they begin.
const BEGIN: &str = "rank-";

/// The folder of a rank.
pub fn rank_folder(rank: u32) -> String {
    format!("{BEGIN}{rank}")
}

/// The rank whose folder has this name.
pub fn rank_of_folder(name: &str) -> Option<u32> {
    let digits = name.strip_prefix(BEGIN)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_by_ranks() {
        assert_eq!(rank_of_folder(&rank_folder(12)), Some(12));
        assert_eq!((rank_of_folder("rank-"), rank_of_folder("rank-a"), rank_of_folder("12")), (None, None, None));
    }
}
