//! Watching a directory or a tree for changes.
//!
//! The kernel watches single directories, so the guest walks a tree once, and every new directory when it appears.
//! The guest reports the entries of a new directory as created, because they may be older than its watch.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::CStr;

use crate::context::{Context, Next, Opened, Service, token};
use crate::fail::{Code, Fail};
use crate::files::impersonation_failure;
use crate::paths;
use crate::totals::SLICE;
use crate::wire::{Frames, kind};
use vivarium_sys::event::{inotify, unwatch, watch_here};
use vivarium_sys::file::change_directory;
use vivarium_sys::walk::{Step, TEMPORARY, Walk};
use vivarium_sys::{Errno, Fd, Result};

const MASK: u32 = libc::IN_CREATE
    | libc::IN_DELETE
    | libc::IN_CLOSE_WRITE
    | libc::IN_MOVED_FROM
    | libc::IN_MOVED_TO
    | libc::IN_MOVE_SELF
    | libc::IN_DELETE_SELF
    | libc::IN_ONLYDIR
    | libc::IN_EXCL_UNLINK;
const OPEN_DIRECTORY: i32 = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
/// Bytes of events that fill a frame. Fewer are sent when no event is pending.
const BATCH: usize = 16 * 1024;

/// Largest number of bytes for the paths of watched directories: about 30,000 directories of usual names.
const MOST_BYTES: usize = 4 << 20;
/// Longest path of a watched directory. An event has the path of its entry.
const LONGEST_PATH: usize = 2 * libc::PATH_MAX as usize;

/// Event types of the wire protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum What {
    Created = 1,
    Modified = 2,
    Deleted = 3,
    Overflow = 4,
}

/// Paths of the watched directories, relative to the root. Their memory is bounded: with deeply nested directories, it
/// would grow with the square of the depth.
#[derive(Default)]
struct Directories {
    paths: BTreeMap<i32, Vec<u8>>,
    bytes: usize,
}

impl Directories {
    /// Adds a watch. Fails like the kernel if there are too many.
    fn insert(&mut self, watch: i32, path: Vec<u8>) -> Result<()> {
        self.remove(watch);
        if path.len() > LONGEST_PATH || self.bytes + Directories::size(&path) > MOST_BYTES {
            return Err(Errno(libc::ENOSPC));
        }
        self.bytes += Directories::size(&path);
        self.paths.insert(watch, path);
        Ok(())
    }

    fn remove(&mut self, watch: i32) {
        self.bytes -= self.paths.remove(&watch).map_or(0, |path| Directories::size(&path));
    }

    /// Watches of a directory and of all directories below it.
    fn below(&self, path: &[u8]) -> Vec<i32> {
        let is_below =
            |watched: &[u8]| watched.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest[0] == b'/');
        self.paths.iter().filter(|(_, watched)| is_below(watched)).map(|(watch, _)| *watch).collect()
    }

    /// Bytes of a path, and of its entry in the map and in the heap.
    fn size(path: &[u8]) -> usize {
        path.len().next_power_of_two() + 64
    }
}

/// Watch on a directory or on a tree.
pub struct Watching {
    inotify: Fd,
    /// Path of the root. The guest does not keep it open: inotify does not report the removal of an open directory.
    root: Vec<u8>,
    recursive: bool,
    directories: Directories,
    root_watch: i32,
    /// Directories to walk, beginning with the root.
    walks: VecDeque<Walk>,
    started: bool,
    ready: bool,
    events: Frames,
    credit: u64,
    over: bool,
}

pub fn open(channel: u32, credit: u32, path: &[u8], recursive: bool, context: &mut Context) -> Opened {
    let path = paths::check(path)?;
    let fail = |error| Fail::of(error, "cannot watch the directory");
    let _impersonation = context.user.impersonate().map_err(impersonation_failure)?;
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NONBLOCK;
    let directory = paths::open(&context.workspace, &path, flags).map_err(fail)?;
    let inotify = inotify().map_err(fail)?;
    let root_watch = watch_directory(&inotify, &directory, context).map_err(too_many)?;
    let mut directories = Directories::default();
    directories.insert(root_watch, Vec::new()).map_err(too_many)?;
    let mut walks = VecDeque::new();
    if recursive {
        walks.push_back(Walk::new(directory, Vec::new()).map_err(fail)?);
    }
    context.poll.add(&inotify, token(channel, 0), libc::EPOLLIN).map_err(fail)?;
    Ok(Some(Box::new(Watching {
        inotify,
        root: path.into_bytes(),
        recursive,
        directories,
        root_watch,
        walks,
        started: false,
        ready: true,
        events: Frames::default(),
        credit: credit.into(),
        over: false,
    })))
}

