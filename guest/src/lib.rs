//! Guest program: init process of a sandbox and the guest side of `protocol/WIRE.md`.
//!
//! One thread runs one epoll loop (`guest.rs`). Everything here is confined to that thread.
//! Public modules are those that the tests use.

#![cfg_attr(not(test), no_std)]
#![cfg_attr(test, allow(non_snake_case))]

extern crate alloc;

pub mod connection;
mod context;
mod dial;
pub mod dispatch;
mod exec;
pub mod fail;
pub mod files;
mod guest;
mod hash;
mod init;
mod list;
pub mod listen;
mod options;
mod orphan_timer;
mod outbox;
mod paths;
mod process;
mod pty;
mod remove;
pub mod request;
mod ring;
mod seccomp;
mod spawn;
mod splice;
mod stats;
mod streams;
mod totals;
mod watch;
pub mod wire;
mod write;

pub use init::init;
pub use options::USAGE;
