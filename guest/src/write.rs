//! Writing of a file: received under a temporary name, checked, then renamed.

use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::format;
use alloc::vec::Vec;

use crate::context::{Context, Next, Opened, Service, User};
use crate::fail::{Code, Fail};
use crate::files::{impersonation_failure, put_in_place, put_version};
use crate::paths;
use crate::request::Write;
use crate::totals::Totals;
use crate::wire::{HOST_CREDIT, MAX_DATA, Violation, kind};
use vivarium_sys::file::{open_at, set_mode, stat_at, stat_of, unlink_at};
use vivarium_sys::walk::Walk;
use vivarium_sys::{Errno, Fd, process};

/// Largest number of temporary files of earlier guests to skip.
const MAX_LEFT: u32 = 1000;

/// Transfer of a file from the host.
pub struct Writing {
    user: User,
    path: CString,
    /// Directory of the temporary file: the parent of the target, or the deepest existing directory above it.
    directory: Fd,
    /// False until the parent of the target exists. The guest creates missing directories at the end, so that a
    /// transfer that fails leaves none behind.
    has_parent: bool,
    name: CString,
    temporary: CString,
    /// None after the file is complete.
    file: Option<Fd>,
    mode: u32,
    keep_mode: bool,
    replace: bool,
    max_size: u64,
    max_files: u64,
    max_total: u64,
    received: u64,
    owed: u64,
    state: State,
}

enum State {
    Receiving,
    /// The content is complete. The guest checks the limits of the workspace.
    Checking(Option<(Walk, Totals)>),
    Failed(Fail),
    /// The file has its final name.
    InPlace,
}

pub fn open(request: &Write, context: &mut Context) -> Opened {
    let path = paths::check(request.path)?;
    let _impersonation = context.user.impersonate().map_err(impersonation_failure)?;
    let root = &context.workspace;
    let (directory, name, has_parent) = if request.make_parents {
        paths::existing_parent(root, &path)?
    } else {
        paths::parent(root, &path).map(|(directory, name)| (directory, name, true))?
    };
    match stat_at(&directory, &name) {
        _ if !has_parent => {}
        Ok(_) if request.fail_if_exists => return Err(Fail::new(Code::Exists, "the file exists")),
        Ok(stat) if stat.is(libc::S_IFDIR) => return Err(Fail::new(Code::NotAFile, "the target is a directory")),
        _ => {}
    }
    let (temporary, file) = begin(&directory, &mut context.counter)?;
    Ok(Some(Box::new(Writing {
        user: context.user,
        path,
        directory,
        has_parent,
        name,
        temporary,
        file: Some(file),
        mode: request.mode & 0o777,
        keep_mode: request.keep_mode,
        replace: !request.fail_if_exists,
        max_size: limit(request.max_size),
        max_files: limit(request.max_files),
        max_total: limit(request.max_total),
        received: 0,
        owed: 0,
        state: State::Receiving,
    })))
}

/// Creates a temporary file. The disk may have temporary files of an earlier guest that exited during a write and used
/// the same names; the guest skips those.
fn begin(directory: &Fd, counter: &mut u64) -> Result<(CString, Fd), Fail> {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
    for _ in 0..MAX_LEFT {
        *counter += 1;
        let name = format!(".viv-tmp-{}-{counter}", process::own_pid());
        let name = CString::new(name).map_err(|_| Fail::new(Code::Invalid, "the path has no file name"))?;
        match open_at(directory, &name, flags, 0o600) {
            Err(Errno(libc::EEXIST)) => {}
            other => {
                return other
                    .map(|file| (name, file))
                    .map_err(|error| Fail::of(error, "cannot write in that directory"));
            }
        }
    }
    Err(Fail::new(Code::Busy, "too many unfinished files in that directory"))
}

fn limit(value: u64) -> u64 {
    if value == 0 { u64::MAX } else { value }
}

