//! Event loop. One turn handles events, runs one slice of work for each channel, and sends the frames.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use crate::connection::{Connection, Retry, hello};
use crate::context::{Context, CpuShare, DRAIN, Drains, Next, Service, User, token};
use crate::dispatch;
use crate::listen::{self, IncomingConnections};
use crate::orphan_timer::OrphanTimer;
use crate::outbox::Outbox;
use crate::wire::Violation;
use vivarium_sys::event::{self, Epoll, Event};
use vivarium_sys::tree;
use vivarium_sys::{Fd, file, now_us, process};

/// Largest number of reads from the host in one turn, each up to 64 KiB.
const READS: usize = 4;
/// Time without events after which the guest releases its buffers.
const RELEASE_AFTER_US: u64 = 1_000_000;

/// Open channel and whether it is in the run queue.
pub struct Channel {
    pub service: Box<dyn Service>,
    queued: bool,
}

/// State of the program.
pub struct Guest<'a> {
    socket: &'a [u8],
    secret: Vec<u8>,
    signals: Fd,
    connection: Option<Connection>,
    retry: Retry,
    release_at: Option<u64>,
    pub context: Context,
    pub channels: BTreeMap<u32, Channel>,
    queue: VecDeque<u32>,
}

impl<'a> Guest<'a> {
    /// Limits the number of processors for commands; 0 means all.
    pub fn limit_cpus(&mut self, count: u32) {
        self.context.cpus.count = count;
    }

