//! Sockets.

use crate::{Errno, Fd, Result, syscall};

fn stream(domain: i32) -> Result<Fd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: no pointers.
    let fd = unsafe { syscall!(libc::SYS_socket, domain, kind, 0) }?;
    Ok(Fd::owned(fd))
}

/// Connects to a unix socket. Fails with EAGAIN if its backlog is full.
pub fn connect_unix(path: &[u8]) -> Result<Fd> {
    // SAFETY: all zeroes is a valid address.
    let mut address: libc::sockaddr_un = unsafe { core::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as u16;
    if path.len() >= address.sun_path.len() || path.contains(&0) {
        return Err(Errno(libc::ENAMETOOLONG));
    }
    for (to, from) in address.sun_path.iter_mut().zip(path) {
        *to = *from as libc::c_char;
    }
    let fd = stream(libc::AF_UNIX)?;
    // SAFETY: the address is as long as it says.
    unsafe { syscall!(libc::SYS_connect, fd.raw(), &raw const address, size_of_val(&address)) }?;
    Ok(fd)
}

/// Sets the send buffer to `bytes`, or to the largest size that the kernel allows.
pub fn widen(fd: &Fd, bytes: i32) {
    let (level, option) = (libc::SOL_SOCKET, libc::SO_SNDBUF);
    // SAFETY: the kernel reads one int.
    let _ = unsafe { syscall!(libc::SYS_setsockopt, fd.raw(), level, option, &raw const bytes, size_of_val(&bytes)) };
}

/// Starts a connection to a port of 127.0.0.1; see `connected`.
pub fn connect_loopback(port: u16) -> Result<Fd> {
    begin(stream(libc::AF_INET)?, &loopback(port))
}

fn loopback(port: u16) -> libc::sockaddr_in {
    // SAFETY: all zeroes is a valid address.
    let mut address: libc::sockaddr_in = unsafe { core::mem::zeroed() };
    address.sin_family = libc::AF_INET as u16;
    address.sin_port = port.to_be();
    address.sin_addr.s_addr = u32::from_be_bytes([127, 0, 0, 1]).to_be();
    address
}

/// Starts a connection to a port of `::1`. Some programs listen only there for `localhost`.
pub fn connect_loopback6(port: u16) -> Result<Fd> {
    // SAFETY: all zeroes is a valid address.
    let mut address: libc::sockaddr_in6 = unsafe { core::mem::zeroed() };
    address.sin6_family = libc::AF_INET6 as u16;
    address.sin6_port = port.to_be();
    address.sin6_addr.s6_addr[15] = 1;
    begin(stream(libc::AF_INET6)?, &address)
}

fn begin<Address>(fd: Fd, address: &Address) -> Result<Fd> {
    // SAFETY: the address is as long as it says.
    match unsafe { syscall!(libc::SYS_connect, fd.raw(), &raw const *address, size_of_val(address)) } {
        Ok(_) | Err(Errno(libc::EINPROGRESS)) => Ok(fd),
        Err(error) => Err(error),
    }
}

/// Listens on a port of 127.0.0.1 and returns the port. The kernel chooses for port 0.
pub fn listen_loopback(port: u16) -> Result<(Fd, u16)> {
    const BACKLOG: usize = 128;
    let fd = stream(libc::AF_INET)?;
    let (level, option, on) = (libc::SOL_SOCKET, libc::SO_REUSEADDR, 1i32);
    let mut address = loopback(port);
    let mut length = size_of_val(&address) as u32;
    // SAFETY: each address is as long as it says; the kernel reads one int.
    unsafe {
        syscall!(libc::SYS_setsockopt, fd.raw(), level, option, &raw const on, size_of_val(&on))?;
        syscall!(libc::SYS_bind, fd.raw(), &raw const address, size_of_val(&address))?;
        syscall!(libc::SYS_listen, fd.raw(), BACKLOG)?;
        syscall!(libc::SYS_getsockname, fd.raw(), &raw mut address, &raw mut length)?;
    }
    Ok((fd, u16::from_be(address.sin_port)))
}

/// Accepts a connection. Fails with EAGAIN if no connection waits.
pub fn accept(listener: &Fd) -> Result<Fd> {
    let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: null pointers for the address are allowed.
    let fd = unsafe { syscall!(libc::SYS_accept4, listener.raw(), 0, 0, flags) }?;
    Ok(Fd::owned(fd))
}

/// Returns the result of a connection attempt, after the socket is writable.
pub fn connected(fd: &Fd) -> Result<()> {
    let (mut error, mut length) = (0i32, 4u32);
    // SAFETY: the kernel writes one int and its length.
    unsafe {
        let option = (libc::SOL_SOCKET, libc::SO_ERROR);
        syscall!(libc::SYS_getsockopt, fd.raw(), option.0, option.1, &raw mut error, &raw mut length)
    }?;
    if error == 0 { Ok(()) } else { Err(Errno(error)) }
}

/// Shuts down the write side.
pub fn shut_write(fd: &Fd) {
    // SAFETY: no pointers.
    let _ = unsafe { syscall!(libc::SYS_shutdown, fd.raw(), libc::SHUT_WR) };
}

/// Brings up the loopback interface of this network namespace.
pub fn loopback_up() -> Result<()> {
    const SET_FLAGS: usize = 0x8914;
    const UP: u16 = 1;
    // `struct ifreq`: a name of 16 bytes, then the flags.
    let mut request = [0u8; 40];
    request[..2].copy_from_slice(b"lo");
    request[16..18].copy_from_slice(&UP.to_ne_bytes());
    let fd = stream(libc::AF_INET)?;
    // SAFETY: the kernel reads one `ifreq`.
    unsafe { syscall!(libc::SYS_ioctl, fd.raw(), SET_FLAGS, request.as_ptr()) }.map(drop)
}
