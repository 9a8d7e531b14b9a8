//! Thin safe wrappers around system calls, the only place where Linux is spoken directly.
//!
//! Only calls that both x86_64 and aarch64 have are used, so there is one wrapper for each duty.

pub(crate) mod call;
pub mod event;
pub mod file;
pub mod process;
pub mod socket;

pub use call::{Errno, Result};
pub(crate) use call::{check, syscall};
pub use event::{now_unix_ms, now_us};
pub use file::Fd;
