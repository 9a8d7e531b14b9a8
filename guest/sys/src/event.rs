//! Events and time: epoll, signalfd, inotify, clocks.

use alloc::vec::Vec;

use crate::{Fd, Result, syscall};

/// Epoll instance.
pub struct Epoll(Fd);

/// Event of epoll.
pub type Event = libc::epoll_event;

impl Epoll {
    pub fn new() -> Result<Epoll> {
        // SAFETY: no pointers.
        let fd = unsafe { syscall!(libc::SYS_epoll_create1, libc::EPOLL_CLOEXEC) }?;
        Ok(Epoll(Fd::owned(fd)))
    }

    /// Adds a descriptor, edge-triggered. The owner must remember readiness.
    pub fn add(&self, fd: &Fd, token: u64, interest: i32) -> Result<()> {
        let event = Event { events: (interest | libc::EPOLLET) as u32, u64: token };
        // SAFETY: `event` outlives the call.
        unsafe { syscall!(libc::SYS_epoll_ctl, self.0.raw(), libc::EPOLL_CTL_ADD, fd.raw(), &raw const event) }?;
        Ok(())
    }

    /// Gives a descriptor another token and makes it level-triggered for reading.
    pub fn set_token(&self, fd: &Fd, token: u64) -> Result<()> {
        let event = Event { events: libc::EPOLLIN as u32, u64: token };
        // SAFETY: `event` outlives the call.
        unsafe { syscall!(libc::SYS_epoll_ctl, self.0.raw(), libc::EPOLL_CTL_MOD, fd.raw(), &raw const event) }?;
        Ok(())
    }

    /// Changes the interest of a descriptor. With an empty interest epoll reports only errors and hangup.
    pub fn modify(&self, fd: &Fd, token: u64, interest: i32) -> Result<()> {
        let event = Event { events: (interest | libc::EPOLLET) as u32, u64: token };
        // SAFETY: `event` outlives the call.
        unsafe { syscall!(libc::SYS_epoll_ctl, self.0.raw(), libc::EPOLL_CTL_MOD, fd.raw(), &raw const event) }?;
        Ok(())
    }

    /// Waits up to `timeout_us`; none means no timeout. Returns 0 if a signal interrupts the wait.
    pub fn wait(&self, events: &mut [Event], timeout_us: Option<u64>) -> usize {
        match timeout_us {
            // Without epoll_pwait2 the timeout has millisecond resolution.
            Some(us @ 1..1000) => self.wait_briefly(events, us).unwrap_or_else(|_| self.wait_ms(events, 1)),
            Some(us) => self.wait_ms(events, us.div_ceil(1000).min(60_000) as i32),
            None => self.wait_ms(events, -1),
        }
    }

    fn wait_briefly(&self, events: &mut [Event], us: u64) -> Result<usize> {
        let time = [0, us as i64 * 1000];
        // SAFETY: the kernel writes at most `events.len()` events; a timespec is two words.
        unsafe {
            syscall!(libc::SYS_epoll_pwait2, self.0.raw(), events.as_mut_ptr(), events.len(), time.as_ptr(), 0, 8)
        }
    }

    fn wait_ms(&self, events: &mut [Event], timeout_ms: i32) -> usize {
        // SAFETY: the kernel writes at most `events.len()` events.
        unsafe {
            syscall!(libc::SYS_epoll_pwait, self.0.raw(), events.as_mut_ptr(), events.len(), timeout_ms as isize, 0, 8)
        }
        .unwrap_or(0)
    }
}

/// Blocks all signals. Returns a descriptor that reports SIGCHLD and SIGTERM.
pub fn signals() -> Result<Fd> {
    let all = u64::MAX;
    let wanted: u64 = 1 << (libc::SIGCHLD - 1) | 1 << (libc::SIGTERM - 1);
    // SAFETY: both masks are 8 bytes, as the last argument says.
    let fd = unsafe {
        syscall!(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const all, 0, 8)?;
        syscall!(libc::SYS_signalfd4, -1isize, &raw const wanted, 8, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)?
    };
    Ok(Fd::owned(fd))
}

/// Reads the pending signals, bit n for signal n. One read is enough for two kinds of signals.
pub fn pending_signals(fd: &Fd) -> u64 {
    const RECORD: usize = 128;
    let mut records = [0u8; 4 * RECORD];
    let length = fd.read(&mut records).unwrap_or(0);
    let numbers = records[..length].chunks_exact(RECORD).filter_map(|record| record.first_chunk());
    numbers.fold(0, |signals, number| signals | 1 << (u32::from_ne_bytes(*number) & 63))
}

pub fn inotify() -> Result<Fd> {
    // SAFETY: no pointers.
    let fd = unsafe { syscall!(libc::SYS_inotify_init1, libc::IN_CLOEXEC | libc::IN_NONBLOCK) }?;
    Ok(Fd::owned(fd))
}

/// Watches the current directory. A path instead of `.` could be a symbolic link, which inotify follows.
pub fn watch_here(inotify: &Fd, mask: u32) -> Result<i32> {
    // SAFETY: the path is a constant C string.
    let wd = unsafe { syscall!(libc::SYS_inotify_add_watch, inotify.raw(), c".".as_ptr(), mask) }?;
    Ok(wd as i32)
}

pub fn unwatch(inotify: &Fd, watch: i32) {
    // SAFETY: no pointers.
    let _ = unsafe { syscall!(libc::SYS_inotify_rm_watch, inotify.raw(), watch) };
}

fn clock(which: i32) -> (i64, i64) {
    let mut time = [0i64; 2];
    // SAFETY: a timespec is two 64-bit words on both architectures.
    let _ = unsafe { syscall!(libc::SYS_clock_gettime, which, time.as_mut_ptr()) };
    (time[0], time[1])
}

/// Microseconds on the monotonic clock.
pub fn now_us() -> u64 {
    let (seconds, nanos) = clock(libc::CLOCK_MONOTONIC);
    seconds as u64 * 1_000_000 + nanos as u64 / 1000
}

/// Milliseconds since 1970.
pub fn now_unix_ms() -> i64 {
    let (seconds, nanos) = clock(libc::CLOCK_REALTIME);
    seconds * 1000 + nanos / 1_000_000
}

pub fn sleep_ms(milliseconds: u32) {
    let time = [i64::from(milliseconds / 1000), i64::from(milliseconds % 1000) * 1_000_000];
    // SAFETY: a timespec is two 64-bit words.
    let _ = unsafe { syscall!(libc::SYS_nanosleep, time.as_ptr(), 0) };
}

/// Waits until a descriptor is readable or hung up. Reports whether the first descriptor is among them; none after the
/// timeout.
pub fn first_readable(fds: &[&Fd], milliseconds: Option<u32>) -> Option<bool> {
    let awaited = |fd: &&Fd| libc::pollfd { fd: fd.raw(), events: libc::POLLIN, revents: 0 };
    let mut awaited: Vec<libc::pollfd> = fds.iter().map(awaited).collect();
    let time = milliseconds.map(|milliseconds| [0i64, i64::from(milliseconds) * 1_000_000]);
    let time = time.as_ref().map_or(core::ptr::null(), |time| time.as_ptr());
    // SAFETY: the kernel reads and writes as many as it is told; a timespec is two 64-bit words, or none.
    let ready = unsafe { syscall!(libc::SYS_ppoll, awaited.as_mut_ptr(), awaited.len(), time, 0, 0) };
    // After an error the caller blocks in its read of the first descriptor.
    (ready != Ok(0)).then(|| ready.is_err() || awaited.first().is_some_and(|first| first.revents != 0))
}