/// Enters the directory and watches `.`, because inotify would follow a symbolic link in a path.
fn watch_directory(inotify: &Fd, directory: &Fd, context: &Context) -> Result<i32> {
    change_directory(directory)?;
    let watch = watch_here(inotify, MASK);
    change_directory(&context.workspace)?;
    watch
}

fn too_many(error: Errno) -> Fail {
    match error.0 {
        libc::ENOSPC => Fail { errno: error.0, ..Fail::new(Code::Busy, "the maximum number of watches is reached") },
        _ => Fail::of(error, "cannot watch the directory"),
    }
}

impl Watching {
    fn report(&mut self, what: What, directory: bool, path: &[u8]) {
        self.events.u8(what as u8).u8(directory.into()).string(path);
    }

    /// Adds watches for one slice of a new tree. Fails if a directory cannot be watched.
    fn walk_some(&mut self, context: &Context) -> Result<()> {
        for _ in 0..SLICE {
            let Some(walk) = self.walks.front_mut() else { return Ok(()) };
            match walk.step() {
                Ok(Step::Entry(name, stat)) => {
                    let path = walk.path().to_vec();
                    let directory = stat.is(libc::S_IFDIR);
                    if directory && walk.descend(name.clone()).is_ok() {
                        let watch = watch_directory(&self.inotify, walk.directory()?, context)?;
                        self.directories.insert(watch, path.clone())?;
                    }
                    if self.started && !name.to_bytes().starts_with(TEMPORARY) {
                        self.report(What::Created, directory, &path);
                    }
                }
                Ok(Step::Leave(_)) => {}
                // The directory no longer exists.
                Ok(Step::Done) | Err(_) => drop(self.walks.pop_front()),
            }
        }
        Ok(())
    }

    fn read(&mut self, context: &Context) {
        #[repr(align(8))]
        struct Buffer([u8; 4096]);
        let mut buffer = Buffer([0; 4096]);
        while self.ready && self.events.buffer.len() < BATCH {
            match self.inotify.read(&mut buffer.0) {
                Ok(length) if length > 0 => self.take(&buffer.0[..length], context),
                _ => self.ready = false,
            }
        }
    }

    fn take(&mut self, mut records: &[u8], context: &Context) {
        while let Some((watch, mask, name, rest)) = record(records) {
            records = rest;
            if mask & libc::IN_Q_OVERFLOW != 0 {
                self.report(What::Overflow, false, b"");
            } else if mask & libc::IN_IGNORED != 0 {
                self.directories.remove(watch);
                self.over |= watch == self.root_watch;
            } else if name.is_empty() {
                self.over |= watch == self.root_watch && mask & (libc::IN_MOVE_SELF | libc::IN_DELETE_SELF) != 0;
            } else if !name.to_bytes().starts_with(TEMPORARY) {
                self.happened(watch, mask, name, context);
            }
        }
    }

    fn happened(&mut self, watch: i32, mask: u32, name: &CStr, context: &Context) {
        let Some(above) = self.directories.paths.get(&watch) else { return };
        let path = if above.is_empty() { name.to_bytes().to_vec() } else { [above, name.to_bytes()].join(&b'/') };
        let directory = mask & libc::IN_ISDIR != 0;
        let what = match mask & MASK {
            libc::IN_CREATE | libc::IN_MOVED_TO => What::Created,
            libc::IN_DELETE | libc::IN_MOVED_FROM => What::Deleted,
            _ => What::Modified,
        };
        self.report(what, directory, &path);
        if directory && self.recursive {
            match what {
                What::Created => self.appeared(path, context),
                _ => self.gone(&path),
            }
        }
    }

