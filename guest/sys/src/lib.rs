//! Base of the two freestanding programs: system calls, allocator and entry point. Confined to one thread.
//!
//! There is no standard library and no C library, so a program needs a few pages of memory only. A child that shares
//! memory with its parent between clone and exec can call everything here that does not allocate.
//!
//! Only system calls that both x86_64 and aarch64 have are used.

#![cfg_attr(not(test), no_std)]
#![cfg_attr(test, allow(non_snake_case))]

extern crate alloc;

#[doc(hidden)]
pub mod call;
pub mod connector;
pub mod event;
pub mod file;
#[doc(hidden)]
pub mod heap;
mod memory;
pub mod process;
#[doc(hidden)]
pub mod runtime;
pub mod socket;
pub mod tree;
pub mod walk;

pub use call::{Errno, Result};
pub use event::{now_unix_ms, now_us};
pub use file::Fd;
pub use runtime::{Environment, Usage};
