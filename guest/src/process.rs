//! Service of a running command.

use alloc::boxed::Box;

use crate::context::{Context, Next, Running, Service, token};
use crate::pty;
use crate::request::service;
use crate::streams::{Inbound, Outbound, ReadResult};
use crate::wire::{Violation, kind};
use vivarium_sys::file::readable_bytes;
use vivarium_sys::process::{self, Reaped};
use vivarium_sys::tree;
use vivarium_sys::{Fd, now_unix_ms, now_us};

/// Bytes read from one command in one turn.
const SLICE: usize = 256 * 1024;

/// Reason in END for the end of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Cause {
    Exited = 0,
    Signalled = 1,
    TimedOut = 2,
    Idle = 3,
    Closed = 4,
    Detached = 5,
}

/// Limits of run time and of time without output, in microseconds; none means no limit.
/// Create the limits before the command, because their time starts then. On a busy machine the command may run for
/// some time before the guest runs again.
pub struct Limits {
    since_us: u64,
    wall: Option<u64>,
    idle: Option<u64>,
}

impl Limits {
    pub fn new(wall_ms: u64, idle_ms: u64) -> Limits {
        let limit = |ms: u64| (ms > 0).then(|| ms.saturating_mul(1000));
        Limits { since_us: now_us(), wall: limit(wall_ms), idle: limit(idle_ms) }
    }
}

/// Mode of a command.
pub struct Mode {
    pub terminal: bool,
    /// Name for the next host, if the process is kept.
    pub kept: Option<Box<[u8]>>,
}

/// Running command with its streams and limits.
pub struct Process {
    pid: i32,
    terminal: bool,
    kept: Option<Box<[u8]>>,
    stdin: Option<Fd>,
    input: Inbound,
    outputs: [(Option<Fd>, Outbound); 2],
    limits: Limits,
    started_us: u64,
    started_ms: i64,
    last_output_us: u64,
    /// Reason if the guest has killed it.
    killed: Option<Cause>,
    ended: Option<(Reaped, u64)>,
    /// The process has no connection to a host.
    orphaned: bool,
}

impl Process {
    pub fn new(
        pid: i32,
        mode: Mode,
        stdin: Option<Fd>,
        outputs: [(Option<Fd>, Outbound); 2],
        limits: Limits,
    ) -> Process {
        let started_us = limits.since_us;
        Process {
            pid,
            terminal: mode.terminal,
            kept: mode.kept,
            stdin,
            input: Inbound::default(),
            outputs,
            limits,
            started_us,
            started_ms: now_unix_ms(),
            last_output_us: started_us,
            killed: None,
            ended: None,
            orphaned: false,
        }
    }

    fn kill(&mut self, cause: Cause) {
        if self.ended.is_none() && self.killed.is_none() {
            self.killed = Some(cause);
            tree::kill(self.pid);
        }
    }

    fn write_input(&mut self, channel: u32, context: &mut Context) {
        let fd = if self.terminal { self.outputs[0].0.as_ref() } else { self.stdin.as_ref() };
        self.input.pump(fd);
        if self.input.is_done() || self.input.is_broken() {
            self.stdin = None;
        }
        if !self.orphaned {
            self.input.return_credit(channel, &mut context.out);
        }
    }

    fn read(&mut self, channel: u32, context: &mut Context) {
        let mut budget = SLICE;
        let mut read = false;
        for (source, (slot, output)) in (1..).zip(&mut self.outputs) {
            while let Some(fd) = slot
                && output.is_runnable()
                && budget > 0
                && context.out.has_room()
            {
                match output.read(fd, !self.terminal, channel, &mut context.out) {
                    Ok(ReadResult::Bytes(count)) => {
                        budget = budget.saturating_sub(count);
                        read = true;
                    }
                    Ok(ReadResult::WouldBlock) => {}
                    // The read of a terminal fails with EIO after its peer is closed.
                    Ok(ReadResult::End) | Err(_) => *slot = None,
                }
            }
            if let Some(fd) = slot {
                output.update_interest(fd, token(channel, source), &context.poll);
            }
        }
        if read && self.limits.idle.is_some() {
            self.last_output_us = now_us();
        }
    }

