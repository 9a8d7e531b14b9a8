//! Zero-copy path of bulk output from a command to the socket.
//!
//! The kernel splices pages from the pipe of a command into a private pipe, and from there into the socket. It locks
//! the pipe of the command only for a moment, so the writer does not wait for a copy. Commands cannot access the
//! private pipe, so frames stay complete.

use alloc::vec::Vec;

use crate::wire::{HEADER, extend_by, kind};
use vivarium_sys::file::{pipe, set_nonblocking, splice, widen_pipe};
use vivarium_sys::{Errno, Fd, Result};

/// Bytes of DATA in a frame. With the header they fill sixteen pages, which the kernel sends in one piece.
const FRAME: usize = 15 * 4096;
/// Bytes taken at a time. The reply to a PING waits for at most one batch.
pub const BATCH: usize = 4 * FRAME;
/// Capacity of the private pipe: two batches, because pages of small writes are not full.
const CAPACITY: usize = 512 * 1024;
/// Size of the header of a DATA frame with the stream number.
const HEAD: usize = HEADER + 1;

/// Private pipe for bulk output, opened on first use.
#[derive(Default)]
pub struct SplicePipe {
    ends: Option<(Fd, Fd)>,
    /// Bytes in the pipe.
    buffered: usize,
    /// A part of the batch is sent.
    partly_sent: bool,
    /// The kernel does not support this path, so the guest copies all output.
    unsupported: bool,
}

impl SplicePipe {
    pub fn is_empty(&self) -> bool {
        self.buffered == 0
    }

    /// Takes a batch of DATA from a pipe that holds `count` bytes. Fewer bytes may arrive, because another process
    /// reads from the pipe or its pages are nearly empty. Then the batch moves to `copy` with a corrected last frame.
    /// Returns the number of bytes.
    pub fn take(&mut self, from: &Fd, count: usize, (channel, stream): (u32, u8), copy: &mut Vec<u8>) -> Result<usize> {
        if self.unsupported || self.open().is_err() {
            return Ok(0);
        }
        self.partly_sent = false;
        let mut taken = 0;
        while taken < count {
            let length = FRAME.min(count - taken);
            let last = copy.len() + self.buffered;
            let moved = self.add(from, &head(channel, stream, length), length);
            taken += moved;
            if moved < length {
                self.copy_out(copy)?;
                set_length(copy, last, moved);
                break;
            }
        }
        Ok(taken)
    }

    fn open(&mut self) -> Result<()> {
        if self.ends.is_none() {
            let (reader, writer) = pipe()?;
            set_nonblocking(&reader)?;
            set_nonblocking(&writer)?;
            widen_pipe(&writer, CAPACITY);
            self.ends = Some((reader, writer));
        }
        Ok(())
    }

    fn add(&mut self, from: &Fd, head: &[u8], length: usize) -> usize {
        let Some((_, writer)) = &self.ends else { return 0 };
        if writer.write(head) != Ok(HEAD) {
            return 0;
        }
        let moved = splice(from, writer, length).unwrap_or(0);
        self.buffered += HEAD + moved;
        moved
    }

    /// Appends the content of the pipe to `copy`, completely or not at all.
    fn copy_out(&mut self, copy: &mut Vec<u8>) -> Result<()> {
        let Some((reader, _)) = &self.ends else { return Ok(()) };
        let old = copy.len();
        copy.reserve(self.buffered);
        while self.buffered > 0 {
            match extend_by(copy, self.buffered, |into| reader.read(into)) {
                Ok(count @ 1..) => self.buffered -= count,
                failed => {
                    copy.truncate(old);
                    *self = SplicePipe { unsupported: true, ..SplicePipe::default() };
                    return Err(failed.err().unwrap_or(Errno(libc::EIO)));
                }
            }
        }
        Ok(())
    }

    /// Sends until the socket is full. If the socket does not support splice, moves the batch to the front of `frames`.
    pub fn flush(&mut self, socket: &Fd, frames: &mut Vec<u8>) -> Result<()> {
        let Some((reader, _)) = &self.ends else { return Ok(()) };
        match splice(reader, socket, self.buffered) {
            Ok(count @ 1..) => {
                self.buffered -= count;
                self.partly_sent = true;
                Ok(())
            }
            Err(Errno(libc::EINVAL | libc::ENOSYS | libc::EOPNOTSUPP | libc::EIO)) if !self.partly_sent => {
                self.unsupported = true;
                let mut all = Vec::new();
                self.copy_out(&mut all)?;
                all.append(frames);
                *frames = all;
                Ok(())
            }
            failed => Err(failed.err().unwrap_or(Errno(libc::EIO))),
        }
    }

    /// Closes the pipe, which must be empty.
    pub fn release(&mut self) {
        self.ends = None;
    }
}

fn head(channel: u32, stream: u8, length: usize) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&(length as u32 + 1).to_be_bytes());
    head[4..8].copy_from_slice(&channel.to_be_bytes());
    (head[8], head[9]) = (kind::DATA, stream);
    head
}

