//! Listing of a directory or a tree, one slice in a turn.

use alloc::boxed::Box;

use crate::context::{Context, Next, Opened, Service};
use crate::fail::Fail;
use crate::files::{impersonation_failure, put_stat};
use crate::paths;
use crate::totals::{SLICE, Totals};
use crate::wire::{Frames, kind};
use vivarium_sys::file::Stat;
use vivarium_sys::walk::{Step, TEMPORARY, Walk};

/// Bytes of entries that fill a frame.
const BATCH: usize = 32 * 1024;
/// Longest path of a listed entry. No program can open a longer path. The paths of one chain of nested directories take
/// half of the bytes that the host accepts for a listing, so that the entries beside the chain are listed too.
const LONGEST_PATH: usize = libc::PATH_MAX as usize;
/// Longest path of a directory whose entries are counted. With deeply nested directories, the kernel takes time with
/// the square of the depth to walk back below a bind mount.
const DEEPEST_PATH: usize = 4 * libc::PATH_MAX as usize;

/// Listing in progress.
pub struct Listing {
    walk: Walk,
    recursive: bool,
    entries_left: u32,
    truncated: bool,
    totals: Totals,
    batch: Frames,
    credit: u64,
    finished: bool,
    closed: bool,
}

pub fn open(credit: u32, path: &[u8], recursive: bool, max_entries: u32, context: &mut Context) -> Opened {
    let path = paths::check(path)?;
    let _impersonation = context.user.impersonate().map_err(impersonation_failure)?;
    let totals = Totals::default();
    let walk = totals.begin(&context.workspace, &path).map_err(|error| Fail::of(error, "cannot list the directory"))?;
    Ok(Some(Box::new(Listing {
        walk,
        recursive,
        entries_left: max_entries,
        truncated: false,
        totals,
        batch: Frames::default(),
        credit: credit.into(),
        finished: false,
        closed: false,
    })))
}

impl Listing {
    fn gather(&mut self) {
        for _ in 0..SLICE {
            if self.batch.buffer.len() >= BATCH {
                return;
            }
            match self.walk.step() {
                Ok(Step::Entry(name, _)) if name.to_bytes().starts_with(TEMPORARY) => {}
                Ok(Step::Entry(name, stat)) => {
                    self.note(&stat);
                    // A directory that is unreadable or nested too deeply is listed as empty.
                    if self.recursive && stat.is(libc::S_IFDIR) && self.walk.path().len() <= DEEPEST_PATH {
                        let _ = self.walk.descend(name);
                    }
                }
                Ok(Step::Leave(_)) => {}
                Ok(Step::Done) | Err(_) => {
                    self.finished = true;
                    return;
                }
            }
        }
    }

    fn note(&mut self, stat: &Stat) {
        self.totals.add(stat);
        // A path that is too long is counted, but not sent. With deeply nested directories, the paths would take memory
        // with the square of the depth.
        if self.entries_left == 0 || self.walk.path().len() > LONGEST_PATH {
            self.truncated = true;
            return;
        }
        self.entries_left -= 1;
        put_stat(&mut self.batch, stat);
        self.batch.string(self.walk.path());
    }

    /// Sends the collected entries if the credit allows it.
    fn send(&mut self, channel: u32, context: &mut Context) -> bool {
        let length = self.batch.buffer.len() as u64;
        if length > self.credit {
            return false;
        }
        if length > 0 {
            self.credit -= length;
            context.out.frames.begin(channel, kind::DATA).u8(1).raw(&self.batch.buffer).end();
            self.batch.buffer.clear();
        }
        true
    }

    fn send_end(&self, channel: u32, context: &mut Context) -> Next {
        let Totals { files, directories, bytes } = self.totals;
        let out = &mut context.out.frames;
        out.begin(channel, kind::END).u64(files).u64(directories).u64(bytes).u8(self.truncated.into()).end();
        Next::Done
    }
}

impl Service for Listing {
    fn run(&mut self, channel: u32, context: &mut Context) -> Next {
        if self.closed {
            return self.send_end(channel, context);
        }
        if !self.finished && self.batch.buffer.len() < BATCH {
            match context.user.impersonate() {
                Ok(_impersonation) => self.gather(),
                Err(_) => self.finished = true,
            }
        }
        let due = self.finished || self.batch.buffer.len() >= BATCH;
        if due && !self.send(channel, context) {
            return Next::Wait;
        }
        if self.finished { self.send_end(channel, context) } else { Next::Again }
    }

    fn credit(&mut self, stream: u8, bytes: u32) {
        if stream == 1 {
            self.credit = self.credit.saturating_add(bytes.into());
        }
    }

    fn close(&mut self, _place: &mut Context) {
        self.closed = true;
        self.truncated = true;
    }
}
