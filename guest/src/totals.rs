//! Number of files and bytes in a tree.

use core::ffi::CStr;

use crate::paths;
use vivarium_sys::file::Stat;
use vivarium_sys::walk::{Step, TEMPORARY, Walk};
use vivarium_sys::{Fd, Result};

/// Entries counted in one turn of the loop.
pub const SLICE: usize = 512;

/// Everything that is not a directory counts as a file; only regular files have bytes.
#[derive(Default)]
pub struct Totals {
    pub files: u64,
    pub directories: u64,
    pub bytes: u64,
}

impl Totals {
    pub fn begin(&self, root: &Fd, path: &CStr) -> Result<Walk> {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NONBLOCK;
        Walk::new(paths::open(root, path, flags)?, alloc::vec::Vec::new())
    }

    pub fn add(&mut self, stat: &Stat) {
        if stat.is(libc::S_IFDIR) {
            self.directories += 1;
        } else {
            self.files += 1;
            self.bytes += if stat.is(libc::S_IFREG) { stat.size } else { 0 };
        }
    }

    /// Counts one slice. Returns true at the end. An unreadable directory counts as empty.
    pub fn count_some(&mut self, walk: &mut Walk) -> bool {
        for _ in 0..SLICE {
            match walk.step() {
                Ok(Step::Entry(name, _)) if name.to_bytes().starts_with(TEMPORARY) => {}
                Ok(Step::Entry(name, stat)) => {
                    self.add(&stat);
                    if stat.is(libc::S_IFDIR) {
                        let _ = walk.descend(name);
                    }
                }
                Ok(Step::Leave(_)) => {}
                Ok(Step::Done) | Err(_) => return true,
            }
        }
        false
    }
}
