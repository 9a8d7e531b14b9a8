//! Terminals.

use alloc::ffi::CString;
use alloc::format;

use crate::context::User;
use vivarium_sys::{Fd, file, process};

/// Nobody has a larger screen; a larger number would only cost memory in what draws on it.
const LARGEST: u16 = 1000;

/// A new terminal: the side we keep, and the side for the process.
pub fn open(user: &User, size: (u16, u16)) -> vivarium_sys::Result<(Fd, Fd)> {
    // The process's side belongs to whoever opens ours.
    let impersonation = user.impersonate()?;
    let master = file::open(c"/dev/ptmx", libc::O_RDWR | libc::O_NOCTTY | libc::O_NONBLOCK)?;
    let peer = process::terminal_peer(&master).or_else(|_| peer_by_name(&master))?;
    drop(impersonation);
    resize(&master, size.0, size.1)?;
    Ok((master, peer))
}

/// For kernels that cannot open it without a name (gVisor).
fn peer_by_name(master: &Fd) -> vivarium_sys::Result<Fd> {
    let name = format!("/dev/pts/{}", process::terminal_number(master)?);
    let name = CString::new(name).map_err(|_| vivarium_sys::Errno(libc::EINVAL))?;
    file::open(&name, libc::O_RDWR | libc::O_NOCTTY)
}

/// Sets the size; a terminal without rows or columns is refused.
pub fn resize(master: &Fd, columns: u16, rows: u16) -> vivarium_sys::Result<()> {
    if columns == 0 || rows == 0 {
        return Err(vivarium_sys::Errno(libc::EINVAL));
    }
    process::resize_terminal(master, columns.min(LARGEST), rows.min(LARGEST))
}
