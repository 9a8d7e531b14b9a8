//! File requests with an immediate reply, and reading.

use alloc::boxed::Box;

use crate::context::{Context, Next, Opened, Service};
use crate::fail::{Code, Fail};
use crate::paths;
use crate::wire::{Frames, MAX_DATA, kind};
use vivarium_sys::file::{self, Stat, stat_at, stat_of};
use vivarium_sys::{Errno, Fd};

const SLICE: usize = 256 * 1024;

/// Writes the `stat` fields of the wire protocol.
pub fn put_stat(out: &mut Frames, stat: &Stat) {
    let kind = match stat.mode & libc::S_IFMT {
        libc::S_IFREG => 1,
        libc::S_IFDIR => 2,
        libc::S_IFLNK => 3,
        libc::S_IFIFO => 5,
        libc::S_IFSOCK => 6,
        libc::S_IFCHR => 7,
        libc::S_IFBLK => 8,
        _ => 4,
    };
    out.u8(kind).u32(stat.mode & 0o7777).u64(stat.size).i64(stat.mtime_ns).u32(stat.uid);
}

/// Writes `stat` and the fields that identify a version of the file, as the last fields of a payload.
pub fn put_version(out: &mut Frames, stat: &Stat) {
    put_stat(out, stat);
    out.u64(stat.inode).i64(stat.ctime_ns);
}

/// Ends a channel with an empty END.
pub fn end(channel: u32, context: &mut Context) -> Opened {
    context.out.frames.begin(channel, kind::END).end();
    Ok(None)
}

pub fn impersonation_failure(error: Errno) -> Fail {
    Fail::of(error, "cannot act as the sandbox user")
}

pub fn stat(channel: u32, path: &[u8], follow: bool, context: &mut Context) -> Opened {
    let path = paths::check(path)?;
    let _impersonation = context.user.impersonate().map_err(impersonation_failure)?;
    let flags = if follow { libc::O_PATH } else { libc::O_PATH | libc::O_NOFOLLOW };
    let fd = paths::open(&context.workspace, &path, flags).map_err(|error| Fail::of(error, "cannot find the file"))?;
    let stat = stat_of(&fd).map_err(|error| Fail::of(error, "cannot stat the file"))?;
    let out = &mut context.out.frames;
    put_version(out.begin(channel, kind::END), &stat);
    out.end();
    Ok(None)
}

pub fn mkdir(channel: u32, path: &[u8], mode: u32, parents: bool, context: &mut Context) -> Opened {
    let path = paths::check(path)?;
    {
        let _impersonation = context.user.impersonate().map_err(impersonation_failure)?;
        let root = &context.workspace;
        let (directory, name) = if parents { paths::make_parent(root, &path)? } else { paths::parent(root, &path)? };
        match file::make_directory_at(&directory, &name, mode & 0o777) {
            Err(Errno(libc::EEXIST)) if parents && is_directory(&directory, &name) => {}
            made => made.map_err(|error| Fail::of(error, "cannot create the directory"))?,
        }
    }
    end(channel, context)
}

fn is_directory(directory: &Fd, name: &core::ffi::CStr) -> bool {
    stat_at(directory, name).is_ok_and(|stat| stat.is(libc::S_IFDIR))
}

/// Moves an entry.
pub fn rename(channel: u32, from: &[u8], to: &[u8], replace: bool, context: &mut Context) -> Opened {
    let (from, to) = (paths::check(from)?, paths::check(to)?);
    {
        let _impersonation = context.user.impersonate().map_err(impersonation_failure)?;
        let source = paths::parent(&context.workspace, &from)?;
        let target = paths::parent(&context.workspace, &to)?;
        put_in_place((&source.0, &source.1), (&target.0, &target.1), replace).map_err(|error| match error {
            // EXDEV is no escape here: source and target are on different file systems inside the workspace.
            Errno(libc::EXDEV) => {
                Fail { errno: libc::EXDEV, ..Fail::new(Code::InputOutput, "the target is on another file system") }
            }
            error => Fail::of(error, "cannot move the file"),
        })?;
    }
    end(channel, context)
}

