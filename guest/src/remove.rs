//! Removal of an entry or of a tree, leaves first. Symbolic links are removed, never followed.

use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::vec::Vec;

use crate::context::{Context, Next, Opened, Service};
use crate::fail::{Code, Fail};
use crate::files::impersonation_failure;
use crate::paths;
use crate::totals::SLICE;
use crate::wire::kind;
use vivarium_sys::file::{open_at, stat_at, unlink_at};
use vivarium_sys::walk::{Step, Walk};
use vivarium_sys::{Errno, Fd, Result};

/// Removal of a tree in progress.
pub struct Removing {
    directory: Fd,
    name: CString,
    walk: Walk,
    removed: u64,
    closed: bool,
}

pub fn open(channel: u32, path: &[u8], recursive: bool, context: &mut Context) -> Opened {
    let path = paths::check(path)?;
    let impersonation = context.user.impersonate().map_err(impersonation_failure)?;
    let (directory, name) = paths::parent(&context.workspace, &path)?;
    let stat = stat_at(&directory, &name).map_err(|error| Fail::of(error, "cannot find the file"))?;
    if recursive && stat.is(libc::S_IFDIR) {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let walk = open_at(&directory, &name, flags, 0).and_then(|fd| Walk::new(fd, Vec::new()));
        let walk = walk.map_err(|error| Fail::of(error, "cannot open the directory"))?;
        return Ok(Some(Box::new(Removing { directory, name, walk, removed: 0, closed: false })));
    }
    let flags = if stat.is(libc::S_IFDIR) { libc::AT_REMOVEDIR } else { 0 };
    unlink_at(&directory, &name, flags).map_err(|error| Fail::of(error, "cannot remove the file"))?;
    drop(impersonation);
    context.out.frames.begin(channel, kind::END).u64(1).end();
    Ok(None)
}

impl Removing {
    /// Removes one slice. Returns true when the tree is gone.
    fn remove_some(&mut self) -> Result<bool> {
        for _ in 0..SLICE {
            match self.walk.step()? {
                Step::Entry(name, stat) if stat.is(libc::S_IFDIR) => self.walk.descend(name)?,
                Step::Entry(name, _) => self.unlink(&name, 0)?,
                Step::Leave(name) => self.unlink(&name, libc::AT_REMOVEDIR)?,
                Step::Done => {
                    unlink_at(&self.directory, &self.name, libc::AT_REMOVEDIR)?;
                    self.removed += 1;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn unlink(&mut self, name: &CString, flags: i32) -> Result<()> {
        match unlink_at(self.walk.directory()?, name, flags) {
            // Another process removed it.
            Err(Errno(libc::ENOENT)) => Ok(()),
            Err(error) => Err(error),
            Ok(()) => {
                self.removed += 1;
                Ok(())
            }
        }
    }

    fn advance(&mut self, context: &Context) -> core::result::Result<bool, Fail> {
        if self.closed {
            return Err(Fail::new(Code::Invalid, "closed by the host"));
        }
        let _impersonation = context.user.impersonate().map_err(impersonation_failure)?;
        self.remove_some().map_err(|error| Fail::of(error, "cannot remove an entry"))
    }
}

impl Service for Removing {
    fn run(&mut self, channel: u32, context: &mut Context) -> Next {
        match self.advance(context) {
            Ok(false) => return Next::Again,
            Ok(true) => context.out.frames.begin(channel, kind::END).u64(self.removed).end(),
            Err(fail) => fail.send(channel, &mut context.out.frames),
        }
        Next::Done
    }

    fn close(&mut self, _place: &mut Context) {
        self.closed = true;
    }
}
