//! Cgroups of a sandbox. The launcher creates, limits and joins them before it starts a process in them.

use core::ffi::CStr;

use super::options::Groups;
use super::{Step, about};
use vivarium_sys::{Errno, Fd, Result, file};

/// Creates the groups, sets their limits, and joins those of version 1. Returns the group of version 2, if any, in
/// which the init process should start.
///
/// Moving another process into a group takes ten milliseconds or more, because the kernel synchronizes all processors.
/// A process that moves its own single thread, or that starts in the group, does not wait.
pub fn join(groups: &Groups) -> Step<Option<Fd>> {
    for directory in groups.joined.iter().chain(&groups.unified) {
        make(directory).map_err(|e| about("make the cgroup", directory, e))?;
    }
    set(&groups.settings)?;
    for directory in &groups.joined {
        let tasks = [directory.to_bytes(), b"/tasks\0"].concat();
        let tasks = CStr::from_bytes_with_nul(&tasks).unwrap_or_default();
        write(tasks, b"0").map_err(|e| about("join the cgroup", directory, e))?;
    }
    groups
        .unified
        .map(|directory| {
            file::open(directory, libc::O_PATH | libc::O_DIRECTORY).map_err(|e| about("open the cgroup", directory, e))
        })
        .transpose()
}

/// Sets the limits that apply only to the sandbox. The launcher is in the same groups, so it calls this last.
pub fn set_final_limits(groups: &Groups) -> Step<()> {
    set(&groups.final_settings)
}

fn set(settings: &[(&CStr, &CStr)]) -> Step<()> {
    settings.iter().try_for_each(|(name, value)| write(name, value.to_bytes()).map_err(|e| about("set", name, e)))
}

fn make(directory: &CStr) -> Result<()> {
    match file::make_directory(directory, 0o755) {
        Err(Errno(libc::EEXIST)) => Ok(()),
        other => other,
    }
}

fn write(name: &CStr, value: &[u8]) -> Result<()> {
    file::open(name, libc::O_WRONLY)?.write(value).map(drop)
}
