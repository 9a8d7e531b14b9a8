//! Outbound connections of programs in the sandbox. They connect to a loopback listener, and the guest forwards each
//! to the host on a channel.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::context::{Context, Next, Opened, Service, token};
use crate::dial;
use crate::fail::{Code, Fail};
use crate::files::impersonation_failure;
use crate::guest::Guest;
use crate::wire::kind;
use vivarium_sys::{Errno, Fd, socket};

/// Largest number of listeners: egress proxy, control port and two in reserve.
const LISTENERS: usize = 4;
/// Half of all channels for one listener, three quarters for all, so that the host can still open channels.
const MAX_CONNECTIONS: usize = 512;
const MAX_TOTAL: usize = 768;
/// Connections accepted in one turn.
const SLICE: usize = 16;
/// Flag in the numbers of channels that the guest opens. The next two bits are the slot of the listener.
pub const GUEST_CHANNEL: u32 = 1 << 31;
const SLOT_SHIFT: u32 = 29;
const COUNTER_MASK: u32 = (1 << SLOT_SHIFT) - 1;

/// Accepted connections of all listeners.
#[derive(Default)]
pub struct IncomingConnections {
    slots: [Slot; LISTENERS],
    /// Accepted connections without a channel.
    pending: usize,
}

/// Slot of one listener. Connections may outlive the listener and then count for the next listener in the slot.
#[derive(Default)]
struct Slot {
    /// Channel of the listener, if any.
    listener: Option<u32>,
    max: usize,
    credit: u32,
    pending: Vec<Fd>,
    open: usize,
    /// Counter of the last channel number.
    last: u32,
}

impl IncomingConnections {
    pub fn any_pending(&self) -> bool {
        self.pending > 0
    }

    /// Returns a free slot for a listener with a maximum of `max` connections.
    fn free_slot(&self, max: usize) -> Result<usize, Fail> {
        let promised: usize = self.slots.iter().filter(|slot| slot.listener.is_some()).map(|slot| slot.max).sum();
        if promised + max > MAX_TOTAL {
            return Err(Fail::new(Code::Invalid, "the limits of all listeners exceed 768 connections"));
        }
        self.slots
            .iter()
            .position(|slot| slot.listener.is_none())
            .ok_or(Fail::new(Code::Exists, "the maximum number of listeners is open"))
    }
}

struct Listener {
    /// None after close, so that the port is free immediately.
    socket: Option<Fd>,
    slot: usize,
    /// The backlog may have a connection.
    ready: bool,
}

pub fn open(channel: u32, credit: u32, (port, max): (u16, u16), context: &mut Context) -> Opened {
    if max == 0 || usize::from(max) > MAX_CONNECTIONS {
        return Err(Fail::new(Code::Invalid, "the limit of connections is not between 1 and 512"));
    }
    let at = context.incoming.free_slot(max.into())?;
    let impersonation = context.user.impersonate().map_err(impersonation_failure)?;
    let listening = socket::listen_loopback(port);
    drop(impersonation);
    let (socket, port) = listening.map_err(listen_failure)?;
    context
        .poll
        .add(&socket, token(channel, 0), libc::EPOLLIN)
        .map_err(|error| Fail::of(error, "cannot poll the listener"))?;
    let slot = &mut context.incoming.slots[at];
    slot.listener = Some(channel);
    slot.max = max.into();
    slot.credit = credit;
    context.out.frames.begin(channel, kind::STARTED).u16(port).end();
    Ok(Some(Box::new(Listener { socket: Some(socket), slot: at, ready: true })))
}

fn listen_failure(error: Errno) -> Fail {
    match error.0 {
        libc::EADDRINUSE => Fail { errno: error.0, ..Fail::new(Code::Exists, "the port is in use") },
        _ => Fail::of(error, "cannot listen"),
    }
}

impl Service for Listener {
    fn run(&mut self, channel: u32, context: &mut Context) -> Next {
        let Some(socket) = &self.socket else {
            context.out.frames.begin(channel, kind::END).end();
            return Next::Done;
        };
        for _ in 0..SLICE {
            let slot = &mut context.incoming.slots[self.slot];
            if !self.ready || slot.open + slot.pending.len() >= slot.max {
                // Further connections stay in the backlog of the kernel until another one ends.
                return Next::Wait;
            }
            match socket::accept(socket) {
                Ok(connection) => {
                    slot.pending.push(connection);
                    context.incoming.pending += 1;
                }
                Err(Errno(libc::EINTR | libc::ECONNABORTED)) => {}
                Err(Errno(libc::EAGAIN)) => self.ready = false,
                // Out of descriptors or memory. Retries after another connection ends.
                Err(_) => return Next::Wait,
            }
        }
        Next::Again
    }

    fn wake(&mut self, _source: u8, _events: u32) -> bool {
        self.ready = true;
        true
    }

    fn close(&mut self, context: &mut Context) {
        if self.socket.take().is_some() {
            let slot = &mut context.incoming.slots[self.slot];
            slot.listener = None;
            let unseen = core::mem::take(&mut slot.pending).len();
            context.incoming.pending -= unseen;
        }
    }
}

/// Opens a channel for each accepted connection.
pub fn open_pending(guest: &mut Guest) {
    guest.context.incoming.pending = 0;
    for at in 0..LISTENERS {
        let slot = &mut guest.context.incoming.slots[at];
        let (Some(listener), credit) = (slot.listener, slot.credit) else { continue };
        for socket in core::mem::take(&mut slot.pending) {
            let number = free_number(guest, at);
            if let Ok(connection) = dial::accepted(number, credit, socket, &guest.context) {
                guest.context.out.frames.begin(number, kind::ARRIVED).u32(listener).end();
                guest.context.incoming.slots[at].open += 1;
                guest.insert(number, connection);
            }
        }
    }
}

fn free_number(guest: &mut Guest, at: usize) -> u32 {
    let mut count = guest.context.incoming.slots[at].last;
    loop {
        count = count.wrapping_add(1) & COUNTER_MASK;
        let number = GUEST_CHANNEL | (at as u32) << SLOT_SHIFT | count;
        if !guest.channels.contains_key(&number) {
            guest.context.incoming.slots[at].last = count;
            return number;
        }
    }
}

/// Releases the slot of a channel that the guest opened, after its end.
pub fn channel_ended(guest: &mut Guest, number: u32) {
    if number & GUEST_CHANNEL == 0 {
        return;
    }
    let at = (number & !GUEST_CHANNEL) >> SLOT_SHIFT;
    if let Some(slot) = guest.context.incoming.slots.get_mut(at as usize) {
        slot.open -= 1;
        if let Some(listener) = slot.listener {
            guest.enqueue(listener);
        }
    }
}
