//! Descriptors, files and directories.

use core::ffi::CStr;

use crate::{Result, syscall};

/// An open descriptor, closed when dropped.
#[derive(Debug)]
pub struct Fd(i32);

impl Fd {
    pub fn owned(raw: usize) -> Fd {
        Fd(raw as i32)
    }

    pub fn raw(&self) -> i32 {
        self.0
    }

    pub fn read(&self, into: &mut [u8]) -> Result<usize> {
        // SAFETY: the kernel writes at most `into.len()` bytes.
        unsafe { syscall!(libc::SYS_read, self.0, into.as_mut_ptr(), into.len()) }
    }

    pub fn read_at(&self, into: &mut [u8], offset: u64) -> Result<usize> {
        // SAFETY: the kernel writes at most `into.len()` bytes.
        unsafe { syscall!(libc::SYS_pread64, self.0, into.as_mut_ptr(), into.len(), offset) }
    }

    pub fn write(&self, from: &[u8]) -> Result<usize> {
        // SAFETY: the kernel reads `from.len()` bytes.
        unsafe { syscall!(libc::SYS_write, self.0, from.as_ptr(), from.len()) }
    }

    /// Writes several buffers in order with one system call.
    pub fn write_vectored<const COUNT: usize>(&self, buffers: [&[u8]; COUNT]) -> Result<usize> {
        let vectors =
            buffers.map(|buffer| libc::iovec { iov_base: buffer.as_ptr().cast_mut().cast(), iov_len: buffer.len() });
        // SAFETY: each vector describes a borrowed buffer, and the kernel only reads from it.
        unsafe { syscall!(libc::SYS_writev, self.0, vectors.as_ptr(), vectors.len()) }
    }
}

impl Drop for Fd {
    fn drop(&mut self) {
        // SAFETY: this value owns the descriptor.
        let _ = unsafe { syscall!(libc::SYS_close, self.0) };
    }
}

/// Fields of `struct stat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    pub mode: u32,
    pub size: u64,
    pub mtime_ns: i64,
    pub ctime_ns: i64,
    pub uid: u32,
    pub device: u64,
    pub inode: u64,
}

impl Stat {
    pub fn is(&self, kind: u32) -> bool {
        self.mode & libc::S_IFMT == kind
    }
}

fn stat_call(directory: i32, name: &CStr, flags: i32) -> Result<Stat> {
    let mut stat = core::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the kernel fills the structure; all zeroes is a valid one.
    let stat = unsafe {
        syscall!(libc::SYS_newfstatat, directory, name.as_ptr(), stat.as_mut_ptr(), flags)?;
        stat.assume_init()
    };
    Ok(Stat {
        mode: stat.st_mode,
        size: stat.st_size as u64,
        mtime_ns: stat.st_mtime * 1_000_000_000 + stat.st_mtime_nsec,
        ctime_ns: stat.st_ctime * 1_000_000_000 + stat.st_ctime_nsec,
        uid: stat.st_uid,
        device: stat.st_dev,
        inode: stat.st_ino,
    })
}

pub fn stat_of(fd: &Fd) -> Result<Stat> {
    stat_call(fd.0, c"", libc::AT_EMPTY_PATH)
}

/// Status of an entry. Does not follow a symbolic link.
pub fn stat_at(directory: &Fd, name: &CStr) -> Result<Stat> {
    stat_call(directory.0, name, libc::AT_SYMLINK_NOFOLLOW)
}

/// Opens a path of the platform, relative to the current directory. Never use it for paths of a caller.
pub fn open(path: &CStr, flags: i32) -> Result<Fd> {
    // SAFETY: the path is a C string.
    let fd = unsafe { syscall!(libc::SYS_openat, libc::AT_FDCWD as isize, path.as_ptr(), flags | libc::O_CLOEXEC) }?;
    Ok(Fd(fd as i32))
}

/// Opens a private file of the platform for reading and writing. Creates it if it does not exist.
pub fn create(name: &CStr, flags: i32) -> Result<Fd> {
    let flags = flags | libc::O_RDWR | libc::O_CREAT | libc::O_CLOEXEC;
    // SAFETY: the name is a C string.
    unsafe { syscall!(libc::SYS_openat, libc::AT_FDCWD as isize, name.as_ptr(), flags, 0o600) }.map(Fd::owned)
}

