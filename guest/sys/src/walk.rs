//! Directory walk with descriptors. Path length has no limit.

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::CStr;

use crate::file::{Stat, open_at, read_directory, seek, stat_at, stat_of};
use crate::{Errno, Fd, Result};

/// Prefix of files that are being written. Listings hide them.
pub const TEMPORARY: &[u8] = b".viv-tmp-";
/// Largest number of open directories. The walk reopens closed ancestors on its way back.
const OPEN: usize = 48;
/// Largest number of levels. It bounds the memory of a walk to a few megabytes.
const DEEPEST: usize = 1 << 16;
const OPEN_DIRECTORY: i32 = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_NONBLOCK;

/// Directory entry of `getdents64`.
pub struct Entry<'a> {
    pub name: &'a CStr,
    /// Offset of the next entry.
    pub next: i64,
    length: usize,
}

/// Iterates over a buffer of `getdents64`.
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

/// Step of a walk. `Walk::path` is the path of the entry, `Walk::directory` its directory.
pub enum Step {
    /// Entry; call `descend` to enter a directory.
    Entry(CString, Stat),
    /// End of a directory.
    Leave(CString),
    Done,
}

struct Level {
    /// None while the directory is closed.
    fd: Option<Fd>,
    identity: (u64, u64),
    name: CString,
    batch: Vec<u8>,
    at: usize,
    resume: i64,
    /// Length of the path of this directory.
    prefix: usize,
}

/// Resumable walk.
pub struct Walk {
    levels: Vec<Level>,
    path: Vec<u8>,
}

impl Walk {
    /// Starts in `directory`, which must be open for reading. `path` is the prefix of all paths.
    pub fn new(directory: Fd, path: Vec<u8>) -> Result<Walk> {
        let mut walk = Walk { levels: Vec::new(), path };
        walk.push(directory, CString::default())?;
        Ok(walk)
    }

    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Directory of the last step.
    pub fn directory(&self) -> Result<&Fd> {
        self.levels.last().and_then(|level| level.fd.as_ref()).ok_or(Errno(libc::ESTALE))
    }

    fn push(&mut self, fd: Fd, name: CString) -> Result<()> {
        let stat = stat_of(&fd)?;
        let identity = (stat.device, stat.inode);
        let prefix = self.path.len();
        self.levels.push(Level { fd: Some(fd), identity, name, batch: Vec::new(), at: 0, resume: 0, prefix });
        if let Some(far) = self.levels.len().checked_sub(OPEN + 1) {
            self.levels[far].close();
        }
        Ok(())
    }

    /// Enters the directory of the last entry. Does not follow symbolic links. Fails if it is nested too deeply.
    pub fn descend(&mut self, name: CString) -> Result<()> {
        if self.levels.len() >= DEEPEST {
            return Err(Errno(libc::ENAMETOOLONG));
        }
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
                // The entry no longer exists.
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
    /// Closes the directory, and releases its batch if all entries were returned.
    fn close(&mut self) {
        self.fd = None;
        if self.at == self.batch.len() {
            (self.batch, self.at) = (Vec::new(), 0);
        }
    }

    fn refill(&mut self) -> Result<bool> {
        let mut buffer = [0u8; 16 * 1024];
        let fd = self.fd.as_ref().ok_or(Errno(libc::ESTALE))?;
        let length = read_directory(fd, &mut buffer)?;
        self.batch = buffer[..length].to_vec();
        self.at = 0;
        Ok(length > 0)
    }

    /// Reopens a closed directory from its child. Fails if the child has been moved elsewhere.
    fn reopen(&mut self, below: &Level) -> Result<()> {
        let below = below.fd.as_ref().ok_or(Errno(libc::ESTALE))?;
        let fd = open_at(below, c"..", OPEN_DIRECTORY, 0)?;
        let stat = stat_of(&fd)?;
        if (stat.device, stat.inode) != self.identity {
            return Err(Errno(libc::ESTALE));
        }
        if self.resume != 0 {
            // Continues after the batch, which may still have entries to return.
            let end = entries(&self.batch[self.at..]).last().map_or(self.resume, |entry| entry.next);
            seek(&fd, end)?;
        }
        self.fd = Some(fd);
        Ok(())
    }
}
