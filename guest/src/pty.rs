//! Terminals.

use alloc::ffi::CString;
use alloc::format;

use crate::context::User;
use vivarium_sys::{Fd, file, process};

/// Largest terminal size. Larger values would only waste memory of programs that draw on the screen.
const LARGEST: u16 = 1000;

/// Opens a pseudoterminal. Returns the master for the guest and the peer for the process.
pub fn open(user: &User, size: (u16, u16)) -> vivarium_sys::Result<(Fd, Fd)> {
    // The peer belongs to the user that opens the master.
    let impersonation = user.impersonate()?;
    let master = file::open(c"/dev/ptmx", libc::O_RDWR | libc::O_NOCTTY | libc::O_NONBLOCK)?;
    let peer = process::terminal_peer(&master).or_else(|_| peer_by_name(&master))?;
    drop(impersonation);
    resize(&master, size.0, size.1)?;
    Ok((master, peer))
}

/// Opens the peer by name, for kernels without `TIOCGPTPEER` (gVisor).
fn peer_by_name(master: &Fd) -> vivarium_sys::Result<Fd> {
    let name = format!("/dev/pts/{}", process::terminal_number(master)?);
    let name = CString::new(name).map_err(|_| vivarium_sys::Errno(libc::EINVAL))?;
    file::open(&name, libc::O_RDWR | libc::O_NOCTTY)
}

/// Sets the size. Fails without rows or columns.
pub fn resize(master: &Fd, columns: u16, rows: u16) -> vivarium_sys::Result<()> {
    if columns == 0 || rows == 0 {
        return Err(vivarium_sys::Errno(libc::EINVAL));
    }
    process::resize_terminal(master, columns.min(LARGEST), rows.min(LARGEST))
}
