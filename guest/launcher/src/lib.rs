//! Host side of a sandbox's start, of reports about its processes, and of its removal without a server. Runs as root on
//! the host. Confined to one thread.

#![cfg_attr(not(test), no_std)]
#![cfg_attr(test, allow(non_snake_case))]

extern crate alloc;

mod launch;
mod orphans;
mod processes;

pub use launch::{launch, serve};
pub use orphans::watch as watch_orphans;
pub use processes::report as report_processes;
