//! Streams of a channel, with flow control by credit.

use alloc::vec::Vec;

use crate::outbox::Outbox;
use crate::ring::Ring;
use crate::splice::BATCH;
use crate::wire::{HOST_CREDIT, MAX_DATA, Violation, kind};
use vivarium_sys::event::Epoll;
use vivarium_sys::file;
use vivarium_sys::{Errno, Fd, Result, now_us};

/// Number of full reads after which a process counts as a bulk writer.
const BULK: u32 = 4;
/// Smaller amounts are copied.
const MIN_SPLICE: usize = 16 * 1024;
/// Largest read from a terminal.
const TERMINAL_READ: u64 = 4096;
/// Poll interval for the pipe of a bulk writer. A widened pipe does not fill up in this time.
const POLL_INTERVAL_US: u64 = 200;

/// Bytes from the host for a descriptor.
#[derive(Default)]
pub struct Inbound {
    waiting: Vec<u8>,
    written: usize,
    /// Consumed bytes that are not yet returned as credit.
    owed: u64,
    /// Waiting bytes from an earlier host, for which the guest returns no credit.
    stale: u64,
    ended: bool,
    /// The reader has closed its end. Further bytes are discarded and count as consumed.
    broken: bool,
}

impl Inbound {
    /// Accepts bytes from the host. More than its credit is a violation.
    pub fn push(&mut self, fd: Option<&Fd>, mut bytes: &[u8]) -> core::result::Result<(), Violation> {
        let held = self.waiting() + bytes.len() as u64 + self.owed - self.stale;
        if self.ended || held > HOST_CREDIT {
            return Err(Violation);
        }
        if self.is_empty() {
            let count = self.write(fd, bytes);
            bytes = &bytes[count..];
        }
        self.waiting.extend_from_slice(bytes);
        Ok(())
    }

    pub fn end(&mut self) {
        self.ended = true;
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.len() == self.written
    }

    /// Reports whether all input is written.
    pub fn is_done(&self) -> bool {
        self.ended && self.is_empty()
    }

    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Writes waiting bytes until the descriptor is full.
    pub fn pump(&mut self, fd: Option<&Fd>) {
        while !self.is_empty() {
            let waiting = core::mem::take(&mut self.waiting);
            let count = self.write(fd, &waiting[self.written..]);
            self.waiting = waiting;
            self.written += count;
            if count == 0 {
                return;
            }
        }
        self.waiting = Vec::new();
        self.written = 0;
    }

    fn write(&mut self, fd: Option<&Fd>, bytes: &[u8]) -> usize {
        let count = match fd.filter(|_| !self.broken).map(|fd| fd.write(bytes)) {
            Some(Ok(count)) => count,
            Some(Err(Errno(libc::EAGAIN))) => 0,
            _ => {
                self.broken = true;
                bytes.len()
            }
        };
        let stale = self.stale.min(count as u64);
        self.stale -= stale;
        self.owed += count as u64 - stale;
        count
    }

    fn waiting(&self) -> u64 {
        (self.waiting.len() - self.written) as u64
    }

    /// Resets the credit for another host.
    pub fn attach(&mut self) {
        self.owed = 0;
        self.stale = self.waiting();
    }

    /// Returns credit in large portions.
    pub fn return_credit(&mut self, channel: u32, out: &mut Outbox) {
        if self.owed >= MAX_DATA as u64 && !self.ended {
            out.frames.begin(channel, kind::CREDIT).u8(0).u32(self.owed as u32).end();
            self.owed = 0;
        }
    }
}

/// Result of one read.
#[derive(PartialEq, Eq)]
pub enum ReadResult {
    Bytes(usize),
    WouldBlock,
    End,
}

/// Bytes from a descriptor for the host.
pub struct Outbound {
    pub stream: u8,
    pub credit: u64,
    /// The descriptor may be readable.
    pub ready: bool,
    /// The other end is closed. The descriptor stays ready until the guest has read the end of file.
    hung_up: bool,
    /// Bytes read, sent and discarded.
    pub total: u64,
    pub limit: u64,
    /// Bytes to read before END, after the process has exited.
    pub last: Option<u64>,
    full_reads: u32,
    /// Whether the pipe of a bulk writer can be spliced, and the bytes spliced since the pipe was last nearly empty.
    can_splice: bool,
    spliced: usize,
    /// Time of the next poll, while epoll reports only the hangup of the pipe.
    poll_at: Option<u64>,
    muted: bool,
    /// Recent output of a kept process.
    pub ring: Option<Ring>,
}

