//! The loop: one turn takes what has happened, lets every channel do a slice of work, and sends what came of it.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use crate::absence::Absence;
use crate::connection::{Connection, Retry, hello};
use crate::dispatch;
use crate::listen::{self, Arrivals};
use crate::outbox::Outbox;
use crate::place::{CpuShare, DRAIN, Drains, Next, Place, Service, User, token};
use crate::sys::event::{self, Epoll, Event};
use crate::sys::{self, Fd, file, now_us, process};
use crate::tree;
use crate::wire::Violation;

/// Reads from the host in one turn at most; each is up to 64 KiB.
const READS: usize = 4;
/// After so long without any event the buffers are given back.
const REST_US: u64 = 1_000_000;

/// An open channel and whether it waits for its turn.
pub struct Channel {
    pub service: Box<dyn Service>,
    queued: bool,
}

/// The whole state of the program.
pub struct Guest<'a> {
    socket: &'a [u8],
    secret: Vec<u8>,
    signals: Fd,
    connection: Option<Connection>,
    retry: Retry,
    rest_at: Option<u64>,
    pub place: Place,
    pub channels: BTreeMap<u32, Channel>,
    queue: VecDeque<u32>,
}

impl<'a> Guest<'a> {
    /// How many processors commands may see; none: all.
    pub fn show_cpus(&mut self, count: u32) {
        self.place.cpus.count = count;
    }

    pub fn new(socket: &'a [u8], secret: Vec<u8>, workspace: Fd, user: User) -> sys::Result<Guest<'a>> {
        let poll = Epoll::new()?;
        let signals = event::signals()?;
        poll.add(&signals, token(0, 1), libc::EPOLLIN)?;
        let open_files = process::limit(libc::RLIMIT_NOFILE);
        let all = libc::rlimit { rlim_cur: open_files.rlim_max, ..open_files };
        process::set_limit(libc::RLIMIT_NOFILE, &all)?;
        let place = Place {
            poll,
            out: Outbox::default(),
            workspace,
            null: file::open(c"/dev/null", libc::O_RDWR)?,
            user,
            pids: BTreeMap::new(),
            drains: Drains::default(),
            arrivals: Arrivals::default(),
            cpus: CpuShare { allowed: process::allowed_cpus(), count: 0, next: 0 },
            absence: Absence::default(),
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
            rest_at: None,
            place,
            channels: BTreeMap::new(),
            queue: VecDeque::new(),
        })
    }

    /// Lives until it is told to shut down.
    pub fn run(mut self) -> ! {
        let mut events = [Event { events: 0, u64: 0 }; 64];
        loop {
            let count = self.place.poll.wait(&mut events, self.patience());
            for event in &events[..count] {
                self.notice(event.u64, event.events);
            }
            self.connect();
            self.receive();
            self.end_if_orphaned();
            self.tick(count > 0);
            self.work();
            self.flush();
        }
    }

    /// Microseconds until something is due; none if nothing is.
    fn patience(&self) -> Option<u64> {
        let work = !self.queue.is_empty() && self.place.can_work();
        let input =
            self.connection.as_ref().is_some_and(|connection| connection.readable) && !self.place.out.is_flooded();
        if work || input {
            return Some(0);
        }
        let deadlines = self.channels.values().filter_map(|channel| channel.service.deadline());
        let retry = self.connection.is_none().then_some(self.retry.at);
        let absence = self.place.absence.next_look();
        deadlines.chain(retry).chain(absence).chain(self.rest_at).min().map(|at| at.saturating_sub(now_us()))
    }

    fn notice(&mut self, token: u64, events: u32) {
        if token & DRAIN != 0 {
            return self.place.drains.empty((token & !DRAIN) as i32, &self.place.null);
        }
        let (channel, source) = ((token >> 8) as u32, token as u8);
        match (channel, source) {
            (0, 0) => {
                if let Some(connection) = &mut self.connection {
                    connection.wake(events);
                }
            }
            (0, _) => self.hear_signals(),
            _ => {
                if self.channels.get_mut(&channel).is_some_and(|channel| channel.service.wake(source, events)) {
                    self.enqueue(channel);
                }
            }
        }
    }

    fn hear_signals(&mut self) {
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
            let Some(number) = self.place.pids.remove(&child.pid) else { continue };
            let Some(channel) = self.channels.get_mut(&number) else { continue };
            channel.service.reaped(child);
            let kept = channel.service.running().is_some_and(|process| process.kept.is_some());
            if self.place.out.is_open() || kept {
                self.enqueue(number);
            } else {
                // Nobody will hear of it: the next handshake just does not list it.
                self.channels.remove(&number);
            }
        }
    }

    fn connect(&mut self) {
        if self.connection.is_some() || now_us() < self.retry.at {
            return;
        }
        self.retry.later();
        if let Ok(connection) = Connection::open(self.socket, &self.place.poll) {
            self.connection = Some(connection);
            self.place.out.reset(true);
            hello(&mut self.place.out.frames, &self.secret, &self.channels);
        }
    }

    fn receive(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        for _ in 0..READS {
            if !connection.readable || self.place.out.is_flooded() {
                break;
            }
            let fine = connection.fill().is_ok() && self.take_frames(&mut connection).is_ok();
            if !fine {
                return self.lose();
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

    /// A sandbox without a host ends when its grace is over: nobody would end it otherwise.
    fn end_if_orphaned(&mut self) {
        if self.connection.as_ref().is_some_and(|connection| connection.welcomed) {
            self.place.absence.end();
        } else if self.place.absence.is_over(now_us()) {
            self.shut_down();
        }
    }

    /// Processes stay, everything else ends with the connection; the caller drops the socket.
    fn lose(&mut self) {
        self.place.out.reset(false);
        self.queue.clear();
        let place = &mut self.place;
        self.channels.retain(|_, channel| {
            channel.queued = false;
            channel.service.lost(place)
        });
        self.place.arrivals = Arrivals::default();
        // What is kept reads on.
        let kept: Vec<u32> = self.channels.keys().copied().collect();
        kept.into_iter().for_each(|number| self.enqueue(number));
        self.retry.later();
    }

    fn tick(&mut self, eventful: bool) {
        if !eventful && self.rest_at.is_none() && self.channels.is_empty() {
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
            self.rest_at = Some(now + REST_US);
        } else if self.rest_at.is_some_and(|at| at <= now) {
            self.rest();
        }
    }

    fn rest(&mut self) {
        self.rest_at = None;
        self.place.out.rest();
        if let Some(connection) = &mut self.connection {
            connection.reader.rest();
        }
    }

    /// Gives each channel that has something to do one slice, as long as its output finds room.
    fn work(&mut self) {
        for _ in 0..self.queue.len() {
            if !self.place.can_work() {
                return;
            }
            let Some(number) = self.queue.pop_front() else { return };
            let Some(channel) = self.channels.get_mut(&number) else { continue };
            channel.queued = false;
            match channel.service.run(number, &mut self.place) {
                Next::Again => self.enqueue(number),
                Next::Wait => {}
                Next::Done => {
                    self.channels.remove(&number);
                    listen::left(self, number);
                }
            }
            if self.place.arrivals.any() {
                listen::admit(self);
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
        if self.place.out.flush(&connection.socket).is_err() {
            self.connection = None;
            self.lose();
        }
    }

    /// Takes every process along. As init it is enough to go: the kernel ends the others.
    pub fn shut_down(&mut self) -> ! {
        let own = process::own_pid();
        if own != 1 {
            tree::kill_below(own);
        }
        process::exit(0)
    }
}
