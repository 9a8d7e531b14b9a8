//! The sandbox's cgroups: made, bounded and joined before there is a process that could outgrow them.

use core::ffi::CStr;

use super::options::Groups;
use super::{Step, about};
use vivarium_sys::{Errno, Fd, Result, file};

/// Makes the groups, sets their limits, and joins those of the first version. Gives the group of the second version,
/// if that is what the host has: a process is best born into it.
///
/// Moving a process into a group makes the kernel wait for all others, ten milliseconds and more. A process that
/// moves its only thread by itself, and one that is born into the group, does not wait.
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

/// Sets the limits that hold for the sandbox only: the launcher, which is in the same groups, is done by then.
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
