//! User namespace of a sandbox: id map and owner.

use alloc::ffi::CString;
use alloc::format;
use core::ffi::CStr;

use super::{Step, failed};
use vivarium_sys::{Fd, Result, file, process, syscall};

const IDS: u32 = 65_536;
/// Keeps capabilities when the effective user changes.
const NO_SETUID_FIXUP: usize = 1 << 2;

/// Creates a namespace that maps 0 to 65,535 to `base` and the ids after it, and that `base` owns.
///
/// The kernel also charges per-user limits (inotify instances, queued signals, message queues) to the owner of a
/// namespace. With root as the owner, one sandbox could exhaust the limits of the host and of all other sandboxes.
///
/// A namespace needs a process while its map is written, so the launcher forks a child for that time.
pub fn with_range(base: u32) -> Step<Fd> {
    let child = clone_as(base, 0, None).map_err(|e| failed("make a user namespace", e))?;
    if child == 0 {
        loop {
            // SAFETY: the call has null pointers only. It waits for the kill.
            let _ = unsafe { syscall!(libc::SYS_ppoll, 0, 0, 0, 0, 0) };
        }
    }
    let namespace = map_ids(child, base);
    let _ = process::kill(child, libc::SIGKILL);
    // SAFETY: a null pointer for the status is allowed.
    let _ = unsafe { syscall!(libc::SYS_wait4, child, 0, 0, 0) };
    namespace
}

/// Forks into a new user namespace of `owner`, the namespaces in `flags`, and a cgroup if given.
pub fn clone_as(owner: u32, flags: i32, group: Option<&Fd>) -> Result<i32> {
    let usual = process::control(libc::PR_GET_SECUREBITS, 0)?;
    process::control(libc::PR_SET_SECUREBITS, usual | NO_SETUID_FIXUP)?;
    process::set_effective_ids(owner, 0, false)?;
    let child = process::fork_into(libc::CLONE_NEWUSER | flags, group);
    if child != Ok(0) {
        process::set_effective_ids(0, 0, false)?;
        process::control(libc::PR_SET_SECUREBITS, usual)?;
    }
    child
}

/// Maps the ids in the user namespace of `child` and returns the namespace.
pub fn map_ids(child: i32, base: u32) -> Step<Fd> {
    let line = format!("0 {base} {IDS}\n");
    for name in ["uid_map", "gid_map"] {
        let map = file::open(&path(child, name), libc::O_WRONLY).map_err(|e| failed("open an id map", e))?;
        map.write(line.as_bytes()).map_err(|e| failed("write an id map", e))?;
    }
    file::open(&path(child, "ns/user"), libc::O_RDONLY).map_err(|e| failed("open the user namespace", e))
}

fn path(pid: i32, name: &str) -> CString {
    let bytes = format!("/proc/{pid}/{name}\0").into_bytes();
    CStr::from_bytes_with_nul(&bytes).map(CString::from).unwrap_or_default()
}