    /// Reads output of a kept command through its ring, with and without a connection.
    fn read_kept(&mut self, channel: u32, context: &mut Context) {
        let mut budget = SLICE;
        let (terminal, connected) = (self.terminal, !self.orphaned);
        for (slot, output) in &mut self.outputs {
            loop {
                if connected {
                    output.send_from_ring(channel, &mut context.out);
                }
                let open = !connected || (output.is_sent() && output.credit > 0 && context.out.has_room());
                let Some(fd) = slot.as_ref().filter(|_| open && output.is_readable() && budget > 0) else { break };
                match output.read_into_ring(fd, !terminal, connected) {
                    Ok(ReadResult::Bytes(count)) => {
                        budget = budget.saturating_sub(count);
                        self.last_output_us = now_us();
                    }
                    Ok(ReadResult::WouldBlock) => {}
                    Ok(ReadResult::End) | Err(_) => *slot = None,
                }
            }
        }
    }

    /// Reports whether output can be read or sent now.
    fn is_runnable(&self) -> bool {
        self.outputs.iter().any(|(fd, output)| match (self.kept.is_some(), self.orphaned) {
            (true, true) => fd.is_some() && output.is_readable(),
            (true, false) => output.credit > 0 && (!output.is_sent() || fd.is_some() && output.is_readable()),
            (false, orphaned) => !orphaned && fd.is_some() && output.is_runnable(),
        })
    }

    /// Reports whether all output up to the exit is sent.
    fn is_drained(&self) -> bool {
        if self.kept.is_some() && (self.orphaned || self.outputs.iter().any(|(_, output)| !output.is_sent())) {
            return false;
        }
        self.orphaned
            || self
                .outputs
                .iter()
                .all(|(fd, output)| fd.is_none() || output.last == Some(0) || (self.terminal && !output.ready))
    }

    fn send_end(&self, channel: u32, cause: Cause, code: i32, context: &mut Context) {
        let (child, at) = match &self.ended {
            Some((child, at)) => (Some(child), *at),
            None => (None, now_us()),
        };
        context
            .out
            .frames
            .begin(channel, kind::END)
            .u8(cause as u8)
            .i32(code)
            .u64(at - self.started_us)
            .u64(child.map_or(0, |child| child.user_us))
            .u64(child.map_or(0, |child| child.system_us))
            .u64(child.map_or(0, |child| child.max_rss))
            .u64(self.outputs[0].1.total)
            .u64(self.outputs[1].1.total)
            .end();
    }

    fn outcome(&self, status: i32) -> (Cause, i32) {
        match (self.killed, libc::WIFSIGNALED(status)) {
            // If the command exited before the kill, its own status counts.
            (Some(cause), true) => (cause, libc::SIGKILL),
            (_, true) => (Cause::Signalled, libc::WTERMSIG(status)),
            (_, false) => (Cause::Exited, libc::WEXITSTATUS(status)),
        }
    }

    /// Drops the kept output.
    fn discard_kept_output(&mut self) {
        self.kept = None;
        for (_, output) in &mut self.outputs {
            output.ring = None;
        }
    }

    /// Discards further output of processes that still write to the streams.
    fn drain_output(&mut self, context: &mut Context) {
        self.stdin = None;
        for (slot, _) in &mut self.outputs {
            if let Some(fd) = slot.take() {
                context.drains.add(&context.poll, fd);
            }
        }
    }
}

impl Service for Process {
    fn run(&mut self, channel: u32, context: &mut Context) -> Next {
        if self.kept.is_some() {
            self.write_input(channel, context);
            self.read_kept(channel, context);
        } else if !self.orphaned {
            self.write_input(channel, context);
            self.read(channel, context);
        }
        if let Some((child, _)) = &self.ended
            && self.is_drained()
        {
            let (cause, code) = self.outcome(child.status);
            self.send_end(channel, cause, code, context);
            if self.terminal {
                self.outputs[0].0 = None;
            }
            self.drain_output(context);
            return Next::Done;
        }
        if self.is_runnable() { Next::Again } else { Next::Wait }
    }

    fn wake(&mut self, source: u8, events: u32) -> bool {
        if let Some((_, output)) = usize::from(source).checked_sub(1).and_then(|index| self.outputs.get_mut(index)) {
            output.wake(events);
        }
        true
    }