/// Renames. Without `replace`, fails if the target exists.
pub fn put_in_place(
    from: (&Fd, &core::ffi::CStr),
    to: (&Fd, &core::ffi::CStr),
    replace: bool,
) -> vivarium_sys::Result<()> {
    if replace {
        return file::rename_at(from, to, 0);
    }
    match file::rename_at(from, to, libc::RENAME_NOREPLACE) {
        // The file system does not support RENAME_NOREPLACE.
        Err(Errno(libc::EINVAL)) => match stat_at(to.0, to.1) {
            Ok(_) => Err(Errno(libc::EEXIST)),
            Err(_) => file::rename_at(from, to, 0),
        },
        other => other,
    }
}

/// Transfer of a file to the host.
pub struct Reading {
    file: Fd,
    offset: u64,
    left: u64,
    sent: u64,
    credit: u64,
}

/// Opens a regular file for reading as the sandbox user. Fails for any other type.
pub fn open_file(path: &[u8], context: &mut Context) -> Result<(Fd, Stat), Fail> {
    let path = paths::check(path)?;
    let impersonation = context.user.impersonate().map_err(impersonation_failure)?;
    // Non-blocking, so that the open of a FIFO returns. The type check below then rejects it.
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file =
        paths::open(&context.workspace, &path, flags).map_err(|error| Fail::of(error, "cannot open the file"))?;
    drop(impersonation);
    let stat = stat_of(&file).map_err(|error| Fail::of(error, "cannot stat the file"))?;
    if !stat.is(libc::S_IFREG) {
        return Err(Fail::new(Code::NotAFile, "not a regular file"));
    }
    Ok((file, stat))
}

/// Opens a file and sends STARTED.
pub fn read(channel: u32, credit: u32, path: &[u8], range: (u64, u64), context: &mut Context) -> Opened {
    let (file, stat) = open_file(path, context)?;
    let out = &mut context.out.frames;
    put_version(out.begin(channel, kind::STARTED), &stat);
    out.end();
    let (offset, length) = range;
    let left = stat.size.saturating_sub(offset).min(length);
    Ok(Some(Box::new(Reading { file, offset, left, sent: 0, credit: credit.into() })))
}

impl Reading {
    /// Reads once into a frame. Returns 0 at the end of a file that has shrunk.
    fn read_once(&mut self, channel: u32, context: &mut Context) -> Result<usize, Fail> {
        let room = self.left.min(self.credit).min(MAX_DATA as u64) as usize;
        let out = &mut context.out.frames;
        out.begin(channel, kind::DATA).u8(1);
        let count = out.read_in(room, |into| self.file.read_at(into, self.offset));
        match count {
            Ok(count) if count > 0 => out.end(),
            _ => out.discard(),
        }
        count.map_err(|error| Fail::of(error, "cannot read the file"))
    }

    /// Sends END with the current status of the file, so that the host detects a write during the transfer.
    fn end(&self, channel: u32, context: &mut Context) {
        let out = &mut context.out.frames;
        match stat_of(&self.file) {
            Ok(stat) => {
                put_version(out.begin(channel, kind::END).u64(self.sent), &stat);
                out.end();
            }
            Err(error) => Fail::of(error, "cannot stat the file").send(channel, out),
        }
    }
}

impl Service for Reading {
    fn run(&mut self, channel: u32, context: &mut Context) -> Next {
        let mut budget = SLICE;
        while self.left > 0 && self.credit > 0 && budget > 0 && context.out.has_room() {
            match self.read_once(channel, context) {
                Ok(0) => self.left = 0,
                Ok(count) => {
                    let bytes = count as u64;
                    (self.offset, self.left) = (self.offset + bytes, self.left - bytes);
                    (self.sent, self.credit) = (self.sent + bytes, self.credit - bytes);
                    budget = budget.saturating_sub(count);
                }
                Err(fail) => {
                    fail.send(channel, &mut context.out.frames);
                    return Next::Done;
                }
            }
        }
        match (self.left, self.credit) {
            (0, _) => {
                self.end(channel, context);
                Next::Done
            }
            (_, 0) => Next::Wait,
            _ => Next::Again,
        }
    }

    fn credit(&mut self, stream: u8, bytes: u32) {
        if stream == 1 {
            self.credit = self.credit.saturating_add(bytes.into());
        }
    }

    fn close(&mut self, _place: &mut Context) {
        self.left = 0;
    }
}
