//! Where the pickle of a snapshot lies.

/// How the members of a zip archive begin (APPNOTE.TXT of PKWARE, section 4.3.7).
pub(super) const MEMBER: &[u8] = b"PK\x03\x04";

/// Bytes of a member's header before its name.
pub(super) const MEMBER_HEADER: usize = 30;

/// The pickle in what `torch.save` wrote, and where it begins; other bytes as they are.
///
/// torch stores its members as they are (method 0) and `data.pkl` first; the pickle says itself where it ends.
pub(super) fn pickle_in(bytes: &[u8]) -> (usize, &[u8]) {
    let member = || {
        let header = bytes.get(..MEMBER_HEADER).filter(|header| header.starts_with(MEMBER))?;
        let short = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let (method, name, extra) = (short(8), short(26), short(28));
        let called = bytes.get(MEMBER_HEADER..MEMBER_HEADER + name)?;
        let start = MEMBER_HEADER + name + extra;
        let pickle = bytes.get(start..)?;
        (method == 0 && called.ends_with(b"/data.pkl")).then_some((start, pickle))
    };
    member().unwrap_or((0, bytes))
}