    fn data(&mut self, stream: u8, bytes: &[u8], _place: &mut Context) -> Result<(), Violation> {
        if stream != 0 {
            return Err(Violation);
        }
        let fd = if self.terminal { self.outputs[0].0.as_ref() } else { self.stdin.as_ref() };
        self.input.push(fd, bytes)
    }

    fn eof(&mut self, _stream: u8) {
        // A terminal has no end of input other than a typed Ctrl-D.
        if !self.terminal {
            self.input.end();
        }
    }

    fn credit(&mut self, stream: u8, bytes: u32) {
        for (_, output) in &mut self.outputs {
            if output.stream == stream {
                output.credit = output.credit.saturating_add(bytes.into());
            }
        }
    }

    fn close(&mut self, context: &mut Context) {
        self.kill(Cause::Closed);
        self.discard_kept_output();
        self.drain_output(context);
    }

    fn disconnected(&mut self, context: &mut Context) -> bool {
        self.orphaned = true;
        if self.kept.is_some() {
            return true;
        }
        if self.ended.is_some() {
            self.drain_output(context);
        }
        self.ended.is_none()
    }

    fn attach(&mut self, channel: u32, credit: u32, context: &mut Context) -> bool {
        if self.kept.is_none() || !self.orphaned {
            return false;
        }
        self.orphaned = false;
        self.input.attach();
        let [out, err] = &mut self.outputs;
        let (out, err) = (out.1.attach(credit), err.1.attach(credit));
        context.out.frames.begin(channel, kind::STARTED).u32(self.pid as u32).u64(out).u64(err).end();
        true
    }

    fn detach(&mut self, channel: u32, context: &mut Context) -> bool {
        self.discard_kept_output();
        if self.ended.is_none() {
            context.pids.remove(&self.pid);
            self.send_end(channel, Cause::Detached, 0, context);
            self.drain_output(context);
        }
        self.ended.is_none()
    }

    fn signal(&mut self, signal: u8, whole_tree: bool) {
        if self.ended.is_some() || signal > 64 {
            return;
        }
        if whole_tree {
            tree::signal(self.pid, signal.into());
        } else {
            let _ = process::kill(self.pid, signal.into());
        }
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        if let (true, Some(master)) = (self.terminal, &self.outputs[0].0) {
            let _ = pty::resize(master, columns, rows);
        }
    }

    fn reaped(&mut self, child: Reaped) {
        self.ended = Some((child, now_us()));
        for (slot, output) in &mut self.outputs {
            if let Some(fd) = slot {
                output.ready = true;
                if !self.terminal {
                    output.last = Some(readable_bytes(fd).unwrap_or(0));
                }
            }
        }
    }

    fn running(&self) -> Option<Running<'_>> {
        let service = if self.terminal { service::PTY } else { service::EXEC };
        Some(Running { service, pid: self.pid, started_ms: self.started_ms, kept: self.kept.as_deref() })
    }

    fn deadline(&self) -> Option<u64> {
        if self.ended.is_some() || self.killed.is_some() {
            return None;
        }
        let wall = self.limits.wall.map(|limit| self.started_us.saturating_add(limit));
        let idle = self.limits.idle.map(|limit| self.last_output_us.saturating_add(limit));
        let polls = self.outputs.iter().filter_map(|(_, output)| output.poll_at());
        wall.into_iter().chain(idle).chain(polls).min()
    }

    fn tick(&mut self, now_us: u64) {
        for (_, output) in &mut self.outputs {
            output.poll_if_due(now_us);
        }
        let over = |since: u64, limit: Option<u64>| limit.is_some_and(|limit| now_us >= since.saturating_add(limit));
        if over(self.started_us, self.limits.wall) {
            self.kill(Cause::TimedOut);
        } else if over(self.last_output_us, self.limits.idle) {
            // Unread output, which waits for credit or a connection, counts as activity.
            if self.outputs.iter().any(|(fd, output)| fd.is_some() && output.ready) {
                self.last_output_us = now_us;
            } else {
                self.kill(Cause::Idle);
            }
        }
    }
}
