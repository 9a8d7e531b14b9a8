//! Codec of the wire protocol: frames, fields, and the buffers of both directions.

use alloc::vec::Vec;

pub const GENERATION: u16 = 1;
pub const HEADER: usize = 9;
pub const MAX_PAYLOAD: usize = 262_144;
pub const MAX_DATA: usize = 65_536;
pub const MAX_CHANNELS: usize = 1024;
/// Initial credit of the host on each stream.
pub const HOST_CREDIT: u64 = 262_144;

/// Kinds of frames.
pub mod kind {
    pub const HELLO: u8 = 0x01;
    pub const WELCOME: u8 = 0x02;
    pub const REFUSE: u8 = 0x03;
    pub const PING: u8 = 0x04;
    pub const PONG: u8 = 0x05;
    pub const SHUTDOWN: u8 = 0x06;
    pub const OPEN: u8 = 0x10;
    pub const STARTED: u8 = 0x11;
    pub const DATA: u8 = 0x12;
    pub const CREDIT: u8 = 0x13;
    pub const EOF: u8 = 0x14;
    pub const CLOSE: u8 = 0x15;
    pub const DETACH: u8 = 0x16;
    pub const SIGNAL: u8 = 0x17;
    pub const RESIZE: u8 = 0x18;
    pub const ATTACH: u8 = 0x19;
    pub const ARRIVED: u8 = 0x1A;
    pub const FAIL: u8 = 0x1E;
    pub const END: u8 = 0x1F;
}

/// Protocol violation by the host. The guest closes the connection.
#[derive(Debug, PartialEq, Eq)]
pub struct Violation;

/// Reader for the fields of a payload. It never reads beyond the end and never copies.
#[derive(Clone, Copy)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Violation> {
        let (head, rest) = self.0.split_at_checked(count).ok_or(Violation)?;
        self.0 = rest;
        Ok(head)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], Violation> {
        let (head, rest) = self.0.split_first_chunk().ok_or(Violation)?;
        self.0 = rest;
        Ok(*head)
    }

    /// Reads a field of a newer protocol version; none if the sender does not have it.
    pub fn appended<T>(
        &mut self,
        read: impl FnOnce(&mut Fields<'a>) -> Result<T, Violation>,
    ) -> Result<Option<T>, Violation> {
        if self.0.is_empty() { Ok(None) } else { read(self).map(Some) }
    }

    pub fn u8(&mut self) -> Result<u8, Violation> {
        self.number::<1>().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Result<u16, Violation> {
        self.number().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, Violation> {
        self.number().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Violation> {
        self.number().map(u64::from_be_bytes)
    }

    pub fn string(&mut self) -> Result<&'a [u8], Violation> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    /// Reads a list of strings. The allocation is limited by the remaining bytes, not by the count.
    pub fn strings(&mut self) -> Result<Vec<&'a [u8]>, Violation> {
        let count = self.u32()? as usize;
        if count > self.0.len() / 4 {
            return Err(Violation);
        }
        (0..count).map(|_| self.string()).collect()
    }

    pub fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.0)
    }
}

/// Frame in the buffer of the reader.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    pub channel: u32,
    pub kind: u8,
    pub payload: &'a [u8],
}

/// Assembler of frames from bytes. Memory grows with the received bytes, not with the length field.
#[derive(Default)]
pub struct FrameReader {
    buffer: Vec<u8>,
    start: usize,
}

impl FrameReader {
    /// Reads once into the buffer with `read`. Returns the number of bytes.
    pub fn fill<E>(&mut self, read: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<(usize, bool), E> {
        self.compact();
        let old = self.buffer.len();
        let room = MAX_DATA.max(self.wanted().min(MAX_PAYLOAD + HEADER).saturating_sub(old));
        self.buffer.reserve(room);
        extend_by(&mut self.buffer, room, read).map(|count| (count, count == room))
    }

    /// Size of the current frame, as far as it is known.
    fn wanted(&self) -> usize {
        let mut head = Fields(&self.buffer[self.start..]);
        head.u32().map_or(0, |length| length as usize + HEADER)
    }

    fn compact(&mut self) {
        self.buffer.drain(..self.start);
        self.start = 0;
    }

    /// Returns the next complete frame.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Violation> {
        let mut fields = Fields(&self.buffer[self.start..]);
        let Ok(length) = fields.u32() else { return Ok(None) };
        if length as usize > MAX_PAYLOAD {
            return Err(Violation);
        }
        let (Ok(channel), Ok(kind)) = (fields.u32(), fields.u8()) else { return Ok(None) };
        let Ok(payload) = fields.take(length as usize) else { return Ok(None) };
        self.start += HEADER + length as usize;
        Ok(Some(Frame { channel, kind, payload }))
    }

    /// Releases the memory of a burst.
    pub fn release(&mut self) {
        self.compact();
        self.buffer.shrink_to_fit();
    }
}

/// Appends up to `room` bytes from `read` without initializing the space first.
pub(crate) fn extend_by<E>(
    buffer: &mut Vec<u8>,
    room: usize,
    read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
) -> Result<usize, E> {
    let old = buffer.len();
    debug_assert!(buffer.capacity() - old >= room);
    // SAFETY: the space is reserved. `read` only writes to it, and the length grows by the written bytes.
    unsafe {
        let spare = core::slice::from_raw_parts_mut(buffer.as_mut_ptr().add(old), room);
        let count = read(spare)?;
        assert!(count <= room);
        buffer.set_len(old + count);
        Ok(count)
    }
}

/// Writer of frames. Call `begin`, then a method for each field, then `end`.
#[derive(Default)]
pub struct Frames {
    pub buffer: Vec<u8>,
    /// Offset of the current frame.
    begun: usize,
}

impl Frames {
    pub fn begin(&mut self, channel: u32, kind: u8) -> &mut Frames {
        self.begun = self.buffer.len();
        self.u32(0).u32(channel).u8(kind)
    }

    pub fn end(&mut self) {
        let length = (self.buffer.len() - self.begun - HEADER) as u32;
        self.buffer[self.begun..self.begun + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// Discards the current frame.
    pub fn discard(&mut self) {
        self.buffer.truncate(self.begun);
    }

    /// Removes the last `count` bytes.
    pub fn cut(&mut self, count: usize) {
        self.buffer.truncate(self.buffer.len() - count);
    }

    pub fn u8(&mut self, value: u8) -> &mut Frames {
        self.raw(&[value])
    }

    pub fn u16(&mut self, value: u16) -> &mut Frames {
        self.raw(&value.to_be_bytes())
    }

    pub fn u32(&mut self, value: u32) -> &mut Frames {
        self.raw(&value.to_be_bytes())
    }

    pub fn u64(&mut self, value: u64) -> &mut Frames {
        self.raw(&value.to_be_bytes())
    }

    pub fn i32(&mut self, value: i32) -> &mut Frames {
        self.raw(&value.to_be_bytes())
    }

    pub fn i64(&mut self, value: i64) -> &mut Frames {
        self.raw(&value.to_be_bytes())
    }

    pub fn string(&mut self, value: &[u8]) -> &mut Frames {
        self.u32(value.len() as u32).raw(value)
    }

    pub fn raw(&mut self, value: &[u8]) -> &mut Frames {
        self.buffer.extend_from_slice(value);
        self
    }

    /// Appends up to `room` bytes from `read`.
    pub fn read_in<E>(&mut self, room: usize, read: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<usize, E> {
        self.buffer.reserve(room);
        extend_by(&mut self.buffer, room, read)
    }
}
