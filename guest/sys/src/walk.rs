//! A tree of directories, one entry at a time, by descriptors: depth and length of paths do not matter.

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::CStr;

use crate::file::{Stat, open_at, read_directory, seek, stat_at, stat_of};
use crate::{Errno, Fd, Result};

/// Files that are being written; never shown.
pub const TEMPORARY: &[u8] = b".viv-tmp-";
/// So many directories are open at a time; those further up are opened again on the way back.
const OPEN: usize = 48;
const OPEN_DIRECTORY: i32 = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_NONBLOCK;

/// One entry of a directory, as the kernel lists it.
pub struct Entry<'a> {
    pub name: &'a CStr,
    /// Where to go on after this entry.
    pub next: i64,
    length: usize,
}

/// Takes a buffer of `getdents64` apart.
pub fn entries(mut buffer: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    core::iter::from_fn(move || {
        let entry = first(buffer)?;
        buffer = &buffer[entry.length..];
        Some(entry)
    })
}

fn first(buffer: &[u8]) -> Option<Entry<'_>> {
    let next = i64::from_ne_bytes(*buffer.get(8..)?.first_chunk()?);
    let length = u16::from_ne_bytes(*buffer.get(16..)?.first_chunk()?).into();
    let name = CStr::from_bytes_until_nul(buffer.get(19..length)?).ok()?;
    Some(Entry { name, next, length })
}

/// What the walk has come upon. `Walk::path` is its path, `Walk::directory` the directory that holds it.
pub enum Step {
    /// An entry; call `descend` to have those of a directory next.
    Entry(CString, Stat),
    /// A directory whose entries have all been seen.
    Leave(CString),
    Done,
}

struct Level {
    /// None while it is closed for being far up.
    fd: Option<Fd>,
    identity: (u64, u64),
    name: CString,
    batch: Vec<u8>,
    at: usize,
    resume: i64,
    /// Length of the path of this directory.
    prefix: usize,
}

/// A walk that can be left and taken up again.
pub struct Walk {
    levels: Vec<Level>,
    path: Vec<u8>,
}

impl Walk {
    /// Begins in `directory`, which must be open for reading; `path` is what its entries' paths begin with.
    pub fn new(directory: Fd, path: Vec<u8>) -> Result<Walk> {
        let mut walk = Walk { levels: Vec::new(), path };
        walk.push(directory, CString::default())?;
        Ok(walk)
    }

    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// The directory in which the last step was made.
    pub fn directory(&self) -> Result<&Fd> {
        self.levels.last().and_then(|level| level.fd.as_ref()).ok_or(Errno(libc::ESTALE))
    }

    fn push(&mut self, fd: Fd, name: CString) -> Result<()> {
        let stat = stat_of(&fd)?;
        let identity = (stat.device, stat.inode);
        let prefix = self.path.len();
        self.levels.push(Level { fd: Some(fd), identity, name, batch: Vec::new(), at: 0, resume: 0, prefix });
        if let Some(far) = self.levels.len().checked_sub(OPEN + 1) {
            self.levels[far].fd = None;
        }
        Ok(())
    }

    /// Goes into the directory that was the last entry. It is opened by name, but never through a link.
    pub fn descend(&mut self, name: CString) -> Result<()> {
        let fd = open_at(self.directory()?, &name, OPEN_DIRECTORY, 0)?;
        self.push(fd, name)
    }

    pub fn step(&mut self) -> Result<Step> {
        while let Some(level) = self.levels.last_mut() {
            let fd = level.fd.as_ref().ok_or(Errno(libc::ESTALE))?;
            let Some(entry) = first(&level.batch[level.at..]) else {
                if !level.refill()? {
                    return self.leave();
                }
                continue;
            };
            (level.at, level.resume) = (level.at + entry.length, entry.next);
            if matches!(entry.name.to_bytes(), b"." | b"..") {
                continue;
            }
            match stat_at(fd, entry.name) {
                // Gone since the directory was read.
                Err(Errno(libc::ENOENT)) => continue,
                Err(error) => return Err(error),
                Ok(stat) => {
                    let name = CString::from(entry.name);
                    let prefix = level.prefix;
                    self.extend_path(prefix, &name);
                    return Ok(Step::Entry(name, stat));
                }
            }
        }
        Ok(Step::Done)
    }

    fn extend_path(&mut self, prefix: usize, name: &CStr) {
        self.path.truncate(prefix);
        if prefix > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name.to_bytes());
    }

    fn leave(&mut self) -> Result<Step> {
        let Some(done) = self.levels.pop() else { return Ok(Step::Done) };
        let Some(above) = self.levels.last_mut() else { return Ok(Step::Done) };
        self.path.truncate(done.prefix);
        if above.fd.is_none() {
            above.reopen(&done)?;
        }
        Ok(Step::Leave(done.name))
    }
}

impl Level {
    fn refill(&mut self) -> Result<bool> {
        let mut buffer = [0u8; 16 * 1024];
        let fd = self.fd.as_ref().ok_or(Errno(libc::ESTALE))?;
        let length = read_directory(fd, &mut buffer)?;
        self.batch = buffer[..length].to_vec();
        self.at = 0;
        Ok(length > 0)
    }

    /// Comes back from below. Whoever has moved the lower directory meanwhile does not lead us elsewhere.
    fn reopen(&mut self, below: &Level) -> Result<()> {
        let below = below.fd.as_ref().ok_or(Errno(libc::ESTALE))?;
        let fd = open_at(below, c"..", OPEN_DIRECTORY, 0)?;
        let stat = stat_of(&fd)?;
        if (stat.device, stat.inode) != self.identity {
            return Err(Errno(libc::ESTALE));
        }
        if self.resume != 0 {
            // The rest of the batch is still to come, so the descriptor stands behind it.
            let end = entries(&self.batch[self.at..]).last().map_or(self.resume, |entry| entry.next);
            seek(&fd, end)?;
        }
        self.fd = Some(fd);
        Ok(())
    }
}
