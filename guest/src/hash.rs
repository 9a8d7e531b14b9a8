//! SHA-256 of a file, so that the host can compare contents without a transfer.

use alloc::boxed::Box;

use sha2::{Digest, Sha256};

use crate::context::{Context, Next, Opened, Service};
use crate::fail::{Code, Fail};
use crate::files::{open_file, put_stat};
use crate::wire::kind;
use vivarium_sys::Fd;
use vivarium_sys::file::{Stat, stat_of};

/// Bytes hashed in one turn: less than a millisecond without hardware support.
const SLICE: usize = 128 * 1024;
const PIECE: usize = 16 * 1024;

/// Hash of a file in progress.
struct Hashing {
    file: Fd,
    /// Status at the time of opening.
    stat: Stat,
    offset: u64,
    digest: Sha256,
    closed: bool,
}

/// Opens a regular file; fails for any other type.
pub fn open(path: &[u8], context: &mut Context) -> Opened {
    let (file, stat) = open_file(path, context)?;
    Ok(Some(Box::new(Hashing { file, stat, offset: 0, digest: Sha256::new(), closed: false })))
}

impl Hashing {
    /// Hashes one slice. Returns true at the size that the file had when it was opened.
    fn take_some(&mut self) -> Result<bool, Fail> {
        let mut piece = [0; PIECE];
        for _ in 0..SLICE / PIECE {
            let room = (self.stat.size - self.offset).min(PIECE as u64) as usize;
            let count = self.file.read_at(&mut piece[..room], self.offset);
            let count = count.map_err(|error| Fail::of(error, "cannot read the file"))?;
            self.digest.update(&piece[..count]);
            self.offset += count as u64;
            if count == 0 || self.offset == self.stat.size {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn end(&mut self, channel: u32, context: &mut Context) -> Result<(), Fail> {
        let now = stat_of(&self.file).map_err(|error| Fail::of(error, "cannot stat the file"))?;
        let steady = self.offset == self.stat.size && now.size == self.stat.size && now.mtime_ns == self.stat.mtime_ns;
        let out = &mut context.out.frames;
        put_stat(out.begin(channel, kind::END), &self.stat);
        out.string(&self.digest.finalize_reset()).u8(steady.into()).end();
        Ok(())
    }

    fn advance(&mut self, channel: u32, context: &mut Context) -> Result<Next, Fail> {
        if self.closed {
            return Err(Fail::new(Code::Invalid, "closed by the host"));
        }
        if !self.take_some()? {
            return Ok(Next::Again);
        }
        self.end(channel, context).map(|()| Next::Done)
    }
}

impl Service for Hashing {
    fn run(&mut self, channel: u32, context: &mut Context) -> Next {
        self.advance(channel, context).unwrap_or_else(|fail| {
            fail.send(channel, &mut context.out.frames);
            Next::Done
        })
    }

    fn close(&mut self, _place: &mut Context) {
        self.closed = true;
    }
}
