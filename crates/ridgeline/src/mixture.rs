//! What does not go into one capture: times that were measured, and times that were predicted.

use crate::error::{Details, OpenError};

/// Refuses times that were measured beside some that were not.
pub(crate) fn refuse_mixture(predicted: usize, captures: usize) -> Result<(), OpenError> {
    if predicted == 0 || predicted == captures {
        return Ok(());
    }
    let details = Details::new("predicted and measured times do not go into one capture");
    Err(OpenError::BadInput(details.hint("open them separately, or compare them with `ridgeline diff`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_and_predicted_do_not_mix() {
        assert!(refuse_mixture(0, 3).is_ok() && refuse_mixture(2, 2).is_ok());
        assert!(refuse_mixture(1, 2).is_err());
    }
}