impl Writing {
    fn store(&mut self, mut bytes: &[u8]) -> Result<(), Fail> {
        self.received += bytes.len() as u64;
        if self.received > self.max_size {
            return Err(Fail::beyond(Code::TooLarge, self.received, self.max_size, "the file is larger than allowed"));
        }
        let file = self.file.as_ref().ok_or(Fail::new(Code::Invalid, "the file is complete"))?;
        while !bytes.is_empty() {
            let count = file.write(bytes).map_err(|error| Fail::of(error, "cannot write"))?;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    fn begin_check(&mut self, context: &Context) -> Result<(), Fail> {
        let mut check = None;
        if self.max_files != u64::MAX || self.max_total != u64::MAX {
            let _impersonation = self.user.impersonate().map_err(impersonation_failure)?;
            let totals = Totals::default();
            let walk = totals.begin(&context.workspace, c".").map_err(|error| Fail::of(error, "cannot count files"))?;
            check = Some((walk, totals));
        }
        self.state = State::Checking(check);
        Ok(())
    }

    /// Continues the count. Returns true when the file is within the limits.
    fn check(&mut self, context: &Context) -> Result<bool, Fail> {
        let State::Checking(Some((walk, totals))) = &mut self.state else { return Ok(true) };
        let impersonation = self.user.impersonate().map_err(impersonation_failure)?;
        if !totals.count_some(walk) {
            return Ok(false);
        }
        let old = paths::parent(&context.workspace, &self.path)
            .ok()
            .and_then(|(directory, name)| stat_at(&directory, &name).ok());
        drop(impersonation);
        let files = totals.files + u64::from(old.is_none());
        if files > self.max_files {
            return Err(Fail::beyond(Code::TooManyFiles, files, self.max_files, "the workspace has too many files"));
        }
        let replaced = old.filter(|stat| stat.is(libc::S_IFREG)).map_or(0, |stat| stat.size);
        let total = (totals.bytes + self.received).saturating_sub(replaced);
        if total > self.max_total {
            return Err(Fail::beyond(Code::WorkspaceFull, total, self.max_total, "the workspace is full"));
        }
        Ok(true)
    }

    /// Mode of the new file. A replaced file passes on its permission bits, but not setuid, setgid and sticky.
    fn wanted_mode(&self, directory: &Fd) -> u32 {
        let old = stat_at(directory, &self.name).ok();
        match old.filter(|stat| self.keep_mode && stat.is(libc::S_IFREG)) {
            Some(stat) => stat.mode & 0o777,
            None => self.mode,
        }
    }

    fn put(&mut self, channel: u32, context: &mut Context) -> Result<(), Fail> {
        let _impersonation = self.user.impersonate().map_err(impersonation_failure)?;
        if self.has_parent {
            return self.put_at(None, channel, context);
        }
        let mut made = Vec::new();
        let put = paths::make_parent_listed(&context.workspace, &self.path, &mut made)
            .and_then(|(directory, _)| self.put_at(Some(directory), channel, context));
        if put.is_err() {
            paths::remove_made(&context.workspace, &made);
        }
        put
    }

    /// Moves the file to `parent`, or to the directory of the temporary file.
    fn put_at(&mut self, parent: Option<Fd>, channel: u32, context: &mut Context) -> Result<(), Fail> {
        let file = self.file.take().ok_or(Fail::new(Code::Invalid, "the file is complete"))?;
        let directory = parent.as_ref().unwrap_or(&self.directory);
        set_mode(&file, self.wanted_mode(directory)).map_err(|error| Fail::of(error, "cannot set the mode"))?;
        let stat = stat_of(&file).map_err(|error| Fail::of(error, "cannot stat the file"))?;
        // Closes the file before the rename, because watches would report a later close as a modification.
        drop(file);
        put_in_place((&self.directory, &self.temporary), (directory, &self.name), self.replace)
            .map_err(|error| Fail::of(error, "cannot rename the file to its target"))?;
        self.state = State::InPlace;
        // The rename has changed the ctime.
        let stat = stat_at(directory, &self.name).ok().filter(|now| now.inode == stat.inode).unwrap_or(stat);
        let out = &mut context.out.frames;
        put_version(out.begin(channel, kind::END), &stat);
        out.end();
        Ok(())
    }

    fn repay(&mut self, channel: u32, context: &mut Context) {
        if self.owed >= MAX_DATA as u64 {
            context.out.frames.begin(channel, kind::CREDIT).u8(0).u32(self.owed as u32).end();
            self.owed = 0;
        }
    }

    fn advance(&mut self, channel: u32, context: &mut Context) -> Result<Next, Fail> {
        match &self.state {
            State::Failed(fail) => return Err(*fail),
            State::Receiving => {
                self.repay(channel, context);
                return Ok(Next::Wait);
            }
            State::Checking(None) => self.begin_check(context)?,
            _ => {}
        }
        if !self.check(context)? {
            return Ok(Next::Again);
        }
        self.put(channel, context).map(|()| Next::Done)
    }
}

impl Service for Writing {
    fn run(&mut self, channel: u32, context: &mut Context) -> Next {
        self.advance(channel, context).unwrap_or_else(|fail| {
            fail.send(channel, &mut context.out.frames);
            Next::Done
        })
    }

    fn data(&mut self, stream: u8, bytes: &[u8], _place: &mut Context) -> Result<(), Violation> {
        self.owed += bytes.len() as u64;
        if stream != 0 || self.owed > HOST_CREDIT {
            return Err(Violation);
        }
        match self.state {
            State::Receiving => {
                if let Err(fail) = self.store(bytes) {
                    self.state = State::Failed(fail);
                }
                Ok(())
            }
            State::Failed(_) => Ok(()),
            _ => Err(Violation),
        }
    }

    fn eof(&mut self, stream: u8) {
        if stream == 0 && matches!(self.state, State::Receiving) {
            self.state = State::Checking(None);
        }
    }

    fn close(&mut self, _place: &mut Context) {
        if !matches!(self.state, State::InPlace) {
            self.state = State::Failed(Fail::new(Code::Invalid, "closed by the host"));
        }
    }
}

impl Drop for Writing {
    /// Removes the temporary file of an unfinished transfer.
    fn drop(&mut self) {
        if !matches!(self.state, State::InPlace)
            && let Ok(_impersonation) = self.user.impersonate()
        {
            let _: Result<(), Errno> = unlink_at(&self.directory, &self.temporary, 0);
        }
    }
}
