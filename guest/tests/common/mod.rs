//! Test host: starts a real guest without isolation and talks to it over the wire protocol.

#![allow(dead_code)]

mod wait;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub use vivarium_guest::request::service;
use vivarium_guest::wire::Frames;
pub use vivarium_guest::wire::{Fields, kind};
#[allow(unused_imports)]
pub use wait::{TIMEOUT, is_alive, until};

pub const SECRET: &str = "a secret of the test";

/// Failure codes.
pub mod code {
    pub const INVALID: u16 = 1;
    pub const NOT_FOUND: u16 = 2;
    pub const EXISTS: u16 = 4;
    pub const NOT_A_FILE: u16 = 5;
    pub const NOT_A_DIRECTORY: u16 = 6;
    pub const ESCAPES: u16 = 7;
    pub const BUSY: u16 = 17;
}

static COUNTER: AtomicU32 = AtomicU32::new(0);

pub struct Frame {
    pub channel: u32,
    pub kind: u8,
    pub payload: Vec<u8>,
}

/// Frames of a channel.
#[derive(Default, Debug)]
pub struct Outcome {
    pub started: Option<Vec<u8>>,
    pub streams: BTreeMap<u8, Vec<u8>>,
    pub eof: Vec<u8>,
    pub end: Vec<u8>,
    pub fail: Option<(u16, u32, u64, u64)>,
}

/// END of a command.
#[derive(Debug, PartialEq, Eq)]
pub struct Exit {
    pub cause: u8,
    pub code: i32,
    pub wall_us: u64,
    pub out: u64,
    pub err: u64,
}

impl Outcome {
    pub fn text(&self, stream: u8) -> String {
        String::from_utf8_lossy(self.streams.get(&stream).map_or(&[], Vec::as_slice)).into_owned()
    }

    pub fn exit(&self) -> Exit {
        assert_eq!(self.fail, None, "{self:?}");
        let mut f = Fields(&self.end);
        let (cause, code, wall_us) = (f.u8().unwrap(), f.u32().unwrap() as i32, f.u64().unwrap());
        let _ = (f.u64(), f.u64(), f.u64());
        Exit { cause, code, wall_us, out: f.u64().unwrap(), err: f.u64().unwrap() }
    }

    pub fn code(&self) -> u16 {
        self.fail.unwrap_or_else(|| panic!("the request did not fail: {self:?}")).0
    }
}

pub struct Host {
    pub folder: PathBuf,
    listener: UnixListener,
    pub stream: UnixStream,
    pub guest: Child,
    pub hello: Vec<u8>,
}

impl Host {
    pub fn start() -> Host {
        Host::start_with(&[])
    }

    /// Starts a guest with these options besides the usual ones.
    pub fn start_with(options: &[&str]) -> Host {
        Host::start_program(Path::new(env!("CARGO_BIN_EXE_vivarium-guest")), options)
    }

    pub fn start_binary(binary: &Path) -> Host {
        Host::start_program(binary, &[])
    }

