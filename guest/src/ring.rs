//! Ring buffer with the recent output of a kept process.

use alloc::vec::Vec;

use vivarium_sys::Result;

/// Capacity in bytes.
pub const CAPACITY: usize = 256 * 1024;
/// Size of the first read. The buffer grows with the output.
const FIRST: usize = 4 * 1024;

/// Last bytes of a stream and the position up to which they are sent. Positions count from the start of the stream.
#[derive(Default)]
pub struct Ring {
    /// The byte at position p is at `p % CAPACITY`. The vector grows up to CAPACITY.
    bytes: Vec<u8>,
    total: u64,
    sent: u64,
}

impl Ring {
    /// Reads up to `most` bytes with `read`. Overwritten bytes that are not sent yet are lost.
    pub fn fill(&mut self, most: usize, read: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<usize> {
        let at = (self.total % CAPACITY as u64) as usize;
        let room = most.min(FIRST.max(self.bytes.len())).min(CAPACITY - at);
        let old = self.bytes.len();
        self.bytes.resize(old.max(at + room), 0);
        let got = read(&mut self.bytes[at..at + room]);
        let count = *got.as_ref().unwrap_or(&0);
        self.bytes.truncate(old.max(at + count));
        self.total += count as u64;
        self.sent = self.sent.max(self.first());
        got
    }

    /// Position of the oldest byte.
    pub fn first(&self) -> u64 {
        self.total.saturating_sub(CAPACITY as u64)
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the next contiguous bytes for the host; empty if all are sent.
    pub fn unsent(&self) -> &[u8] {
        let at = (self.sent % CAPACITY as u64) as usize;
        let count = (self.total - self.sent).min((CAPACITY - at) as u64) as usize;
        &self.bytes[at..at + count]
    }

    pub fn sent(&mut self, count: usize) {
        self.sent += count as u64;
    }

    pub fn is_sent(&self) -> bool {
        self.sent == self.total
    }

    /// Marks all bytes as unsent, for another host.
    pub fn rewind(&mut self) {
        self.sent = self.first();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vivarium_sys::Errno;

    fn put(ring: &mut Ring, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let count = ring
                .fill(rest.len(), |into| {
                    into.copy_from_slice(&rest[..into.len()]);
                    Ok(into.len())
                })
                .unwrap();
            rest = &rest[count..];
        }
    }

    fn take(ring: &mut Ring) -> Vec<u8> {
        let mut all = Vec::new();
        while !ring.is_sent() {
            let count = ring.unsent().len();
            all.extend_from_slice(ring.unsent());
            ring.sent(count);
        }
        all
    }

    #[test]
    fn sentOutputIsAvailableForTheNextHost() {
        let mut ring = Ring::default();
        put(&mut ring, b"hello ");
        assert_eq!(take(&mut ring), b"hello ");
        put(&mut ring, b"world");
        assert_eq!(take(&mut ring), b"world");
        ring.rewind();
        assert_eq!((ring.first(), take(&mut ring)), (0, b"hello world".to_vec()));
    }

    #[test]
    fn onlyTheLastBytesAreKeptInTheirOrder() {
        let all: Vec<u8> = (0..CAPACITY * 5 / 2).map(|i| (i % 251) as u8).collect();
        let mut ring = Ring::default();
        for piece in all.chunks(7_777) {
            put(&mut ring, piece);
        }
        assert_eq!(ring.first() as usize, all.len() - CAPACITY);
        assert!(take(&mut ring) == all[all.len() - CAPACITY..]);
        ring.rewind();
        assert!(take(&mut ring) == all[all.len() - CAPACITY..]);
        assert!(ring.bytes.len() == CAPACITY);
    }

    #[test]
    fn aFailedReadChangesNothing() {
        let mut ring = Ring::default();
        put(&mut ring, b"x");
        assert!(ring.fill(100, |_| Err(Errno(libc::EAGAIN))).is_err());
        assert_eq!((ring.total(), take(&mut ring)), (1, b"x".to_vec()));
    }
}
