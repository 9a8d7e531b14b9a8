//! Process connector of the kernel: a netlink socket that reports every fork, exec and exit on the host.
//!
//! The kernel accepts a subscriber only in the initial user, PID and network namespaces, and only if it is built with
//! `CONFIG_PROC_EVENTS`.

use crate::{Errno, Fd, Result, event, syscall};

/// Fork, exec or exit of a process. Threads are not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEvent {
    Fork {
        parent: i32,
        child: i32,
    },
    Exec {
        pid: i32,
        at_ns: u64,
    },
    /// `status` has the format of `wait`.
    Exit {
        pid: i32,
        status: i32,
        at_ns: u64,
    },
}

/// Subscription to the process events of the host.
pub struct Connector(Fd);

/// Index and value of the connector, and its multicast group.
const PROCESSES: u32 = 1;
const LISTEN: u32 = 1;
const IGNORE: u32 = 2;

/// Offsets in a message: a netlink header of 16 bytes, a connector header of 20 bytes, the event.
const WHAT: usize = 36;
const TIMESTAMP: usize = 44;
const DATA: usize = 52;
const SHORTEST: usize = DATA + 16;

const ACKNOWLEDGED: u32 = 0;
const FORK: u32 = 1;
const EXEC: u32 = 2;
const EXIT: u32 = 0x8000_0000;

/// Time limit for the acknowledgement of a subscription.
const ANSWER_MS: u32 = 900;
/// Size of the receive buffer. It holds the events of a fork bomb of several milliseconds.
const BUFFER: i32 = 4 << 20;

impl Connector {
    /// Subscribes. Fails with ENOSYS if the kernel does not answer, which it does not outside its initial namespaces.
    pub fn subscribe() -> Result<Connector> {
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no pointers.
        let fd = unsafe { syscall!(libc::SYS_socket, libc::AF_NETLINK, kind, libc::NETLINK_CONNECTOR) }?;
        let connector = Connector(Fd::owned(fd));
        connector.bind()?;
        connector.filter()?;
        connector.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &BUFFER)?;
        connector.send(LISTEN)?;
        while event::first_readable(&[&connector.0], Some(ANSWER_MS)) == Some(true) {
            let mut message = [0; 128];
            let length = connector.receive(&mut message)?;
            if length >= SHORTEST && word(&message, WHAT) == ACKNOWLEDGED {
                return Ok(connector);
            }
        }
        Err(Errno(libc::ENOSYS))
    }

    pub fn fd(&self) -> &Fd {
        &self.0
    }

    /// Returns the next event, or none if no event waits. Fails with ENOBUFS if the kernel dropped events.
    pub fn next(&self) -> Result<Option<ProcessEvent>> {
        let mut message = [0; 128];
        loop {
            match self.receive(&mut message) {
                Ok(length) => {
                    if let Some(event) = parse(&message[..length]) {
                        return Ok(Some(event));
                    }
                }
                Err(Errno(libc::EAGAIN)) => return Ok(None),
                Err(Errno(libc::EINTR)) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn receive(&self, into: &mut [u8]) -> Result<usize> {
        // SAFETY: the kernel writes at most `into.len()` bytes; it does not write an address.
        unsafe { syscall!(libc::SYS_recvfrom, self.0.raw(), into.as_mut_ptr(), into.len(), 0, 0, 0) }
    }

    fn bind(&self) -> Result<()> {
        // `struct sockaddr_nl`: family, padding, port, groups.
        let address = [libc::AF_NETLINK as u32, 0, PROCESSES];
        // SAFETY: the address is as long as it says.
        unsafe { syscall!(libc::SYS_bind, self.0.raw(), address.as_ptr(), size_of_val(&address)) }.map(drop)
    }

    fn set<T>(&self, level: i32, option: i32, value: &T) -> Result<()> {
        let length = size_of_val(value);
        // SAFETY: the kernel reads one value.
        unsafe { syscall!(libc::SYS_setsockopt, self.0.raw(), level, option, &raw const *value, length) }.map(drop)
    }

    /// Makes the kernel drop the events of threads and all other kinds of events before it wakes this process.
    fn filter(&self) -> Result<()> {
        let program = libc::sock_fprog { len: FILTER.len() as u16, filter: FILTER.as_ptr().cast_mut() };
        self.set(libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
    }

    fn send(&self, operation: u32) -> Result<()> {
        let length = 40u32;
        // Netlink header (length, type and flags, sequence, port), connector header (index, value, sequence,
        // acknowledgement, length and flags), operation.
        let message = [length, libc::NLMSG_DONE as u32, 0, 0, PROCESSES, PROCESSES, 0, 0, 4u32.to_le(), operation];
        // SAFETY: the kernel reads `length` bytes.
        unsafe { syscall!(libc::SYS_sendto, self.0.raw(), message.as_ptr(), length, 0, 0, 0) }.map(drop)
    }
}

impl Drop for Connector {
    /// Old kernels report events to nobody until the subscriber unsubscribes.
    fn drop(&mut self) {
        let _ = self.send(IGNORE);
    }
}

fn parse(message: &[u8]) -> Option<ProcessEvent> {
    if message.len() < SHORTEST {
        return None;
    }
    let id = |offset| word(message, DATA + offset) as i32;
    let at_ns = u64::from_ne_bytes(*message[TIMESTAMP..].first_chunk()?);
    match word(message, WHAT) {
        FORK => Some(ProcessEvent::Fork { parent: id(4), child: id(12) }),
        EXEC => Some(ProcessEvent::Exec { pid: id(4), at_ns }),
        EXIT => Some(ProcessEvent::Exit { pid: id(4), status: id(8), at_ns }),
        _ => None,
    }
}

fn word(message: &[u8], offset: usize) -> u32 {
    message[offset..].first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

/// Accepts acknowledgements and execs, and forks and exits whose process id equals the thread group id.
static FILTER: [libc::sock_filter; 15] = [
    load(WHAT),
    jump_if(ACKNOWLEDGED, 11, 0),
    jump_if(EXEC, 10, 0),
    jump_if(FORK, 5, 0),
    jump_if(EXIT, 0, 9),
    load(DATA),
    step(libc::BPF_MISC | libc::BPF_TAX, 0, 0, 0),
    load(DATA + 4),
    step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_X, 4, 5, 0),
    load(DATA + 8),
    step(libc::BPF_MISC | libc::BPF_TAX, 0, 0, 0),
    load(DATA + 12),
    step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_X, 0, 1, 0),
    step(libc::BPF_RET | libc::BPF_K, 0, 0, u32::MAX),
    step(libc::BPF_RET | libc::BPF_K, 0, 0, 0),
];

const fn step(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

const fn load(offset: usize) -> libc::sock_filter {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset as u32)
}

/// A load converts from network byte order, so the constant is converted too.
const fn jump_if(value: u32, jt: u8, jf: u8) -> libc::sock_filter {
    step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, jt, jf, value.to_be())
}
