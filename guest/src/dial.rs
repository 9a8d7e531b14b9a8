//! TCP and unix connections between host and programs in the sandbox, in both directions.

use alloc::boxed::Box;

use crate::context::{Context, Next, Opened, Service, token};
use crate::fail::{Code, Fail};
use crate::files::impersonation_failure;
use crate::streams::{Inbound, Outbound, ReadResult};
use crate::wire::{Violation, kind};
use vivarium_sys::{Errno, Fd, now_us, socket};

const SLICE: usize = 256 * 1024;
/// Timeout of a connection attempt. A listener with a full backlog does not answer.
const CONNECT_TIMEOUT_US: u64 = 5_000_000;
/// How long a reset connection waits for credit. Then its unread bytes are lost.
const RESET_GRACE_US: u64 = 5_000_000;
const INTEREST: i32 = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP;

/// Connection from the first attempt to the end of both directions.
pub struct Dialed {
    socket: Fd,
    /// Port to try on `::1` if nothing listens on 127.0.0.1.
    ipv6_port: Option<u16>,
    connected: bool,
    /// The attempt has a result.
    ready: bool,
    /// Deadline of the attempt, or of a reset connection without credit, on the monotonic clock.
    deadline_us: Option<u64>,
    timed_out: bool,
    input: Inbound,
    /// The guest has shut down its write side.
    shut: bool,
    output: Outbound,
    output_ended: bool,
    /// Events of the socket that cannot be undone: `EPOLLERR` and `EPOLLHUP`.
    hang_up: u32,
    closed: bool,
}

pub fn open(channel: u32, credit: u32, to: (u8, u16, &[u8]), context: &mut Context) -> Opened {
    let impersonation = context.user.impersonate().map_err(impersonation_failure)?;
    let socket = match to {
        (1, port, _) if port > 0 => {
            socket::connect_loopback(port).or_else(|error| socket::connect_loopback6(port).map_err(|_| error))
        }
        (2, _, path) if path.first() == Some(&b'/') => socket::connect_unix(path),
        _ => return Err(Fail::new(Code::Invalid, "the target is neither a port nor an absolute path")),
    };
    drop(impersonation);
    let socket = socket.map_err(connect_failure)?;
    context
        .poll
        .add(&socket, token(channel, 0), INTEREST)
        .map_err(|error| Fail::of(error, "cannot poll the connection"))?;
    Ok(Some(Box::new(Dialed {
        socket,
        ipv6_port: (to.0 == 1).then_some(to.1),
        connected: false,
        ready: false,
        deadline_us: Some(now_us().saturating_add(CONNECT_TIMEOUT_US)),
        timed_out: false,
        input: Inbound::default(),
        shut: false,
        output: Outbound::new(1, credit, 0),
        output_ended: false,
        hang_up: 0,
        closed: false,
    })))
}

/// Service for an established connection from inside the sandbox.
pub fn accepted(channel: u32, credit: u32, socket: Fd, context: &Context) -> vivarium_sys::Result<Box<dyn Service>> {
    context.poll.add(&socket, token(channel, 0), INTEREST)?;
    Ok(Box::new(Dialed {
        socket,
        ipv6_port: None,
        connected: true,
        ready: true,
        deadline_us: None,
        timed_out: false,
        input: Inbound::default(),
        shut: false,
        output: Outbound::new(1, credit, 0),
        output_ended: false,
        hang_up: 0,
        closed: false,
    }))
}

fn connect_failure(error: Errno) -> Fail {
    match error.0 {
        // The backlog of a unix socket is full.
        libc::EAGAIN => Fail { errno: error.0, ..Fail::new(Code::Refused, "the listener is busy") },
        libc::ETIMEDOUT => Fail { errno: error.0, ..Fail::new(Code::Refused, "the listener does not respond") },
        libc::EPROTOTYPE => Fail { errno: error.0, ..Fail::new(Code::Refused, "not a stream socket") },
        _ => Fail::of(error, "cannot connect"),
    }
}

