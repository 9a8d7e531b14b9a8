//! Where the services work: what they share of the guest.

use alloc::collections::BTreeMap;

use crate::fail::Fail;
use crate::listen::IncomingConnections;
use crate::orphan_timer::OrphanTimer;
use crate::outbox::Outbox;
use crate::wire::Violation;
use vivarium_sys::Fd;
use vivarium_sys::event::Epoll;
use vivarium_sys::process::{self, Cpus, Reaped};

/// Everything that a service may touch beside its own state.
pub struct Context {
    pub poll: Epoll,
    pub out: Outbox,
    /// The workspace, open only as a place to start from.
    pub workspace: Fd,
    pub null: Fd,
    pub user: User,
    /// Which channel a process belongs to.
    pub pids: BTreeMap<i32, u32>,
    pub drains: Drains,
    pub incoming: IncomingConnections,
    pub cpus: CpuShare,
    /// How long the guest has been without a host.
    pub orphan_timer: OrphanTimer,
    /// The limit on open files that commands get back.
    pub open_files: libc::rlimit,
    pub started_us: u64,
    /// Makes the names of temporary files differ.
    pub counter: u64,
}

impl Context {
    /// What channels say finds room, or nobody is there to hear it and only what is kept has work to do.
    pub fn can_work(&self) -> bool {
        self.out.has_room() || !self.out.is_open()
    }
}

/// The sandbox user, or nobody else at all.
#[derive(Clone, Copy)]
pub struct User {
    pub uid: u32,
    pub gid: u32,
    /// No isolation: everything runs as whoever started the guest.
    pub plain: bool,
}

impl User {
    /// Until the guard is dropped, files are opened with the rights of the sandbox user.
    pub fn impersonate(&self) -> vivarium_sys::Result<Impersonation> {
        if !self.plain {
            process::set_effective_ids(self.uid, self.gid, true)?;
        }
        Ok(Impersonation { back: !self.plain })
    }
}

/// The guest has the sandbox user's rights while this lives.
pub struct Impersonation {
    back: bool,
}

impl Drop for Impersonation {
    fn drop(&mut self) {
        if self.back && process::set_effective_ids(0, 0, false).is_err() {
            // Going on with the wrong rights would be worse than going.
            process::exit(70);
        }
    }
}

/// Which processors commands may see: a rotating choice of them.
pub struct CpuShare {
    pub allowed: Cpus,
    pub count: u32,
    pub next: u32,
}

impl CpuShare {
    /// The set for one more command; none if all may be used.
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

/// Output that nobody wants any more: read, so that the writer does not block, and thrown away.
#[derive(Default)]
pub struct Drains(BTreeMap<i32, Fd>);

/// Marks the tokens of drains; the rest is the descriptor.
pub const DRAIN: u64 = 1 << 63;

impl Drains {
    pub fn add(&mut self, poll: &Epoll, fd: Fd) {
        let token = DRAIN | fd.raw() as u64;
        if poll.set_token(&fd, token).is_ok() {
            self.0.insert(fd.raw(), fd);
        }
    }

    /// Throws away some of what waits in one; forgets it at its end.
    pub fn discard(&mut self, raw: i32, null: &Fd) {
        let Some(fd) = self.0.get(&raw) else { return };
        let mut scratch = [0u8; 4096];
        // A terminal cannot be spliced.
        let moved = vivarium_sys::file::splice(fd, null, 1 << 20).or_else(|error| match error.0 {
            libc::EINVAL => fd.read(&mut scratch),
            _ => Err(error),
        });
        if !matches!(moved, Ok(1..) | Err(vivarium_sys::Errno(libc::EAGAIN))) {
            self.0.remove(&raw);
        }
    }
}

/// What a service wants after a slice of work.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// To go on as soon as there is room.
    Again,
    /// To be woken by an event, credit, data or its deadline.
    Wait,
    /// END or FAIL has been sent.
    Done,
}

/// A process that the handshake lists.
pub struct Running<'a> {
    pub service: u8,
    pub pid: i32,
    pub started_ms: i64,
    /// Its name, if it is kept for the next host.
    pub kept: Option<&'a [u8]>,
}

/// An open channel. Calls come from the loop only; each does a bounded amount of work.
pub trait Service {
    fn run(&mut self, channel: u32, context: &mut Context) -> Next;

    /// Its descriptor `source` has something to tell. True if `run` should be called.
    fn wake(&mut self, _source: u8, _events: u32) -> bool {
        false
    }

    fn data(&mut self, _stream: u8, _bytes: &[u8], _place: &mut Context) -> Result<(), Violation> {
        Err(Violation)
    }

    fn eof(&mut self, _stream: u8) {}

    fn credit(&mut self, _stream: u8, _bytes: u32) {}

    /// The host has lost interest. `run` follows, and ends the channel or waits for the end.
    fn close(&mut self, context: &mut Context);

    /// The connection is gone. True if the channel outlives it.
    fn disconnected(&mut self, context: &mut Context) -> bool {
        self.close(context);
        false
    }

    /// Lets a process go on alone; true if that is possible.
    fn detach(&mut self, _channel: u32, _place: &mut Context) -> bool {
        false
    }

    fn signal(&mut self, _signal: u8, _tree: bool) {}

    fn resize(&mut self, _columns: u16, _rows: u16) {}

    fn reaped(&mut self, _child: Reaped) {}

    /// A host takes over what is kept; false if this is not.
    fn attach(&mut self, _channel: u32, _credit: u32, _place: &mut Context) -> bool {
        false
    }

    fn running(&self) -> Option<Running<'_>> {
        None
    }

    /// When `tick` is wanted, on the monotonic clock.
    fn deadline(&self) -> Option<u64> {
        None
    }

    fn tick(&mut self, _now_us: u64) {}
}

/// A service that has begun, or that had its answer at once.
pub type Opened = Result<Option<alloc::boxed::Box<dyn Service>>, Fail>;

/// The token of a channel's descriptor `source`.
pub fn token(channel: u32, source: u8) -> u64 {
    u64::from(channel) << 8 | u64::from(source)
}
