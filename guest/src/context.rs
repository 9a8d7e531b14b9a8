//! State that services share, and the interface of a service.

use alloc::collections::BTreeMap;

use crate::fail::Fail;
use crate::listen::IncomingConnections;
use crate::orphan_timer::OrphanTimer;
use crate::outbox::Outbox;
use crate::wire::Violation;
use vivarium_sys::Fd;
use vivarium_sys::event::Epoll;
use vivarium_sys::process::{self, Cpus, Reaped};

/// Shared state of the guest that a service may use.
pub struct Context {
    pub poll: Epoll,
    pub out: Outbox,
    /// The workspace, opened with `O_PATH`.
    pub workspace: Fd,
    pub null: Fd,
    pub user: User,
    /// Channel of each process.
    pub pids: BTreeMap<i32, u32>,
    pub drains: Drains,
    pub incoming: IncomingConnections,
    pub cpus: CpuShare,
    /// Time without a host.
    pub orphan_timer: OrphanTimer,
    /// Limit of open files for commands.
    pub open_files: libc::rlimit,
    pub started_us: u64,
    /// Counter for the names of temporary files.
    pub counter: u64,
}

impl Context {
    /// Reports whether channels may run: the send queue has room, or only kept processes run without a connection.
    pub fn can_work(&self) -> bool {
        self.out.has_room() || !self.out.is_open()
    }
}

/// User that runs commands and accesses files.
#[derive(Clone, Copy)]
pub struct User {
    pub uid: u32,
    pub gid: u32,
    /// No isolation: everything runs as the user that started the guest.
    pub plain: bool,
}

impl User {
    /// Switches file access to the sandbox user until the guard is dropped.
    pub fn impersonate(&self) -> vivarium_sys::Result<Impersonation> {
        if !self.plain {
            process::set_effective_ids(self.uid, self.gid, true)?;
        }
        Ok(Impersonation { back: !self.plain })
    }
}

/// Guard that switches back to the user of the guest.
pub struct Impersonation {
    back: bool,
}

impl Drop for Impersonation {
    fn drop(&mut self) {
        if self.back && process::set_effective_ids(0, 0, false).is_err() {
            // The guest must not continue with the wrong user.
            process::exit(70);
        }
    }
}

/// Round-robin choice of the processors for commands.
pub struct CpuShare {
    pub allowed: Cpus,
    pub count: u32,
    pub next: u32,
}

impl CpuShare {
    /// Returns the set for the next command; none if it may use all.
    pub fn take(&mut self) -> Option<Cpus> {
        let total: u32 = self.allowed.iter().map(|word| word.count_ones()).sum();
        if self.count == 0 || self.count >= total {
            return None;
        }
        let mut chosen: Cpus = [0; 16];
        let bits = (0..1024).filter(|bit| self.allowed[bit / 64] >> (bit % 64) & 1 == 1).enumerate();
        for (index, bit) in bits {
            if (index as u32 + total - self.next % total) % total < self.count {
                chosen[bit / 64] |= 1 << (bit % 64);
            }
        }
        self.next = (self.next + self.count) % total;
        Some(chosen)
    }
}

/// Output streams without a reader. The guest discards their data so that the writers do not block.
#[derive(Default)]
pub struct Drains(BTreeMap<i32, Fd>);

/// Flag in the epoll token of a drain. The other bits are the descriptor.
pub const DRAIN: u64 = 1 << 63;

impl Drains {
    pub fn add(&mut self, poll: &Epoll, fd: Fd) {
        let token = DRAIN | fd.raw() as u64;
        if poll.set_token(&fd, token).is_ok() {
            self.0.insert(fd.raw(), fd);
        }
    }

    /// Discards pending data of one stream. Removes the stream at its end.
    pub fn discard(&mut self, raw: i32, null: &Fd) {
        let Some(fd) = self.0.get(&raw) else { return };
        let mut scratch = [0u8; 4096];
        // Terminals do not support splice.
        let moved = vivarium_sys::file::splice(fd, null, 1 << 20).or_else(|error| match error.0 {
            libc::EINVAL => fd.read(&mut scratch),
            _ => Err(error),
        });
        if !matches!(moved, Ok(1..) | Err(vivarium_sys::Errno(libc::EAGAIN))) {
            self.0.remove(&raw);
        }
    }
}

/// Request of a service after one slice of work.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Call `run` again when the send queue has room.
    Again,
    /// Call `run` after an event, credit, data or the deadline.
    Wait,
    /// The service has sent END or FAIL.
    Done,
}

/// Process in the list of the handshake.
pub struct Running<'a> {
    pub service: u8,
    pub pid: i32,
    pub started_ms: i64,
    /// Name of a process that is kept for the next host.
    pub kept: Option<&'a [u8]>,
}

/// Service of an open channel. The loop calls it; each call does a bounded amount of work.
pub trait Service {
    fn run(&mut self, channel: u32, context: &mut Context) -> Next;

    /// Records an event of descriptor `source`. Returns true if the loop should call `run`.
    fn wake(&mut self, _source: u8, _events: u32) -> bool {
        false
    }

    fn data(&mut self, _stream: u8, _bytes: &[u8], _place: &mut Context) -> Result<(), Violation> {
        Err(Violation)
    }

    fn eof(&mut self, _stream: u8) {}

    fn credit(&mut self, _stream: u8, _bytes: u32) {}

    /// Handles CLOSE from the host. The loop then calls `run`, which ends the channel or waits for its end.
    fn close(&mut self, context: &mut Context);

    /// Handles the end of the connection. Returns true if the channel stays open.
    fn disconnected(&mut self, context: &mut Context) -> bool {
        self.close(context);
        false
    }

    /// Detaches a process from the channel. Returns true on success.
    fn detach(&mut self, _channel: u32, _place: &mut Context) -> bool {
        false
    }

    fn signal(&mut self, _signal: u8, _tree: bool) {}

    fn resize(&mut self, _columns: u16, _rows: u16) {}

    fn reaped(&mut self, _child: Reaped) {}

    /// Attaches a host to a kept process. Returns false if the process is not kept.
    fn attach(&mut self, _channel: u32, _credit: u32, _place: &mut Context) -> bool {
        false
    }

    fn running(&self) -> Option<Running<'_>> {
        None
    }

    /// Time of the next `tick` on the monotonic clock.
    fn deadline(&self) -> Option<u64> {
        None
    }

    fn tick(&mut self, _now_us: u64) {}
}

/// Result of OPEN: a running service, none if the reply is already queued, or a failure.
pub type Opened = Result<Option<alloc::boxed::Box<dyn Service>>, Fail>;

/// Epoll token for descriptor `source` of a channel.
pub fn token(channel: u32, source: u8) -> u64 {
    u64::from(channel) << 8 | u64::from(source)
}
