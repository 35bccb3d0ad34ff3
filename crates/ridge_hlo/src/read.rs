//! Reading a module, from its proto or from its text.

use crate::{HloError, HloModule};

impl HloModule {
    /// Reads an `HloProto`, as captures and `.hlo.pb` dumps hold it, or a bare `HloModuleProto`.
    ///
    /// Which of the two it is is decided by content. Broken parts become [`HloModule::notes`].
    ///
    /// # Errors
    /// [`HloError::NotProto`] if there is neither a module name nor a computation, [`HloError::TooLarge`] past 2³¹
    /// instructions.
    pub fn from_proto(bytes: &[u8]) -> Result<HloModule, HloError> {
        crate::proto::read(bytes)
    }

    /// Reads the text XLA dumps: `HloModule jit_f, is_scheduled=true, …`, with or without `%` before names.
    ///
    /// Broken parts become [`HloModule::notes`].
    ///
    /// # Errors
    /// [`HloError::NotText`] if there is neither a module header nor a computation, [`HloError::TooLarge`] past 2³¹
    /// instructions.
    pub fn from_text(text: &str) -> Result<HloModule, HloError> {
        crate::text::read(text)
    }
}