pub fn open_at(directory: &Fd, name: &CStr, flags: i32, mode: u32) -> Result<Fd> {
    // SAFETY: the path is a C string.
    let fd = unsafe { syscall!(libc::SYS_openat, directory.0, name.as_ptr(), flags | libc::O_CLOEXEC, mode) }?;
    Ok(Fd(fd as i32))
}

/// `openat2` with `resolve` rules.
pub fn open_beneath(directory: &Fd, path: &CStr, flags: i32, resolve: u64) -> Result<Fd> {
    let how: [u64; 3] = [(flags | libc::O_CLOEXEC) as u64, 0, resolve];
    // SAFETY: `open_how` is these three words.
    let fd = unsafe { syscall!(libc::SYS_openat2, directory.0, path.as_ptr(), how.as_ptr(), size_of_val(&how)) }?;
    Ok(Fd(fd as i32))
}

pub fn read_link<'a>(path: &CStr, into: &'a mut [u8]) -> Result<&'a [u8]> {
    let here = libc::AT_FDCWD as isize;
    // SAFETY: the kernel writes at most `into.len()` bytes.
    let length = unsafe { syscall!(libc::SYS_readlinkat, here, path.as_ptr(), into.as_mut_ptr(), into.len()) }?;
    Ok(&into[..length])
}

pub fn read_link_at<'a>(directory: &Fd, name: &CStr, into: &'a mut [u8]) -> Result<&'a [u8]> {
    // SAFETY: the kernel writes at most `into.len()` bytes.
    let length = unsafe { syscall!(libc::SYS_readlinkat, directory.0, name.as_ptr(), into.as_mut_ptr(), into.len()) }?;
    Ok(&into[..length])
}

pub fn make_directory(path: &CStr, mode: u32) -> Result<()> {
    // SAFETY: the path is a C string.
    unsafe { syscall!(libc::SYS_mkdirat, libc::AT_FDCWD as isize, path.as_ptr(), mode) }.map(drop)
}

pub fn make_directory_at(directory: &Fd, name: &CStr, mode: u32) -> Result<()> {
    // SAFETY: the name is a C string.
    unsafe { syscall!(libc::SYS_mkdirat, directory.0, name.as_ptr(), mode) }.map(drop)
}

pub fn unlink(path: &CStr, flags: i32) -> Result<()> {
    // SAFETY: the path is a C string.
    unsafe { syscall!(libc::SYS_unlinkat, libc::AT_FDCWD as isize, path.as_ptr(), flags) }.map(drop)
}

/// Removes the content of a file.
pub fn truncate(fd: &Fd) -> Result<()> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_ftruncate, fd.0, 0) }.map(drop)
}

/// Sets a record lock on the whole file, which Java's file channels respect. The lock belongs to the process, survives
/// `execve` and is not inherited by children. Fails if another process holds it.
pub fn try_lock(fd: &Fd) -> Result<()> {
    let whole = write_lock();
    // SAFETY: the kernel reads one flock.
    unsafe { syscall!(libc::SYS_fcntl, fd.0, libc::F_SETLK, &raw const whole) }.map(drop)
}

/// Reports whether another process has the file locked.
pub fn is_locked(fd: &Fd) -> bool {
    let mut whole = write_lock();
    // SAFETY: the kernel reads and writes one flock.
    let asked = unsafe { syscall!(libc::SYS_fcntl, fd.0, libc::F_GETLK, &raw mut whole) };
    asked.is_ok() && whole.l_type != libc::F_UNLCK as libc::c_short
}

fn write_lock() -> libc::flock {
    // SAFETY: all zeroes is a valid flock: from the start, to the end.
    let mut whole: libc::flock = unsafe { core::mem::zeroed() };
    whole.l_type = libc::F_WRLCK as libc::c_short;
    whole
}

pub fn unlink_at(directory: &Fd, name: &CStr, flags: i32) -> Result<()> {
    // SAFETY: the name is a C string.
    unsafe { syscall!(libc::SYS_unlinkat, directory.0, name.as_ptr(), flags) }.map(drop)
}

