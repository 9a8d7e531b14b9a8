//! What waits to be sent: bulk in order, and answers to PING that may overtake it.

use crate::splice::SplicePipe;
use crate::wire::{Fields, Frames, HEADER};
use vivarium_sys::{Errno, Fd, Result};

/// As much waits at most before the guest stops reading from its processes.
const FULL: usize = 256 * 1024;

/// The queue towards the socket. Frames of one channel never change their order.
#[derive(Default)]
pub struct Outbox {
    pub frames: Frames,
    pub urgent: Frames,
    /// Goes before what waits in `frames`; filled only when nothing does.
    splice: SplicePipe,
    /// Bytes of `frames` that are gone, and where the frame begins that is partly gone.
    sent: usize,
    frame_start: usize,
    urgent_sent: usize,
    open: bool,
}

impl Outbox {
    /// Begins anew on a new connection, or waits for one.
    pub fn reset(&mut self, open: bool) {
        *self = Outbox { open, ..Outbox::default() };
    }

    pub fn has_room(&self) -> bool {
        self.open && self.splice.is_empty() && self.frames.buffer.len() - self.sent < FULL
    }

    pub fn is_open(&self) -> bool {
        self.open
    }

    pub fn is_empty(&self) -> bool {
        self.splice.is_empty() && self.frames.buffer.len() == self.sent && self.urgent.buffer.len() == self.urgent_sent
    }

    /// Far more is waiting than data alone can make: the host asks faster than it listens.
    pub fn is_flooded(&self) -> bool {
        self.frames.buffer.len() - self.sent > 4 * FULL
    }

    /// Takes DATA straight from a pipe that holds `count` bytes; none if something else is to be sent before.
    pub fn take(&mut self, pipe: &Fd, count: usize, channel: u32, stream: u8) -> Result<usize> {
        if self.is_empty() { self.splice.take(pipe, count, (channel, stream), &mut self.frames.buffer) } else { Ok(0) }
    }

    /// Sends as much as the socket takes; true if all is gone.
    pub fn flush(&mut self, socket: &Fd) -> Result<bool> {
        while !self.is_empty() {
            let sent = if self.splice.is_empty() {
                self.write_once(socket).map(|count| self.consume(count))
            } else {
                self.splice.flush(socket, &mut self.frames.buffer)
            };
            match sent {
                Ok(()) => {}
                Err(Errno(libc::EAGAIN)) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn write_once(&self, socket: &Fd) -> Result<usize> {
        let bulk = &self.frames.buffer;
        if self.urgent.buffer.is_empty() {
            return socket.write(&bulk[self.sent..]);
        }
        let cut = self.boundary();
        socket.write_vectored([&bulk[self.sent..cut], &self.urgent.buffer[self.urgent_sent..], &bulk[cut..]])
    }

    /// Where another frame may be put in: the end of the frame that is partly gone.
    fn boundary(&self) -> usize {
        if self.sent == self.frame_start { self.sent } else { self.frame_start + self.frame_length(self.frame_start) }
    }

    fn frame_length(&self, at: usize) -> usize {
        Fields(&self.frames.buffer[at..]).u32().map_or(0, |length| length as usize + HEADER)
    }

    fn consume(&mut self, mut count: usize) {
        let first = count.min(self.boundary() - self.sent);
        if !self.urgent.buffer.is_empty() {
            self.sent += first;
            count -= first;
            let urgent = count.min(self.urgent.buffer.len() - self.urgent_sent);
            self.urgent_sent += urgent;
            count -= urgent;
            if self.urgent_sent == self.urgent.buffer.len() {
                self.urgent.buffer.clear();
                self.urgent_sent = 0;
            }
        }
        self.sent += count;
        self.advance();
    }

    fn advance(&mut self) {
        if self.sent == self.frames.buffer.len() {
            self.frames.buffer.clear();
            (self.sent, self.frame_start) = (0, 0);
            return;
        }
        while self.frame_start + self.frame_length(self.frame_start) <= self.sent {
            self.frame_start += self.frame_length(self.frame_start);
        }
        if self.frame_start > FULL {
            self.frames.buffer.drain(..self.frame_start);
            self.sent -= self.frame_start;
            self.frame_start = 0;
        }
    }

    /// Gives the memory back that a burst has needed.
    pub fn release(&mut self) {
        if self.is_empty() {
            self.frames = Frames::default();
            self.urgent = Frames::default();
            self.splice.release();
        }
    }
}