impl Dialed {
    fn exchange(&mut self, channel: u32, context: &mut Context) {
        self.input.pump(Some(&self.socket));
        if self.input.is_done() && !self.shut {
            self.shut = true;
            socket::shut_write(&self.socket);
        }
        self.input.return_credit(channel, &mut context.out);
        let mut budget = SLICE;
        while !self.output_ended && self.output.is_runnable() && budget > 0 && context.out.has_room() {
            match self.output.read(&self.socket, false, channel, &mut context.out) {
                Ok(ReadResult::Bytes(count)) => budget = budget.saturating_sub(count),
                Ok(ReadResult::WouldBlock) => {}
                Ok(ReadResult::End) | Err(_) => {
                    self.output_ended = true;
                    context.out.frames.begin(channel, kind::EOF).u8(1).end();
                }
            }
        }
    }

    /// Starts the attempt on `::1`, if any.
    fn try_ipv6(&mut self, channel: u32, context: &mut Context) -> bool {
        let (Some(port), Ok(impersonation)) = (self.ipv6_port.take(), context.user.impersonate()) else {
            return false;
        };
        let begun = socket::connect_loopback6(port);
        drop(impersonation);
        let Ok(socket) = begun else {
            return false;
        };
        self.ready = false;
        self.socket = socket;
        context.poll.add(&self.socket, token(channel, 0), INTEREST).is_ok()
    }

    fn is_over(&self) -> bool {
        self.closed || self.timed_out || (self.output_ended && (self.input.is_done() || self.input.is_broken()))
    }

    /// Reports whether the program has gone. Its last bytes may still be unread.
    fn is_reset(&self) -> bool {
        let has = |event: i32| self.hang_up & event as u32 != 0;
        has(libc::EPOLLERR) || (has(libc::EPOLLHUP) && self.input.is_broken())
    }

    /// Limits the time without credit after a reset. The read of the end needs credit, and the host may give none: it
    /// may wait for a peer that does not read.
    fn limit_reset(&mut self) {
        if self.output_ended || self.output.credit > 0 || !self.is_reset() {
            self.deadline_us = None;
        } else if self.deadline_us.is_none() {
            self.deadline_us = Some(now_us().saturating_add(RESET_GRACE_US));
        }
    }
}

impl Service for Dialed {
    fn run(&mut self, channel: u32, context: &mut Context) -> Next {
        if !self.connected && !self.closed {
            if self.timed_out {
                connect_failure(Errno(libc::ETIMEDOUT)).send(channel, &mut context.out.frames);
                return Next::Done;
            }
            if !self.ready {
                return Next::Wait;
            }
            if let Err(error) = socket::connected(&self.socket) {
                if self.try_ipv6(channel, context) {
                    return Next::Wait;
                }
                connect_failure(error).send(channel, &mut context.out.frames);
                return Next::Done;
            }
            self.connected = true;
            self.deadline_us = None;
            context.out.frames.begin(channel, kind::STARTED).end();
        }
        if !self.closed {
            self.exchange(channel, context);
            self.limit_reset();
        }
        if self.is_over() {
            context.out.frames.begin(channel, kind::END).end();
            return Next::Done;
        }
        if !self.output_ended && self.output.is_runnable() { Next::Again } else { Next::Wait }
    }

    fn wake(&mut self, _source: u8, events: u32) -> bool {
        self.ready = true;
        self.hang_up |= events & (libc::EPOLLERR | libc::EPOLLHUP) as u32;
        self.output.wake(events);
        true
    }

    fn data(&mut self, stream: u8, bytes: &[u8], _place: &mut Context) -> Result<(), Violation> {
        if stream != 0 {
            return Err(Violation);
        }
        self.input.push(Some(&self.socket), bytes)
    }

    fn eof(&mut self, stream: u8) {
        if stream == 0 {
            self.input.end();
        }
    }

    fn credit(&mut self, stream: u8, bytes: u32) {
        if stream == 1 {
            self.output.credit = self.output.credit.saturating_add(bytes.into());
        }
    }

    fn close(&mut self, _place: &mut Context) {
        self.closed = true;
    }

    fn deadline(&self) -> Option<u64> {
        if self.closed || self.timed_out { None } else { self.deadline_us }
    }

    fn tick(&mut self, now_us: u64) {
        self.timed_out = self.deadline_us.is_some_and(|deadline| now_us >= deadline);
    }
}