pub fn rename_at(from: (&Fd, &CStr), to: (&Fd, &CStr), flags: u32) -> Result<()> {
    // SAFETY: both names are C strings.
    unsafe { syscall!(libc::SYS_renameat2, from.0.0, from.1.as_ptr(), to.0.0, to.1.as_ptr(), flags) }.map(drop)
}

pub fn set_mode(fd: &Fd, mode: u32) -> Result<()> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_fchmod, fd.0, mode) }.map(drop)
}

/// Reads raw directory entries; `walk::entries` parses them.
pub fn read_directory(fd: &Fd, into: &mut [u8]) -> Result<usize> {
    // SAFETY: the kernel writes at most `into.len()` bytes.
    unsafe { syscall!(libc::SYS_getdents64, fd.0, into.as_mut_ptr(), into.len()) }
}

pub fn seek(fd: &Fd, offset: i64) -> Result<()> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_lseek, fd.0, offset, libc::SEEK_SET) }.map(drop)
}

/// Makes a directory the current one.
pub fn change_directory(directory: &Fd) -> Result<()> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_fchdir, directory.0) }.map(drop)
}

/// Creates a pipe; the reader is the first descriptor. Both ends are blocking and close on exec.
pub fn pipe() -> Result<(Fd, Fd)> {
    let mut ends = [0i32; 2];
    // SAFETY: the kernel writes two descriptors.
    unsafe { syscall!(libc::SYS_pipe2, ends.as_mut_ptr(), libc::O_CLOEXEC) }?;
    Ok((Fd(ends[0]), Fd(ends[1])))
}

pub fn set_nonblocking(fd: &Fd) -> Result<()> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_fcntl, fd.0, libc::F_SETFL, libc::O_NONBLOCK) }.map(drop)
}

/// Sets the capacity of a pipe. Best effort: the kernel has a limit for each user.
pub fn widen_pipe(fd: &Fd, bytes: usize) {
    // SAFETY: no pointers.
    let _ = unsafe { syscall!(libc::SYS_fcntl, fd.0, libc::F_SETPIPE_SZ, bytes) };
}

/// Number of bytes that can be read.
pub fn readable_bytes(fd: &Fd) -> Result<u64> {
    let mut count = 0i32;
    // SAFETY: the kernel writes one int.
    unsafe { syscall!(libc::SYS_ioctl, fd.0, libc::FIONREAD, &raw mut count) }?;
    Ok(count as u64)
}

/// Moves bytes from a pipe into `sink` without copying them.
pub fn splice(from: &Fd, sink: &Fd, bytes: usize) -> Result<usize> {
    // SAFETY: no pointers but the two null offsets.
    unsafe { syscall!(libc::SYS_splice, from.0, 0, sink.0, 0, bytes, libc::SPLICE_F_NONBLOCK) }
}

/// Returns total and free bytes, total and free inodes of the file system.
pub fn space(fd: &Fd) -> Result<[u64; 4]> {
    let mut fs = core::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the kernel fills the structure; all zeroes is a valid one.
    let fs = unsafe {
        syscall!(libc::SYS_fstatfs, fd.0, fs.as_mut_ptr())?;
        fs.assume_init()
    };
    let block = fs.f_bsize as u64;
    Ok([fs.f_blocks * block, fs.f_bavail * block, fs.f_files, fs.f_ffree])
}

/// Reads a small file, such as one in `/proc`, with one call.
pub fn read_small<'a>(path: &CStr, into: &'a mut [u8]) -> Result<&'a [u8]> {
    let file = open(path, libc::O_RDONLY)?;
    let length = file.read(into)?;
    Ok(&into[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aVectoredWriteKeepsTheOrderOfItsBuffers() {
        let (reader, writer) = pipe().unwrap();
        assert_eq!(writer.write_vectored([b"one ", b"", b"two"]), Ok(7));
        let mut received = [0; 16];
        assert_eq!(reader.read(&mut received), Ok(7));
        assert_eq!(&received[..7], b"one two");
    }
}