    fn start_program(binary: &Path, options: &[&str]) -> Host {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("viv-guest-{}-{number}", std::process::id()));
        std::fs::create_dir_all(folder.join("workspace")).unwrap();
        let listener = UnixListener::bind(folder.join("socket")).unwrap();
        listener.set_nonblocking(true).unwrap();
        let guest = Command::new(binary)
            .args(["init", "--plain", "--socket"])
            .arg(folder.join("socket"))
            .arg("--workspace")
            .arg(folder.join("workspace"))
            .args(options)
            .env("VIV_SECRET", SECRET)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let (stream, hello) = accept_hello(&listener);
        Host { folder, listener, stream, guest, hello }
    }

    /// Drops the connection and waits for the next one.
    pub fn reconnect(&mut self) {
        self.stream.shutdown(std::net::Shutdown::Both).unwrap();
        (self.stream, self.hello) = accept_hello(&self.listener);
    }

    /// Accepts the next connection, which the guest has opened itself.
    pub fn accept_again(&mut self) {
        (self.stream, self.hello) = accept_hello(&self.listener);
    }

    /// Drops the connection and waits until the guest has reconnected, without accepting it.
    pub fn leave(&mut self) {
        self.stream.shutdown(std::net::Shutdown::Both).unwrap();
        let mut door = libc::pollfd { fd: self.listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the test owns the descriptor during the call.
        until("the guest connects", || unsafe { libc::poll(&mut door, 1, 0) } == 1);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join("workspace").join(name)
    }

    pub fn send(&mut self, channel: u32, kind: u8, fill: impl FnOnce(&mut Frames) -> &mut Frames) {
        let mut frames = Frames::default();
        fill(frames.begin(channel, kind));
        frames.end();
        self.stream.write_all(&frames.buffer).unwrap();
    }

    pub fn open(&mut self, channel: u32, service: u8, fill: impl FnOnce(&mut Frames) -> &mut Frames) {
        self.send(channel, kind::OPEN, |f| fill(f.u8(service)));
    }

    pub fn data(&mut self, channel: u32, bytes: &[u8]) {
        self.send(channel, kind::DATA, |f| f.u8(0).raw(bytes));
    }

    pub fn eof(&mut self, channel: u32) {
        self.send(channel, kind::EOF, |f| f.u8(0));
    }

    pub fn credit(&mut self, channel: u32, stream: u8, bytes: u32) {
        self.send(channel, kind::CREDIT, |f| f.u8(stream).u32(bytes));
    }

    pub fn frame(&mut self) -> Frame {
        read_frame(&mut self.stream).expect("the guest closed the connection")
    }

    pub fn is_closed(&mut self) -> bool {
        loop {
            match read_frame(&mut self.stream) {
                None => return true,
                Some(frame) if frame.kind == kind::PONG => return false,
                Some(_) => {}
            }
        }
    }

    pub fn ping(&mut self) {
        self.send(0, kind::PING, |f| f.u64(42));
        loop {
            let frame = self.frame();
            if frame.kind == kind::PONG {
                return assert_eq!(frame.payload, 42u64.to_be_bytes());
            }
        }
    }

    /// Reads until the end of the channel. Returns credit immediately.
    pub fn finish(&mut self, channel: u32) -> Outcome {
        let mut outcome = Outcome::default();
        while !self.step(channel, &mut outcome, true) {}
        outcome
    }

    /// Handles one frame. Returns true if it ends the channel.
    pub fn step(&mut self, channel: u32, outcome: &mut Outcome, repay: bool) -> bool {
        let frame = self.frame();
        if frame.channel != channel {
            return false;
        }
        match frame.kind {
            kind::STARTED => outcome.started = Some(frame.payload),
            kind::DATA => {
                let count = frame.payload.len() - 1;
                if repay {
                    self.credit(channel, frame.payload[0], count as u32);
                }
                outcome.streams.entry(frame.payload[0]).or_default().extend(&frame.payload[1..]);
            }
            kind::EOF => outcome.eof.push(frame.payload[0]),
            kind::FAIL => {
                let mut f = Fields(&frame.payload);
                outcome.fail = Some((f.u16().unwrap(), f.u32().unwrap(), f.u64().unwrap(), f.u64().unwrap()));
            }
            kind::END => outcome.end = frame.payload,
            _ => {}
        }
        matches!(frame.kind, kind::FAIL | kind::END)
    }

    pub fn exec(&mut self, channel: u32, command: &Run) {
        let name = command.kept.as_ref().map(String::as_bytes);
        self.open(channel, service::EXEC, |f| {
            let f = command.put(f);
            if let Some(name) = name { f.string(name) } else { f }
        });
    }

    pub fn shell(&mut self, script: &str) -> Outcome {
        self.shell_on(1, script)
    }

    pub fn shell_on(&mut self, channel: u32, script: &str) -> Outcome {
        self.exec(channel, &Run::shell(script));
        self.finish(channel)
    }

    /// Reads until the stream contains the text.
    pub fn await_text(&mut self, channel: u32, outcome: &mut Outcome, text: &str) {
        while !outcome.text(1).contains(text) {
            assert!(!self.step(channel, outcome, true), "{text} did not arrive: {outcome:?}");
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // The guest may have closed the connection.
        let told = self.stream.write_all(&[0, 0, 0, 0, 0, 0, 0, 0, kind::SHUTDOWN]).is_ok();
        let deadline = Instant::now() + TIMEOUT;
        while told && self.guest.try_wait().is_ok_and(|status| status.is_none()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.guest.kill();
        let _ = self.guest.wait();
        // Not remove_dir_all: it recurses, and deeply nested directories overflow the stack.
        let _ = Command::new("rm").arg("-rf").arg(&self.folder).status();
    }
}

fn accept_hello(listener: &UnixListener) -> (UnixStream, Vec<u8>) {
    let mut accepted = None;
    until("the guest connects", || {
        accepted = listener.accept().ok();
        accepted.is_some()
    });
    let (mut stream, _) = accepted.unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let hello = read_frame(&mut stream).unwrap();
    assert_eq!(hello.kind, kind::HELLO);
    stream.write_all(&[0, 0, 0, 2, 0, 0, 0, 0, kind::WELCOME, 0, 1]).unwrap();
    (stream, hello.payload)
}

/// Reads the next frame; none at the end of the connection. A timeout fails the test.
fn read_frame(stream: &mut UnixStream) -> Option<Frame> {
    let mut head = [0; 9];
    read_whole(stream, &mut head)?;
    let mut f = Fields(&head);
    let (length, channel, kind) = (f.u32().unwrap(), f.u32().unwrap(), f.u8().unwrap());
    let mut payload = vec![0; length as usize];
    read_whole(stream, &mut payload)?;
    Some(Frame { channel, kind, payload })
}

fn read_whole(stream: &mut UnixStream, bytes: &mut [u8]) -> Option<()> {
    let error = match stream.read_exact(bytes) {
        Ok(()) => return Some(()),
        Err(error) => error,
    };
    assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "the guest sent nothing for {TIMEOUT:?}");
    None
}

/// A command to run.
pub struct Run {
    pub credit: u32,
    pub with_input: bool,
    pub timeout_ms: u64,
    pub idle_timeout_ms: u64,
    pub output_limit: u64,
    pub cwd: &'static str,
    pub argv: Vec<String>,
    /// Name of a kept process.
    pub kept: Option<String>,
}

impl Run {
    pub fn of(argv: &[&str]) -> Run {
        Run {
            credit: 1 << 20,
            with_input: false,
            timeout_ms: 0,
            idle_timeout_ms: 0,
            output_limit: 0,
            cwd: "",
            argv: argv.iter().map(|argument| argument.to_string()).collect(),
            kept: None,
        }
    }

    pub fn shell(script: &str) -> Run {
        Run::of(&["sh", "-c", script])
    }

    pub fn put<'a>(&self, f: &'a mut Frames) -> &'a mut Frames {
        let flags = u8::from(self.with_input) | u8::from(self.kept.is_some()) << 1;
        f.u32(self.credit).u8(flags).u32(1000).u32(1000);
        f.u64(self.timeout_ms).u64(self.idle_timeout_ms).u64(self.output_limit).string(self.cwd.as_bytes());
        f.u32(self.argv.len() as u32);
        for argument in &self.argv {
            f.string(argument.as_bytes());
        }
        f.u32(2).string(b"PATH=/usr/local/bin:/usr/bin:/bin").string(b"GREETING=hello")
    }
}

/// Request to write a file.
pub struct Put<'a> {
    pub path: &'a str,
    pub flags: u8,
    pub limits: [u64; 3],
    pub content: &'a [u8],
}

impl Put<'_> {
    /// Opens the channel. The content follows.
    pub fn begin(&self, host: &mut Host, channel: u32) {
        let [size, files, total] = self.limits;
        host.open(channel, service::WRITE, |f| {
            f.string(self.path.as_bytes()).u32(0o640).u8(self.flags).u64(size).u64(files).u64(total)
        });
    }
}
