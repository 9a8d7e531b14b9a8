//! Send queue: ordered frames, and replies to PING that overtake them.

use crate::splice::SplicePipe;
use crate::wire::{Fields, Frames, HEADER};
use vivarium_sys::{Errno, Fd, Result};

/// Queued bytes at which the guest stops reading from processes.
const FULL: usize = 256 * 1024;

/// Send queue of the connection. Frames of one channel keep their order.
#[derive(Default)]
pub struct Outbox {
    pub frames: Frames,
    pub urgent: Frames,
    /// Pipe with bulk output. The guest sends it before `frames`, and fills it only while `frames` is empty.
    splice: SplicePipe,
    /// Sent bytes of `frames`, and the offset of the frame that is partly sent.
    sent: usize,
    frame_start: usize,
    urgent_sent: usize,
    open: bool,
}

impl Outbox {
    /// Clears the queue, for a new connection or until there is one.
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

    /// The host sends requests faster than it reads replies: the queue is longer than flow control of data allows.
    pub fn is_flooded(&self) -> bool {
        self.frames.buffer.len() - self.sent > 4 * FULL
    }

    /// Splices DATA from a pipe that holds `count` bytes. Takes nothing while other frames are queued.
    pub fn take(&mut self, pipe: &Fd, count: usize, channel: u32, stream: u8) -> Result<usize> {
        if self.is_empty() { self.splice.take(pipe, count, (channel, stream), &mut self.frames.buffer) } else { Ok(0) }
    }

    /// Sends until the socket is full. Returns true when the queue is empty.
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

    /// Offset at which another frame can be inserted: the end of the frame that is partly sent.
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

    /// Releases the memory of a burst.
    pub fn release(&mut self) {
        if self.is_empty() {
            self.frames = Frames::default();
            self.urgent = Frames::default();
            self.splice.release();
        }
    }
}
