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

/// Listeners at a time: the way out, the way to the server, and some to come.
const LISTENERS: usize = 4;
/// Half of all channels for one, three quarters for all together: the host must still find some for its own.
const MOST: usize = 512;
const MOST_OF_ALL: usize = 768;
/// Accepted in one slice.
const SLICE: usize = 16;
/// Numbers of the channels that we open. The two bits below say at which place they arrived.
pub const OURS: u32 = 1 << 31;
const PLACE_SHIFT: u32 = 29;
const COUNT: u32 = (1 << PLACE_SHIFT) - 1;

/// What has come to the listeners, and how much of it is still there.
#[derive(Default)]
pub struct Arrivals {
    places: [Arrival; LISTENERS],
    /// How many have been accepted and have no channel yet.
    fresh: usize,
}

/// The place of one listener. Connections may stay when it has gone, and count for the next one that has the place.
#[derive(Default)]
struct Arrival {
    /// The channel of the listener, if there is one.
    listener: Option<u32>,
    most: usize,
    credit: u32,
    fresh: Vec<Fd>,
    open: usize,
    /// The number that the last one got.
    last: u32,
}

impl Arrivals {
    pub fn any(&self) -> bool {
        self.fresh > 0
    }

    /// A place for a listener of so many connections.
    fn free_place(&self, most: usize) -> Result<usize, Fail> {
        let promised: usize = self.places.iter().filter(|p| p.listener.is_some()).map(|p| p.most).sum();
        if promised + most > MOST_OF_ALL {
            return Err(Fail::new(Code::Invalid, "no more than 768 connections at a time for all listeners"));
        }
        self.places
            .iter()
            .position(|place| place.listener.is_none())
            .ok_or(Fail::new(Code::Exists, "there are as many listeners as there can be"))
    }
}

struct Listener {
    /// None once it is closed: its port is free at once, so that the next one can have it.
    socket: Option<Fd>,
    place: usize,
    /// Somebody may be waiting.
    ready: bool,
}

pub fn open(channel: u32, credit: u32, (port, most): (u16, u16), place: &mut Place) -> Opened {
    if most == 0 || usize::from(most) > MOST {
        return Err(Fail::new(Code::Invalid, "between 1 and 512 connections at a time"));
    }
    let at = place.arrivals.free_place(most.into())?;
    let acting = place.user.act().map_err(acting_fail)?;
    let listening = socket::listen_loopback(port);
    drop(acting);
    let (socket, port) = listening.map_err(taken)?;
    place
        .poll
        .add(&socket, token(channel, 0), libc::EPOLLIN)
        .map_err(|error| Fail::of(error, "cannot wait for connections"))?;
    let arrival = &mut place.arrivals.places[at];
    arrival.listener = Some(channel);
    arrival.most = most.into();
    arrival.credit = credit;
    place.out.frames.begin(channel, kind::STARTED).u16(port).end();
    Ok(Some(Box::new(Listener { socket: Some(socket), place: at, ready: true })))
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
            let arrival = &mut place.arrivals.places[self.place];
            if !self.ready || arrival.open + arrival.fresh.len() >= arrival.most {
                // Who finds no room waits in the kernel, until one of the others has gone.
                return Next::Wait;
            }
            match socket::accept(socket) {
                Ok(connection) => {
                    arrival.fresh.push(connection);
                    place.arrivals.fresh += 1;
                }
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
            let arrival = &mut place.arrivals.places[self.place];
            arrival.listener = None;
            let unseen = core::mem::take(&mut arrival.fresh).len();
            place.arrivals.fresh -= unseen;
        }
    }
}

/// Makes channels of the connections that have come.
pub fn admit(guest: &mut Guest) {
    guest.place.arrivals.fresh = 0;
    for at in 0..LISTENERS {
        let arrival = &mut guest.place.arrivals.places[at];
        let (Some(listener), credit) = (arrival.listener, arrival.credit) else { continue };
        for socket in core::mem::take(&mut arrival.fresh) {
            let number = free_number(guest, at);
            if let Ok(connection) = dial::accepted(number, credit, socket, &guest.place) {
                guest.place.out.frames.begin(number, kind::ARRIVED).u32(listener).end();
                guest.place.arrivals.places[at].open += 1;
                guest.insert(number, connection);
            }
        }
    }
}

fn free_number(guest: &mut Guest, at: usize) -> u32 {
    let mut count = guest.place.arrivals.places[at].last;
    loop {
        count = count.wrapping_add(1) & COUNT;
        let number = OURS | (at as u32) << PLACE_SHIFT | count;
        if !guest.channels.contains_key(&number) {
            guest.place.arrivals.places[at].last = count;
            return number;
        }
    }
}

/// A channel has ended: if it was one of ours, its place is free for another.
pub fn left(guest: &mut Guest, number: u32) {
    if number & OURS == 0 {
        return;
    }
    let at = (number & !OURS) >> PLACE_SHIFT;
    if let Some(arrival) = guest.place.arrivals.places.get_mut(at as usize) {
        arrival.open -= 1;
        if let Some(listener) = arrival.listener {
            guest.enqueue(listener);
        }
    }
}