    /// Watches a new directory, then walks it.
    fn appeared(&mut self, path: Vec<u8>, context: &Context) {
        let Ok(name) = CString::new([&self.root, path.as_slice()].join(&b'/')) else { return };
        let walk = paths::open(&context.workspace, &name, OPEN_DIRECTORY).and_then(|fd| {
            let watch = watch_directory(&self.inotify, &fd, context)?;
            self.directories.insert(watch, path.clone())?;
            Walk::new(fd, path)
        });
        match walk {
            Ok(walk) => self.walks.push_back(walk),
            Err(Errno(libc::ENOSPC)) => self.report(What::Overflow, false, b""),
            Err(_) => {}
        }
    }

    /// Removes the watches below a directory that was moved away, because their paths are stale.
    fn gone(&mut self, path: &[u8]) {
        for watch in self.directories.below(path) {
            unwatch(&self.inotify, watch);
            self.directories.remove(watch);
        }
    }

    /// Sends whole events within the credit. Reports whether all events are sent.
    fn send(&mut self, channel: u32, context: &mut Context) -> bool {
        let mut sent = 0;
        loop {
            let rest = &self.events.buffer[sent..];
            let length = whole_events(rest, self.credit);
            if length == 0 || length as u64 > self.credit {
                break;
            }
            self.credit -= length as u64;
            context.out.frames.begin(channel, kind::DATA).u8(1).raw(&rest[..length]).end();
            sent += length;
        }
        self.events.buffer.drain(..sent);
        self.events.buffer.is_empty()
    }

    fn scan(&mut self, context: &Context) -> core::result::Result<(), Fail> {
        let _impersonation = context.user.impersonate().map_err(impersonation_failure)?;
        if let Err(error) = self.walk_some(context) {
            if !self.started {
                return Err(too_many(error));
            }
            self.walks.pop_front();
            self.report(What::Overflow, false, b"");
        }
        if self.walks.is_empty() {
            self.read(context);
        }
        Ok(())
    }
}

/// Number of bytes of whole events that fit into one frame and into the credit; at least one event.
fn whole_events(bytes: &[u8], credit: u64) -> usize {
    let room = credit.min(crate::wire::MAX_DATA as u64);
    let mut end = 0;
    while let Some(head) = bytes.get(end + 2..end + 6).and_then(|head| head.first_chunk()) {
        let next = end + 6 + u32::from_be_bytes(*head) as usize;
        if next as u64 > room && end > 0 {
            break;
        }
        end = next;
    }
    end.min(bytes.len())
}

/// Splits one inotify record into watch, mask, name and the remaining buffer.
fn record(bytes: &[u8]) -> Option<(i32, u32, &CStr, &[u8])> {
    let word = |at: usize| bytes.get(at..)?.first_chunk().map(|word| u32::from_ne_bytes(*word));
    let end = 16 + word(12)? as usize;
    let name = CStr::from_bytes_until_nul(bytes.get(16..end)?).unwrap_or(c"");
    Some((word(0)? as i32, word(4)?, name, &bytes[end..]))
}

impl Service for Watching {
    fn run(&mut self, channel: u32, context: &mut Context) -> Next {
        if !self.over
            && self.events.buffer.len() < BATCH
            && let Err(fail) = self.scan(context)
        {
            fail.send(channel, &mut context.out.frames);
            return Next::Done;
        }
        if !self.started && self.walks.is_empty() {
            self.started = true;
            context.out.frames.begin(channel, kind::STARTED).end();
        }
        let sent = self.send(channel, context);
        if self.over {
            context.out.frames.begin(channel, kind::END).end();
            return Next::Done;
        }
        if sent && (self.ready || !self.walks.is_empty()) { Next::Again } else { Next::Wait }
    }

    fn wake(&mut self, _source: u8, _events: u32) -> bool {
        self.ready = true;
        true
    }

    fn credit(&mut self, stream: u8, bytes: u32) {
        if stream == 1 {
            self.credit = self.credit.saturating_add(bytes.into());
        }
    }

    fn close(&mut self, _place: &mut Context) {
        self.over = true;
        self.events.buffer.clear();
    }
}
