//! The guest: init of a sandbox, and the far end of the wire that `protocol/WIRE.md` specifies.
//!
//! It is freestanding: no standard library and no C library, only system calls. That is what keeps it
//! at a few pages of memory, and what makes it safe to share memory with a child between clone and exec.
//! One thread, one epoll loop; nothing here is to be called from two threads.

#![cfg_attr(not(test), no_std)]
#![cfg_attr(test, allow(non_snake_case))]

extern crate alloc;

pub mod absence;
pub mod connection;
pub mod dial;
pub mod dispatch;
pub mod duct;
pub mod exec;
pub mod fail;
pub mod files;
pub mod guest;
pub mod hash;
pub mod heap;
pub mod init;
pub mod launch;
pub mod list;
pub mod listen;
mod memory;
pub mod options;
pub mod orphans;
pub mod outbox;
pub mod paths;
pub mod place;
pub mod process;
pub mod pty;
pub mod remove;
pub mod request;
pub mod ring;
pub mod seccomp;
pub mod spawn;
pub mod stats;
pub mod streams;
pub mod sys;
pub mod totals;
pub mod tree;
pub mod walk;
pub mod watch;
pub mod wire;
pub mod write;
