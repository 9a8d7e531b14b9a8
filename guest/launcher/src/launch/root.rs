//! Root file system of a sandbox and its mounts.
//!
//! The process enters the root before it mounts anything, so that all paths resolve inside. A symbolic link of an image
//! cannot lead outside. A descriptor keeps the root of the host accessible as the source of bind mounts.

use alloc::ffi::CString;
use core::ffi::CStr;

use super::mount::{self, NODEV, NOEXEC, NOSUID, READ_ONLY};
use super::options::{Entry, Mount, Options};
use super::{Step, about, failed};
use vivarium_sys::{Errno, Fd, Result, file, process, syscall};

const DEVICES: [&CStr; 6] = [c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/random", c"/dev/urandom", c"/dev/tty"];
const LINKS: [(&CStr, &CStr); 5] = [
    (c"/proc/self/fd", c"/dev/fd"),
    (c"/proc/self/fd/0", c"/dev/stdin"),
    (c"/proc/self/fd/1", c"/dev/stdout"),
    (c"/proc/self/fd/2", c"/dev/stderr"),
    (c"pts/ptmx", c"/dev/ptmx"),
];

/// Changes the root to the one that the launcher has prepared below the stage.
pub fn enter(options: &Options, entry: &Entry) -> Step<()> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_unshare, libc::CLONE_NEWNS) }.map_err(|e| failed("make a mount namespace", e))?;
    process::change_directory(options.stage).map_err(|e| failed("enter the stage", e))?;
    let open = |path: &CStr| file::open(path, libc::O_PATH | libc::O_DIRECTORY);
    let (host, stage) = open(c"/").and_then(|host| Ok((host, open(c".")?))).map_err(|e| failed("hold the host", e))?;
    // A mount that is older than the namespace cannot become its root, so a new bind mount does.
    mount::bind_tree(c"rootfs", c"rootfs", 0)?;
    process::change_directory(c"rootfs").map_err(|e| failed("enter the root", e))?;
    // SAFETY: both are C strings.
    unsafe { syscall!(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) }
        .map_err(|e| failed("change the root", e))?;
    furnish(entry, &host, &stage)?;
    drop(stage);
    leave(&host)
}

fn furnish(entry: &Entry, host: &Fd, stage: &Fd) -> Step<()> {
    for mount in &entry.mounts {
        make_directory(mount.target)?;
        mount::classic(mount)?;
    }
    devices(host)?;
    for Mount { source, target, options } in &entry.binds {
        make_target(stage, source, target)?;
        mount::bind_from(stage, source, target, mount::attributes(options))?;
    }
    let mut nothing = None;
    for path in &entry.masked {
        mask(path, host, &mut nothing)?;
    }
    for path in &entry.read_only {
        let attributes = READ_ONLY | NOSUID | NODEV | NOEXEC;
        unless_missing(path, || mount::bind_tree(path, path, attributes))?;
    }
    mount::set(c"/", READ_ONLY)
}

/// Binds device nodes of the host, because a user namespace cannot create nodes.
fn devices(host: &Fd) -> Step<()> {
    for device in DEVICES {
        make_file(device).map_err(|e| about("make", device, e))?;
        let below = CStr::from_bytes_with_nul(&device.to_bytes_with_nul()[1..]).unwrap_or_default();
        mount::bind_from(host, below, device, NOSUID | NOEXEC)?;
    }
    for (target, name) in LINKS {
        // SAFETY: both are C strings.
        unsafe { syscall!(libc::SYS_symlinkat, target.as_ptr(), libc::AT_FDCWD as isize, name.as_ptr()) }
            .map_err(|e| about("make", name, e))?;
    }
    Ok(())
}

/// Hides a file below `/dev/null` and a directory below an empty one, which all hidden directories share.
fn mask<'a>(path: &'a CStr, host: &Fd, nothing: &mut Option<&'a CStr>) -> Step<()> {
    let Some(stat) = stat(path)? else { return Ok(()) };
    if !stat.is(libc::S_IFDIR) {
        return mount::bind_from(host, c"dev/null", path, READ_ONLY | NOSUID | NOEXEC);
    }
    if let Some(empty) = *nothing {
        return mount::bind(empty, path, 0, None);
    }
    mount::classic(&Mount { source: c"tmpfs", target: path, options: c"ro,nosuid,nodev,noexec,size=0,nr_inodes=2" })?;
    *nothing = Some(path);
    Ok(())
}

fn leave(host: &Fd) -> Step<()> {
    file::change_directory(host).map_err(|e| failed("go back to the host", e))?;
    // SAFETY: the path is a C string.
    unsafe { syscall!(libc::SYS_umount2, c".".as_ptr(), libc::MNT_DETACH) }.map_err(|e| failed("leave the host", e))?;
    process::change_directory(c"/").map_err(|e| failed("enter the root", e))
}

fn unless_missing(path: &CStr, step: impl FnOnce() -> Step<()>) -> Step<()> {
    if stat(path)?.is_some() { step() } else { Ok(()) }
}

/// Returns none only if the entry does not exist. Other errors fail, so that nothing stays visible.
fn stat(path: &CStr) -> Step<Option<file::Stat>> {
    match file::open(path, libc::O_PATH | libc::O_NOFOLLOW).and_then(|fd| file::stat_of(&fd)) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno(libc::ENOENT)) => Ok(None),
        Err(error) => Err(about("look at", path, error)),
    }
}

/// Creates a mount point that the image lacks.
fn make_target(stage: &Fd, source: &CStr, target: &CStr) -> Step<()> {
    let kind = file::stat_at(stage, source).map_err(|e| about("look at", source, e))?;
    if kind.is(libc::S_IFDIR) {
        return make_directory(target);
    }
    make_directory(&parent(target))?;
    make_file(target).map_err(|e| about("make", target, e))
}

fn make_file(path: &CStr) -> Result<()> {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC | libc::O_EXCL;
    // SAFETY: the path is a C string.
    match unsafe { syscall!(libc::SYS_openat, libc::AT_FDCWD as isize, path.as_ptr(), flags, 0o644) } {
        Ok(fd) => {
            drop(Fd::owned(fd));
            Ok(())
        }
        Err(Errno(libc::EEXIST)) => Ok(()),
        Err(error) => Err(error),
    }
}

fn parent(path: &CStr) -> CString {
    let bytes = path.to_bytes();
    let end = bytes.iter().rposition(|b| *b == b'/').unwrap_or(0);
    CString::new(&bytes[..end]).unwrap_or_default()
}

/// Creates a directory and its parents.
fn make_directory(path: &CStr) -> Step<()> {
    if path.is_empty() || stat(path)?.is_some() {
        return Ok(());
    }
    make_directory(&parent(path))?;
    // SAFETY: the path is a C string.
    match unsafe { syscall!(libc::SYS_mkdirat, libc::AT_FDCWD as isize, path.as_ptr(), 0o755) } {
        Ok(_) | Err(Errno(libc::EEXIST)) => Ok(()),
        Err(error) => Err(about("make", path, error)),
    }
}
