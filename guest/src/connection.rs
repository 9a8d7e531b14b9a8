//! Connection to the host, with handshake and reconnection.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::context::token;
use crate::guest::Channel;
use crate::request::service;
use crate::wire::{FrameReader, Frames, GENERATION, kind};
use vivarium_sys::event::Epoll;
use vivarium_sys::{Errno, Fd, Result, now_us, socket};

const SHORTEST_PAUSE_US: u64 = 1_000;
const LONGEST_PAUSE_US: u64 = 100_000;

/// Backoff between connection attempts. The first delays are short, because the host may be about to listen.
pub struct Retry {
    pub at: u64,
    pause_us: u64,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry { at: 0, pause_us: SHORTEST_PAUSE_US }
    }
}

impl Retry {
    pub fn later(&mut self) {
        self.at = now_us() + self.pause_us;
        self.pause_us = (self.pause_us * 2).min(LONGEST_PAUSE_US);
    }
}

/// Size of the socket buffer: two batches of bulk output, so that guest and host work in parallel.
const SEND_BUFFER: i32 = 512 * 1024;

/// Socket to the host and its received bytes.
pub struct Connection {
    pub socket: Fd,
    pub reader: FrameReader,
    /// The guest has received WELCOME.
    pub welcomed: bool,
    pub readable: bool,
    /// The host has closed its end. The socket stays readable until the guest has read the end of file.
    hung_up: bool,
}

impl Connection {
    pub fn open(path: &[u8], poll: &Epoll) -> Result<Connection> {
        let socket = socket::connect_unix(path)?;
        socket::widen(&socket, SEND_BUFFER);
        let interest = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP;
        poll.add(&socket, token(0, 0), interest)?;
        Ok(Connection { socket, reader: FrameReader::default(), welcomed: false, readable: false, hung_up: false })
    }

    /// Records an event of the socket. Events are edge-triggered, so each arrives once.
    pub fn wake(&mut self, events: u32) {
        let gone = (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;
        self.hung_up |= events & gone != 0;
        self.readable |= events & (gone | libc::EPOLLIN as u32) != 0;
    }

    /// Reads once. Returns false without data, and an error when the connection is closed.
    pub fn fill(&mut self) -> Result<bool> {
        match self.reader.fill(|into| self.socket.read(into)) {
            Ok((0, _)) => Err(Errno(libc::ECONNRESET)),
            Ok((_, full)) => {
                self.readable = full || self.hung_up;
                Ok(true)
            }
            Err(Errno(libc::EAGAIN)) => {
                self.readable = false;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Writes HELLO, the first frame of a connection.
pub fn hello(out: &mut Frames, secret: &[u8], channels: &BTreeMap<u32, Channel>) {
    let running: Vec<_> =
        channels.iter().filter_map(|(number, channel)| Some((*number, channel.service.running()?))).collect();
    out.begin(0, kind::HELLO)
        .raw(b"VIVG")
        .u16(GENERATION)
        .u64(service::FEATURES)
        .string(secret)
        .string(concat!("vivarium-guest ", env!("CARGO_PKG_VERSION")).as_bytes())
        .u32(running.len() as u32);
    for (number, process) in &running {
        out.u32(*number).u8(process.service).u32(process.pid as u32).i64(process.started_ms);
    }
    let kept: Vec<_> = running.iter().filter_map(|(number, process)| Some((*number, process.kept?))).collect();
    out.u32(kept.len() as u32);
    for (number, name) in kept {
        out.u32(number).string(name);
    }
    out.end();
}
