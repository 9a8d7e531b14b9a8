//! Connections that programs inside make outwards: they end at a listener on the loopback, and the host takes them on.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::dial;
use crate::fail::{Code, Fail};
use crate::files::acting_fail;
use crate::guest::Guest;
use crate::place::{Next, Opened, Place, Service, token};
use crate::sys::{Errno, Fd, socket};
use crate::wire::kind;

/// Half of all channels: the host must still find some for its own.
const MOST: u16 = 512;
/// Accepted in one slice.
const SLICE: usize = 16;
/// Numbers of the channels that we open.
pub const OURS: u32 = 1 << 31;

/// What has come to the listener, and how much of it is still there.
#[derive(Default)]
pub struct Arrivals {
    /// The channel of the listener, if there is one.
    listener: Option<u32>,
    credit: u32,
    fresh: Vec<Fd>,
    open: usize,
    /// The number that the last one got.
    last: u32,
}

impl Arrivals {
    pub fn any(&self) -> bool {
        !self.fresh.is_empty()
    }
}

struct Listener {
    /// None once it is closed: its port is free at once, so that the next one can have it.
    socket: Option<Fd>,
    most: usize,
    /// Somebody may be waiting.
    ready: bool,
}

pub fn open(channel: u32, credit: u32, (port, most): (u16, u16), place: &mut Place) -> Opened {
    if most == 0 || most > MOST {
        return Err(Fail::new(Code::Invalid, "between 1 and 512 connections at a time"));
    }
    if place.arrivals.listener.is_some() {
        return Err(Fail::new(Code::Exists, "there is a listener already"));
    }
    let acting = place.user.act().map_err(acting_fail)?;
    let listening = socket::listen_loopback(port);
    drop(acting);
    let (socket, port) = listening.map_err(taken)?;
    place
        .poll
        .add(&socket, token(channel, 0), libc::EPOLLIN)
        .map_err(|error| Fail::of(error, "cannot wait for connections"))?;
    place.arrivals.listener = Some(channel);
    place.arrivals.credit = credit;
    place.out.frames.begin(channel, kind::STARTED).u16(port).end();
    Ok(Some(Box::new(Listener { socket: Some(socket), most: most.into(), ready: true })))
}

fn taken(error: Errno) -> Fail {
    match error.0 {
        libc::EADDRINUSE => Fail { errno: error.0, ..Fail::new(Code::Exists, "the port is taken") },
        _ => Fail::of(error, "cannot listen"),
    }
}

impl Service for Listener {
    fn run(&mut self, channel: u32, place: &mut Place) -> Next {
        let Some(socket) = &self.socket else {
            place.out.frames.begin(channel, kind::END).end();
            return Next::Done;
        };
        for _ in 0..SLICE {
            let arrivals = &mut place.arrivals;
            if !self.ready || arrivals.open + arrivals.fresh.len() >= self.most {
                // Who finds no room waits in the kernel, until one of the others has gone.
                return Next::Wait;
            }
            match socket::accept(socket) {
                Ok(connection) => arrivals.fresh.push(connection),
                Err(Errno(libc::EINTR | libc::ECONNABORTED)) => {}
                Err(Errno(libc::EAGAIN)) => self.ready = false,
                // No descriptor, no memory: perhaps when one has gone.
                Err(_) => return Next::Wait,
            }
        }
        Next::Again
    }

    fn wake(&mut self, _source: u8, _events: u32) -> bool {
        self.ready = true;
        true
    }

    fn close(&mut self, place: &mut Place) {
        if self.socket.take().is_some() {
            place.arrivals.listener = None;
            place.arrivals.fresh.clear();
        }
    }
}

/// Makes channels of the connections that have come.
pub fn admit(guest: &mut Guest) {
    let Some(listener) = guest.place.arrivals.listener else { return };
    for socket in core::mem::take(&mut guest.place.arrivals.fresh) {
        let number = free_number(guest);
        let credit = guest.place.arrivals.credit;
        if let Ok(connection) = dial::accepted(number, credit, socket, &guest.place) {
            guest.place.out.frames.begin(number, kind::ARRIVED).u32(listener).end();
            guest.place.arrivals.open += 1;
            guest.insert(number, connection);
        }
    }
}

fn free_number(guest: &mut Guest) -> u32 {
    let mut number = guest.place.arrivals.last;
    loop {
        number = OURS | number.wrapping_add(1);
        if !guest.channels.contains_key(&number) {
            guest.place.arrivals.last = number;
            return number;
        }
    }
}

/// A channel has ended: if it was one of ours, its place is free for another.
pub fn left(guest: &mut Guest, number: u32) {
    let arrivals = &mut guest.place.arrivals;
    if number & OURS != 0 {
        arrivals.open -= 1;
        if let Some(listener) = arrivals.listener {
            guest.enqueue(listener);
        }
    }
}
