//! Which signals this process was started to ignore: under `nohup` and in background jobs some are, and stay so in a program that it
//! starts, unless a handler is installed for them.

use std::mem::MaybeUninit;
use std::ptr;

/// True if `signal` is ignored; false for one that does not exist.
#[allow(unsafe_code)]
pub(crate) fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call only asks; it writes the present one to memory of that type, where zeros are a value too.
    let action = unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}
