//! Connections to what listens inside the sandbox, and from what connects out of it.

use alloc::boxed::Box;

use crate::fail::{Code, Fail};
use crate::files::acting_fail;
use crate::place::{Next, Opened, Place, Service, token};
use crate::streams::{Got, Inbound, Outbound};
use crate::sys::{self, Errno, Fd, now_us, socket};
use crate::wire::{Violation, kind};

const SLICE: usize = 256 * 1024;
/// How long a listener may leave an attempt without an answer, as one does whose backlog is full.
const PATIENCE_US: u64 = 5_000_000;
const INTEREST: i32 = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP;

/// A connection, from the first attempt to the end of both directions.
pub struct Dialled {
    socket: Fd,
    /// The port to try on `::1` when nothing listens on 127.0.0.1.
    second: Option<u16>,
    connected: bool,
    /// The kernel has said something about the attempt.
    woken: bool,
    /// When the attempt is given up, on the monotonic clock.
    give_up_us: u64,
    given_up: bool,
    input: Inbound,
    /// We have said that nothing more will come.
    shut: bool,
    output: Outbound,
    output_ended: bool,
    closed: bool,
}

pub fn open(channel: u32, credit: u32, to: (u8, u16, &[u8]), place: &mut Place) -> Opened {
    let acting = place.user.act().map_err(acting_fail)?;
    let socket = match to {
        (1, port, _) if port > 0 => {
            socket::connect_loopback(port).or_else(|error| socket::connect_loopback6(port).map_err(|_| error))
        }
        (2, _, path) if path.first() == Some(&b'/') => socket::connect_unix(path),
        _ => return Err(Fail::new(Code::Invalid, "neither a port nor an absolute path")),
    };
    drop(acting);
    let socket = socket.map_err(refused)?;
    place.poll.add(&socket, token(channel, 0), INTEREST).map_err(|error| Fail::of(error, "cannot wait for it"))?;
    Ok(Some(Box::new(Dialled {
        socket,
        second: (to.0 == 1).then_some(to.1),
        connected: false,
        woken: false,
        give_up_us: now_us().saturating_add(PATIENCE_US),
        given_up: false,
        input: Inbound::default(),
        shut: false,
        output: Outbound::new(1, credit, 0),
        output_ended: false,
        closed: false,
    })))
}

/// The other way round: a connection that came from inside and stands.
pub fn accepted(channel: u32, credit: u32, socket: Fd, place: &Place) -> sys::Result<Box<dyn Service>> {
    place.poll.add(&socket, token(channel, 0), INTEREST)?;
    Ok(Box::new(Dialled {
        socket,
        second: None,
        connected: true,
        woken: true,
        give_up_us: 0,
        given_up: false,
        input: Inbound::default(),
        shut: false,
        output: Outbound::new(1, credit, 0),
        output_ended: false,
        closed: false,
    }))
}

fn refused(error: Errno) -> Fail {
    match error.0 {
        // A full backlog of a unix socket.
        libc::EAGAIN => Fail { errno: error.0, ..Fail::new(Code::Refused, "the listener is busy") },
        libc::ETIMEDOUT => Fail { errno: error.0, ..Fail::new(Code::Refused, "the listener does not answer") },
        libc::EPROTOTYPE => Fail { errno: error.0, ..Fail::new(Code::Refused, "not a stream socket") },
        _ => Fail::of(error, "cannot connect"),
    }
}

impl Dialled {
    fn exchange(&mut self, channel: u32, place: &mut Place) {
        self.input.pump(Some(&self.socket));
        if self.input.is_done() && !self.shut {
            self.shut = true;
            socket::shut_write(&self.socket);
        }
        self.input.repay(channel, &mut place.out);
        let mut budget = SLICE;
        while !self.output_ended && self.output.is_runnable() && budget > 0 && place.out.has_room() {
            match self.output.read(&self.socket, false, channel, &mut place.out) {
                Ok(Got::Bytes(count)) => budget = budget.saturating_sub(count),
                Ok(Got::Nothing) => {}
                Ok(Got::End) | Err(_) => {
                    self.output_ended = true;
                    place.out.frames.begin(channel, kind::EOF).u8(1).end();
                }
            }
        }
    }

    /// Begins the second attempt, if there is one to make.
    fn try_second(&mut self, channel: u32, place: &mut Place) -> bool {
        let (Some(port), Ok(acting)) = (self.second.take(), place.user.act()) else {
            return false;
        };
        let begun = socket::connect_loopback6(port);
        drop(acting);
        let Ok(socket) = begun else {
            return false;
        };
        self.woken = false;
        self.socket = socket;
        place.poll.add(&self.socket, token(channel, 0), INTEREST).is_ok()
    }

    fn is_over(&self) -> bool {
        self.closed || (self.output_ended && (self.input.is_done() || self.input.is_broken()))
    }
}

impl Service for Dialled {
    fn run(&mut self, channel: u32, place: &mut Place) -> Next {
        if !self.connected && !self.closed {
            if self.given_up {
                refused(Errno(libc::ETIMEDOUT)).send(channel, &mut place.out.frames);
                return Next::Done;
            }
            if !self.woken {
                return Next::Wait;
            }
            if let Err(error) = socket::connected(&self.socket) {
                if self.try_second(channel, place) {
                    return Next::Wait;
                }
                refused(error).send(channel, &mut place.out.frames);
                return Next::Done;
            }
            self.connected = true;
            place.out.frames.begin(channel, kind::STARTED).end();
        }
        if !self.closed {
            self.exchange(channel, place);
        }
        if self.is_over() {
            place.out.frames.begin(channel, kind::END).end();
            return Next::Done;
        }
        if !self.output_ended && self.output.is_runnable() { Next::Again } else { Next::Wait }
    }

    fn wake(&mut self, _source: u8, events: u32) -> bool {
        self.woken = true;
        self.output.wake(events);
        true
    }

    fn data(&mut self, stream: u8, bytes: &[u8], _place: &mut Place) -> Result<(), Violation> {
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

    fn close(&mut self, _place: &mut Place) {
        self.closed = true;
    }

    fn deadline(&self) -> Option<u64> {
        (!self.connected && !self.closed && !self.given_up).then_some(self.give_up_us)
    }

    fn tick(&mut self, now_us: u64) {
        self.given_up = now_us >= self.give_up_us;
    }
}