impl Outbound {
    pub fn new(stream: u8, credit: u32, limit: u64) -> Outbound {
        let limit = if limit == 0 { u64::MAX } else { limit };
        Outbound {
            stream,
            credit: credit.into(),
            ready: false,
            hung_up: false,
            total: 0,
            limit,
            last: None,
            full_reads: 0,
            can_splice: true,
            spliced: 0,
            poll_at: None,
            muted: false,
            ring: None,
        }
    }

    /// Creates the stream of a kept process. It has no output limit, because the ring holds recent output only.
    pub fn kept(stream: u8, credit: u32) -> Outbound {
        Outbound { ring: Some(Ring::default()), ..Outbound::new(stream, credit, 0) }
    }

    /// Reports whether the guest should read, which after the exit ends with the last byte before END.
    pub fn is_readable(&self) -> bool {
        self.ready && self.last != Some(0)
    }

    /// Reads once into the ring: within the credit, or without a limit while no host is connected.
    pub fn read_into_ring(&mut self, fd: &Fd, whole: bool, connected: bool) -> Result<ReadResult> {
        let credit = if connected { self.credit } else { u64::MAX };
        let most = if whole { MAX_DATA as u64 } else { TERMINAL_READ };
        let room = credit.min(self.last.unwrap_or(u64::MAX)).min(most) as usize;
        let Some(ring) = &mut self.ring else { return Ok(ReadResult::End) };
        let mut asked = 0;
        let got = ring.fill(room, |into| {
            asked = into.len();
            fd.read(into)
        });
        match got {
            Ok(0) => Ok(ReadResult::End),
            Ok(count) => {
                self.total = ring.total();
                if let Some(last) = &mut self.last {
                    *last -= count as u64;
                }
                self.ready = !whole || count == asked || self.hung_up;
                Ok(ReadResult::Bytes(count))
            }
            Err(Errno(libc::EAGAIN)) => {
                self.ready = false;
                Ok(ReadResult::WouldBlock)
            }
            Err(error) => Err(error),
        }
    }

    /// Sends unsent output of the ring within the credit and the room of the queue.
    pub fn send_from_ring(&mut self, channel: u32, out: &mut Outbox) {
        let Some(ring) = &mut self.ring else { return };
        while !ring.is_sent() && self.credit > 0 && out.has_room() {
            let unsent = ring.unsent();
            let count = unsent.len().min(MAX_DATA).min(self.credit.min(MAX_DATA as u64) as usize);
            out.frames.begin(channel, kind::DATA).u8(self.stream).raw(&unsent[..count]).end();
            self.credit -= count as u64;
            ring.sent(count);
        }
    }

    /// Reports whether the host has received all output of the ring.
    pub fn is_sent(&self) -> bool {
        self.ring.as_ref().is_none_or(Ring::is_sent)
    }

    /// Resets the stream for another host. Returns the position of its first byte.
    pub fn attach(&mut self, credit: u32) -> u64 {
        self.credit = credit.into();
        let Some(ring) = &mut self.ring else { return 0 };
        ring.rewind();
        ring.first()
    }

    pub fn wake(&mut self, events: u32) {
        self.ready = true;
        self.hung_up |= events & (libc::EPOLLHUP | libc::EPOLLRDHUP | libc::EPOLLERR) as u32 != 0;
    }

    /// Time of the next `poll_if_due`.
    pub fn poll_at(&self) -> Option<u64> {
        self.poll_at.filter(|_| !self.ready)
    }

    pub fn poll_if_due(&mut self, now_us: u64) {
        self.ready |= self.poll_at.is_some_and(|at| at <= now_us);
    }

    fn is_over_limit(&self) -> bool {
        self.total >= self.limit
    }