/// Sets the data length of the frame at `at`. Removes a frame without data.
fn set_length(frames: &mut Vec<u8>, at: usize, length: usize) {
    if length == 0 {
        frames.truncate(at);
    } else {
        frames[at..at + 4].copy_from_slice(&(length as u32 + 1).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Frame, FrameReader};
    use alloc::vec;

    const PATTERN: usize = 251;

    fn filled(bytes: usize) -> (Fd, Fd) {
        let (reader, writer) = pipe().unwrap();
        widen_pipe(&writer, 1 << 20);
        let pattern: Vec<u8> = (0..bytes).map(|at| (at % PATTERN) as u8).collect();
        assert_eq!(writer.write(&pattern), Ok(bytes));
        (reader, writer)
    }

    /// All of the frames, each checked to be one of stream 1 of channel 7, and what they hold.
    fn unpacked(bytes: &[u8]) -> (usize, Vec<u8>) {
        let mut reader = FrameReader::default();
        let (mut count, mut data) = (0, Vec::new());
        for piece in bytes.chunks(50_000) {
            reader.fill(|into| Ok::<_, Errno>(copied(piece, into))).unwrap();
            while let Some(Frame { channel, kind, payload }) = reader.next_frame().unwrap() {
                assert_eq!((channel, kind, payload[0]), (7, kind::DATA, 1));
                data.extend_from_slice(&payload[1..]);
                count += 1;
            }
        }
        (count, data)
    }

    fn copied(from: &[u8], into: &mut [u8]) -> usize {
        into[..from.len()].copy_from_slice(from);
        from.len()
    }

    fn is_pattern(data: &[u8]) -> bool {
        data.iter().enumerate().all(|(at, byte)| *byte == (at % PATTERN) as u8)
    }

    fn sent(splicer: &mut SplicePipe) -> Vec<u8> {
        let (reader, writer) = pipe().unwrap();
        widen_pipe(&writer, 1 << 20);
        let mut unused = Vec::new();
        let mut bytes = vec![0; splicer.buffered];
        while !splicer.is_empty() {
            splicer.flush(&writer, &mut unused).unwrap();
        }
        let mut at = 0;
        while at < bytes.len() {
            at += reader.read(&mut bytes[at..]).unwrap();
        }
        bytes
    }

    #[test]
    fn aBatchIsSentInWholeFrames() {
        let (reader, _writer) = filled(200_000);
        let (mut splicer, mut copy) = (SplicePipe::default(), Vec::new());
        assert_eq!(splicer.take(&reader, 200_000, (7, 1), &mut copy), Ok(200_000));
        assert!(copy.is_empty());
        let (count, data) = unpacked(&sent(&mut splicer));
        assert_eq!((count, data.len()), (4, 200_000));
        assert!(is_pattern(&data));
    }

    #[test]
    fn missingBytesAreNotAnnounced() {
        let (reader, _writer) = filled(100_000);
        let (mut splicer, mut copy) = (SplicePipe::default(), Vec::new());
        assert_eq!(splicer.take(&reader, 120_000, (7, 1), &mut copy), Ok(100_000));
        assert!(splicer.is_empty());
        let (count, data) = unpacked(&copy);
        assert_eq!((count, data.len()), (2, 100_000));
        assert!(is_pattern(&data));
    }

    #[test]
    fn anEmptyPipeGivesNoFrame() {
        let (reader, _writer) = filled(1);
        let (mut splicer, mut copy) = (SplicePipe::default(), Vec::new());
        assert_eq!(splicer.take(&reader, 1, (7, 1), &mut copy), Ok(1));
        assert_eq!(unpacked(&sent(&mut splicer)), (1, vec![0]));
        set_nonblocking(&reader).unwrap();
        assert_eq!(splicer.take(&reader, 1, (7, 1), &mut copy), Ok(0));
        assert!(splicer.is_empty() && copy.is_empty());
    }

    #[test]
    fn pagesThatDoNotFitAreCopied() {
        let (reader, writer) = filled(0);
        // SAFETY: no pointers. Packets of a byte take a page each.
        unsafe { libc::fcntl(writer.raw(), libc::F_SETFL, libc::O_DIRECT) };
        for at in 0..250 {
            assert_eq!(writer.write(&[at]), Ok(1));
        }
        let (mut splicer, mut copy) = (SplicePipe::default(), Vec::new());
        let taken = splicer.take(&reader, 250, (7, 1), &mut copy).unwrap();
        assert!(taken > 0 && taken < 250 && splicer.is_empty());
        let (count, data) = unpacked(&copy);
        assert_eq!((count, data.len()), (1, taken));
        assert!(is_pattern(&data));
    }

    #[test]
    fn dataThatCannotBeSplicedIsCopiedInOrder() {
        let (reader, _writer) = filled(70_000);
        let (mut splicer, mut frames) = (SplicePipe::default(), Vec::new());
        splicer.take(&reader, 70_000, (7, 1), &mut frames).unwrap();
        frames.extend_from_slice(&head(7, 1, 1));
        frames.push((70_000 % PATTERN) as u8);
        // SAFETY: no pointers. It is open for writing, but no file or socket.
        let nowhere = Fd::owned(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) } as usize);
        splicer.flush(&nowhere, &mut frames).unwrap();
        let (count, data) = unpacked(&frames);
        assert_eq!((count, data.len()), (3, 70_001));
        assert!(is_pattern(&data));
        assert_eq!(splicer.take(&reader, 1, (7, 1), &mut frames), Ok(0));
    }
}