    pub fn new(socket: &'a [u8], secret: Vec<u8>, workspace: Fd, user: User) -> vivarium_sys::Result<Guest<'a>> {
        let poll = Epoll::new()?;
        let signals = event::signals()?;
        poll.add(&signals, token(0, 1), libc::EPOLLIN)?;
        let open_files = process::limit(libc::RLIMIT_NOFILE);
        let all = libc::rlimit { rlim_cur: open_files.rlim_max, ..open_files };
        process::set_limit(libc::RLIMIT_NOFILE, &all)?;
        let context = Context {
            poll,
            out: Outbox::default(),
            workspace,
            null: file::open(c"/dev/null", libc::O_RDWR)?,
            user,
            pids: BTreeMap::new(),
            drains: Drains::default(),
            incoming: IncomingConnections::default(),
            cpus: CpuShare { allowed: process::affinity(), count: 0, next: 0 },
            orphan_timer: OrphanTimer::default(),
            open_files,
            started_us: now_us(),
            counter: 0,
        };
        Ok(Guest {
            socket,
            secret,
            signals,
            connection: None,
            retry: Retry::default(),
            release_at: None,
            context,
            channels: BTreeMap::new(),
            queue: VecDeque::new(),
        })
    }

    /// Runs until shutdown.
    pub fn run(mut self) -> ! {
        let mut events = [Event { events: 0, u64: 0 }; 64];
        loop {
            let count = self.context.poll.wait(&mut events, self.timeout());
            for event in &events[..count] {
                self.handle_event(event.u64, event.events);
            }
            self.connect();
            self.receive();
            self.end_if_orphaned();
            self.tick(count > 0);
            self.work();
            self.flush();
        }
    }

    /// Microseconds until the next deadline; none without one.
    fn timeout(&self) -> Option<u64> {
        let work = !self.queue.is_empty() && self.context.can_work();
        let input =
            self.connection.as_ref().is_some_and(|connection| connection.readable) && !self.context.out.is_flooded();
        if work || input {
            return Some(0);
        }
        let deadlines = self.channels.values().filter_map(|channel| channel.service.deadline());
        let retry = self.connection.is_none().then_some(self.retry.at);
        let orphan = self.context.orphan_timer.next_check();
        deadlines.chain(retry).chain(orphan).chain(self.release_at).min().map(|at| at.saturating_sub(now_us()))
    }

    fn handle_event(&mut self, token: u64, events: u32) {
        if token & DRAIN != 0 {
            return self.context.drains.discard((token & !DRAIN) as i32, &self.context.null);
        }
        let (channel, source) = ((token >> 8) as u32, token as u8);
        match (channel, source) {
            (0, 0) => {
                if let Some(connection) = &mut self.connection {
                    connection.wake(events);
                }
            }
            (0, _) => self.read_signals(),
            _ => {
                if self.channels.get_mut(&channel).is_some_and(|channel| channel.service.wake(source, events)) {
                    self.enqueue(channel);
                }
            }
        }
    }

    fn read_signals(&mut self) {
        let signals = event::pending_signals(&self.signals);
        if signals & 1 << libc::SIGTERM != 0 {
            self.shut_down();
        }
        if signals & 1 << libc::SIGCHLD != 0 {
            self.reap();
        }
    }

    fn reap(&mut self) {
        while let Some(child) = process::reap() {
            let Some(number) = self.context.pids.remove(&child.pid) else { continue };
            let Some(channel) = self.channels.get_mut(&number) else { continue };
            channel.service.reaped(child);
            let kept = channel.service.running().is_some_and(|process| process.kept.is_some());
            if self.context.out.is_open() || kept {
                self.enqueue(number);
            } else {
                // There is no host to notify. The next handshake does not list the process.
                self.channels.remove(&number);
            }
        }
    }

    fn connect(&mut self) {
        if self.connection.is_some() || now_us() < self.retry.at {
            return;
        }
        self.retry.later();
        if let Ok(connection) = Connection::open(self.socket, &self.context.poll) {
            self.connection = Some(connection);
            self.context.out.reset(true);
            hello(&mut self.context.out.frames, &self.secret, &self.channels);
        }
    }

    fn receive(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        for _ in 0..READS {
            if !connection.readable || self.context.out.is_flooded() {
                break;
            }
            let fine = connection.fill().is_ok() && self.take_frames(&mut connection).is_ok();
            if !fine {
                return self.disconnect();
            }
        }
        self.connection = Some(connection);
    }

    fn take_frames(&mut self, connection: &mut Connection) -> Result<(), Violation> {
        while let Some(frame) = connection.reader.next_frame()? {
            if connection.welcomed {
                dispatch::frame(self, &frame)?;
            } else {
                dispatch::welcome(&frame)?;
                connection.welcomed = true;
                self.retry = Retry::default();
            }
        }
        Ok(())
    }

    /// Shuts down when the grace without a host is over.
    fn end_if_orphaned(&mut self) {
        if self.connection.as_ref().is_some_and(|connection| connection.welcomed) {
            self.context.orphan_timer.reset();
        } else if self.context.orphan_timer.is_over(now_us()) {
            self.shut_down();
        }
    }

    /// Ends all channels but those of processes. The caller drops the socket.
    fn disconnect(&mut self) {
        self.context.out.reset(false);
        self.queue.clear();
        let context = &mut self.context;
        self.channels.retain(|_, channel| {
            channel.queued = false;
            channel.service.disconnected(context)
        });
        self.context.incoming = IncomingConnections::default();
        // Kept processes continue to read their output.
        let kept: Vec<u32> = self.channels.keys().copied().collect();
        kept.into_iter().for_each(|number| self.enqueue(number));
        self.retry.later();
    }

    fn tick(&mut self, eventful: bool) {
        if !eventful && self.release_at.is_none() && self.channels.is_empty() {
            return;
        }
        let now = now_us();
        let due: Vec<u32> = self
            .channels
            .iter()
            .filter(|(_, c)| c.service.deadline().is_some_and(|at| at <= now))
            .map(|(n, _)| *n)
            .collect();
        for number in due {
            if let Some(channel) = self.channels.get_mut(&number) {
                channel.service.tick(now);
            }
            self.enqueue(number);
        }
        if eventful {
            self.release_at = Some(now + RELEASE_AFTER_US);
        } else if self.release_at.is_some_and(|at| at <= now) {
            self.release_buffers();
        }
    }

    fn release_buffers(&mut self) {
        self.release_at = None;
        self.context.out.release();
        if let Some(connection) = &mut self.connection {
            connection.reader.release();
        }
    }

    /// Runs one slice of each queued channel while the send queue has room.
    fn work(&mut self) {
        for _ in 0..self.queue.len() {
            if !self.context.can_work() {
                return;
            }
            let Some(number) = self.queue.pop_front() else { return };
            let Some(channel) = self.channels.get_mut(&number) else { continue };
            channel.queued = false;
            match channel.service.run(number, &mut self.context) {
                Next::Again => self.enqueue(number),
                Next::Wait => {}
                Next::Done => {
                    self.channels.remove(&number);
                    listen::channel_ended(self, number);
                }
            }
            if self.context.incoming.any_pending() {
                listen::open_pending(self);
            }
        }
    }

    pub fn enqueue(&mut self, number: u32) {
        if let Some(channel) = self.channels.get_mut(&number)
            && !channel.queued
        {
            channel.queued = true;
            self.queue.push_back(number);
        }
    }

    pub fn insert(&mut self, number: u32, service: Box<dyn Service>) {
        self.channels.insert(number, Channel { service, queued: false });
        self.enqueue(number);
    }

    fn flush(&mut self) {
        let Some(connection) = &self.connection else { return };
        if self.context.out.flush(&connection.socket).is_err() {
            self.connection = None;
            self.disconnect();
        }
    }

    /// Ends all processes and exits. When init exits, the kernel kills the other processes.
    pub fn shut_down(&mut self) -> ! {
        let own = process::own_pid();
        if own != 1 {
            tree::kill_below(own);
        }
        process::exit(0)
    }
}