    /// Bytes that may be read now; 0 without credit.
    fn allowance(&self) -> usize {
        let credit = if self.is_over_limit() { u64::MAX } else { self.credit };
        credit.min(self.last.unwrap_or(u64::MAX)).min(MAX_DATA as u64) as usize
    }

    pub fn is_runnable(&self) -> bool {
        self.ready && self.allowance() > 0
    }

    /// Reads once into a DATA frame. `whole` is true for pipes, where a short read means that the pipe is empty.
    pub fn read(&mut self, fd: &Fd, whole: bool, channel: u32, out: &mut Outbox) -> Result<ReadResult> {
        if whole && let Some(got) = self.splice_bulk(fd, channel, out)? {
            return Ok(got);
        }
        self.poll_at = None;
        let room = self.allowance();
        let frames = &mut out.frames;
        frames.begin(channel, kind::DATA).u8(self.stream);
        match frames.read_in(room, |into| fd.read(into)) {
            Ok(0) => {
                frames.discard();
                Ok(ReadResult::End)
            }
            Ok(count) => {
                let within = self.account(count);
                if within == 0 {
                    frames.discard();
                } else {
                    frames.cut(count - within);
                    frames.end();
                }
                self.ready = !whole || count == room || self.hung_up;
                self.widen(fd, count);
                Ok(ReadResult::Bytes(count))
            }
            Err(error) => {
                frames.discard();
                if error != Errno(libc::EAGAIN) {
                    return Err(error);
                }
                self.ready = false;
                Ok(ReadResult::WouldBlock)
            }
        }
    }

    /// Splices the output of a bulk writer if there is enough. If a busy writer has little output now, schedules a poll
    /// instead of a read, because a writer that wakes the guest with each small write becomes slower.
    fn splice_bulk(&mut self, fd: &Fd, channel: u32, out: &mut Outbox) -> Result<Option<ReadResult>> {
        if !self.can_splice || self.full_reads < BULK {
            return Ok(None);
        }
        let room = self.credit.min(self.last.unwrap_or(u64::MAX)).min(self.limit.saturating_sub(self.total));
        let count = file::readable_bytes(fd).unwrap_or(0).min(room).min(BATCH as u64) as usize;
        if count >= MIN_SPLICE {
            return self.take(fd, count, channel, out);
        }
        let busy = core::mem::take(&mut self.spliced) >= MAX_DATA;
        if !busy || self.hung_up || room < MAX_DATA as u64 {
            return Ok(None);
        }
        self.poll_at = Some(now_us() + POLL_INTERVAL_US);
        self.ready = false;
        Ok(Some(ReadResult::WouldBlock))
    }

    fn take(&mut self, fd: &Fd, count: usize, channel: u32, out: &mut Outbox) -> Result<Option<ReadResult>> {
        let taken = out.take(fd, count, channel, self.stream)?;
        if taken == 0 {
            return Ok(None);
        }
        // A short splice means a shared pipe or nearly empty pages. Both are likely to repeat, so the guest copies.
        self.can_splice = taken == count;
        self.account(taken);
        self.spliced += taken;
        Ok(Some(ReadResult::Bytes(taken)))
    }

    /// Subscribes to events of the pipe, or unsubscribes while it is polled.
    pub fn update_interest(&mut self, fd: &Fd, token: u64, poll: &Epoll) {
        let muted = self.poll_at.is_some();
        if muted != self.muted && poll.modify(fd, token, if muted { 0 } else { libc::EPOLLIN }).is_ok() {
            self.muted = muted;
        }
    }

    /// Counts bytes. Returns how many of them are within the output limit.
    fn account(&mut self, count: usize) -> usize {
        let within = (self.limit.saturating_sub(self.total)).min(count as u64);
        self.total += count as u64;
        self.credit = self.credit.saturating_sub(within);
        if let Some(last) = &mut self.last {
            *last -= count as u64;
        }
        within as usize
    }

    /// Widens the pipe of a bulk writer. Other pipes keep their small size.
    fn widen(&mut self, fd: &Fd, count: usize) {
        if count == MAX_DATA {
            self.full_reads += 1;
            if self.full_reads == BULK {
                file::widen_pipe(fd, 1 << 20);
            }
        }
    }
}
