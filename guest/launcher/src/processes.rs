//! Reporter of the processes in machines: start and exit of each process that a program inside started.
//!
//! The server writes `watch ID PID` to standard input for the init process of each new machine, `adopt ID PID` for a
//! machine of an earlier server, and `forget ID` before it removes a machine. The first line on standard output is `ready`, or the reason why the kernel reports nothing. The
//! next lines are `started ID PID COMMAND`, `exited ID PID STATUS MILLISECONDS` and `omitted ID COUNT`, with process
//! ids of the machine. The reporter exits with the server.
//!
//! The reporter follows the forks of each init process. The guest starts the commands of the server, which have events
//! of their own, so the reporter reports only the descendants of the children of init. A machine has a bounded rate of
//! reports; the reporter counts the other processes without a look at them.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::ffi::CString;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use vivarium_sys::connector::{Connector, ProcessEvent};
use vivarium_sys::tree;
use vivarium_sys::{Errno, Fd, event, file, now_us, process};

/// Reports of a machine at once, and per second after that.
const BURST: u64 = 20;
const PER_SECOND: u64 = 10;
/// Interval of the lines `omitted`, and of the scans after lost events.
const PERIOD_US: u64 = 1_000_000;
const PERIOD_MS: u32 = 500;
/// Number of events in a window from which on the reporter collects events for a while instead of waking up for each.
const FLOOD: usize = 200;
const FLOOD_WINDOW_US: u64 = 100_000;
const FLOOD_PAUSE_MS: u32 = 10;
/// A command needs longer than this to start its first process, so the reporter wakes up once for fork and exec of the
/// command.
const COMMAND_PAUSE_MS: u32 = 1;
/// Largest number of events until the input has its turn.
const MOST_EVENTS: usize = 1024;
const NICE: i32 = -15;
/// Longest command line. Writes of this size to a pipe are atomic.
const LONGEST_COMMAND: usize = 3072;

/// Runs until standard input ends.
pub fn report() -> ! {
    let output = Fd::owned(1);
    // Best effort: a short process ends before a late reporter has read its command line.
    let _ = process::set_nice(0, NICE);
    let connector = match Connector::subscribe() {
        Ok(connector) => connector,
        Err(error) => {
            let _ = output.write(format!("{}\n", reason(error)).as_bytes());
            process::exit(0)
        }
    };
    if output.write(b"ready\n").is_ok() {
        Reporter::new(output).run(&Fd::owned(0), &connector);
    }
    drop(connector);
    process::exit(0)
}

fn reason(error: Errno) -> String {
    match error.0 {
        libc::ENOSYS => String::from("the kernel has no process events, or the server runs in a container"),
        libc::EPROTONOSUPPORT => {
            String::from("the kernel has no process connector, or the server has its own network namespace")
        }
        _ => format!("subscribe to process events: errno {}", error.0),
    }
}

struct Machine {
    id: String,
    rate: Rate,
    /// Processes since the last line `omitted`.
    omitted: u32,
}

/// Token bucket. A token has a million parts, so that microseconds need no division.
struct Rate {
    parts: u64,
    filled_us: u64,
}

impl Rate {
    const TOKEN: u64 = 1_000_000;

    fn full(now_us: u64) -> Rate {
        Rate { parts: BURST * Rate::TOKEN, filled_us: now_us }
    }

    fn take(&mut self, now_us: u64) -> bool {
        self.parts = (self.parts + (now_us - self.filled_us) * PER_SECOND).min(BURST * Rate::TOKEN);
        self.filled_us = now_us;
        let enough = self.parts >= Rate::TOKEN;
        if enough {
            self.parts -= Rate::TOKEN;
        }
        enough
    }
}

/// Process of a machine, by its process id on the host.
struct Process {
    /// Number of the machine.
    machine: u32,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Init,
    /// The guest started it. It has command events.
    Command,
    /// It runs the program of its parent.
    Forked,
    Reported {
        pid: i32,
        at_ns: u64,
    },
    Omitted,
}

struct Reporter {
    output: Fd,
    machines: BTreeMap<u32, Machine>,
    processes: BTreeMap<i32, Process>,
    last_machine: u32,
    /// Incomplete last line of the input.
    input: Vec<u8>,
    owes_omitted: bool,
    /// The kernel dropped events, or a machine of an earlier server has processes.
    misses_processes: bool,
    period_began_us: u64,
    window_began_us: u64,
    window_events: usize,
    command_started: bool,
    ended: bool,
}

impl Reporter {
    fn new(output: Fd) -> Reporter {
        Reporter {
            output,
            machines: BTreeMap::new(),
            processes: BTreeMap::new(),
            last_machine: 0,
            input: Vec::new(),
            owes_omitted: false,
            misses_processes: false,
            period_began_us: 0,
            window_began_us: 0,
            window_events: 0,
            command_started: false,
            ended: false,
        }
    }

    fn run(&mut self, input: &Fd, connector: &Connector) {
        while !self.ended {
            let timeout = (self.owes_omitted || self.misses_processes).then_some(PERIOD_MS);
            // A machine is known before the events of its processes.
            if event::first_readable(&[input, connector.fd()], timeout) == Some(true) {
                self.read_input(input);
            }
            let handled = self.drain(connector);
            self.tick(now_us());
            let pause = self.pause_after(handled, now_us());
            if pause > 0 {
                event::sleep_ms(pause);
            }
        }
    }

    /// Milliseconds without a wake-up after these events.
    fn pause_after(&mut self, events: usize, now_us: u64) -> u32 {
        if now_us - self.window_began_us >= FLOOD_WINDOW_US {
            (self.window_began_us, self.window_events) = (now_us, 0);
        }
        self.window_events += events;
        let command_started = core::mem::take(&mut self.command_started);
        match self.window_events {
            FLOOD.. => FLOOD_PAUSE_MS,
            _ if command_started => COMMAND_PAUSE_MS,
            _ => 0,
        }
    }

    fn tick(&mut self, now_us: u64) {
        if (self.owes_omitted || self.misses_processes) && now_us - self.period_began_us >= PERIOD_US {
            self.period_began_us = now_us;
            self.report_omitted();
            self.find_missing();
        }
    }

    fn read_input(&mut self, input: &Fd) {
        let mut buffer = [0; 4096];
        let length = input.read(&mut buffer).unwrap_or(0);
        self.ended |= length == 0;
        self.input.extend_from_slice(&buffer[..length]);
        while let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            self.obey(core::str::from_utf8(&line[..end]).unwrap_or_default());
        }
    }

    fn obey(&mut self, line: &str) {
        match line.split(' ').collect::<Vec<&str>>()[..] {
            ["watch", id, pid] => self.watch(id, pid.parse().unwrap_or(0)),
            ["adopt", id, pid] => {
                self.watch(id, pid.parse().unwrap_or(0));
                self.misses_processes = true;
            }
            ["forget", id] => self.forget(id),
            _ => {}
        }
    }

    fn watch(&mut self, id: &str, pid: i32) {
        self.forget(id);
        self.last_machine += 1;
        let machine = Machine { id: id.to_string(), rate: Rate::full(now_us()), omitted: 0 };
        self.machines.insert(self.last_machine, machine);
        self.processes.insert(pid, Process { machine: self.last_machine, state: State::Init });
    }

    fn forget(&mut self, id: &str) {
        let machines = &mut self.machines;
        machines.retain(|_, machine| machine.id != id);
        self.processes.retain(|_, process| machines.contains_key(&process.machine));
    }

    /// Handles the waiting events and returns their number.
    fn drain(&mut self, connector: &Connector) -> usize {
        let mut count = 0;
        loop {
            match connector.next() {
                Ok(Some(event)) => self.handle(event),
                Ok(None) => return count,
                Err(_) => self.misses_processes = true,
            }
            count += 1;
            if count >= MOST_EVENTS {
                return count;
            }
        }
    }

    fn handle(&mut self, event: ProcessEvent) {
        match event {
            ProcessEvent::Fork { parent, child } => self.forked(parent, child),
            ProcessEvent::Exec { pid, at_ns } => self.executed(pid, at_ns),
            ProcessEvent::Exit { pid, status, at_ns } => self.exited(pid, status, at_ns),
        }
    }

    fn forked(&mut self, parent: i32, child: i32) {
        if let Some(&Process { machine, state }) = self.processes.get(&parent) {
            self.command_started |= state == State::Init;
            let state = if state == State::Init { State::Command } else { State::Forked };
            self.processes.insert(child, Process { machine, state });
        }
    }

    /// Reports the first program that a process executes.
    fn executed(&mut self, host_pid: i32, at_ns: u64) {
        let Some(process) = self.processes.get_mut(&host_pid).filter(|p| p.state == State::Forked) else { return };
        let Some(machine) = self.machines.get_mut(&process.machine) else { return };
        process.state = State::Omitted;
        if machine.rate.take(now_us()) {
            if let Some((pid, command)) = describe(host_pid) {
                process.state = State::Reported { pid, at_ns };
                let line = [format!("started {} {pid} ", machine.id).as_bytes(), &command, b"\n"].concat();
                return self.write(&line);
            }
        }
        // Too many processes, or this one has ended before its command line was read.
        machine.omitted += 1;
        self.owes_omitted = true;
    }

    fn exited(&mut self, pid: i32, status: i32, now_ns: u64) {
        let Some(Process { machine, state: State::Reported { pid, at_ns } }) = self.processes.remove(&pid) else {
            return;
        };
        if let Some(machine) = self.machines.get(&machine) {
            let milliseconds = now_ns.saturating_sub(at_ns) / 1_000_000;
            let line = format!("exited {} {pid} {status} {milliseconds}\n", machine.id);
            self.write(line.as_bytes());
        }
    }

    /// Forgets the processes that are not in `/proc`, and follows those that started without an event. Parents precede
    /// their children in `/proc`, except after an overflow of process ids.
    fn find_missing(&mut self) {
        if !core::mem::take(&mut self.misses_processes) {
            return;
        }
        let Ok(entries) = tree::all_processes() else { return };
        let alive: BTreeSet<i32> = entries.iter().filter(|entry| !entry.dead).map(|entry| entry.pid).collect();
        self.processes.retain(|pid, _| alive.contains(pid));
        for entry in entries.iter().filter(|entry| !entry.dead) {
            if !self.processes.contains_key(&entry.pid) {
                self.forked(entry.parent, entry.pid);
                if let Some(process) = self.processes.get_mut(&entry.pid).filter(|p| p.state == State::Forked) {
                    process.state = State::Omitted;
                }
            }
        }
    }

    fn report_omitted(&mut self) {
        self.owes_omitted = false;
        let mut lines = String::new();
        for machine in self.machines.values_mut().filter(|machine| machine.omitted > 0) {
            lines += &format!("omitted {} {}\n", machine.id, core::mem::take(&mut machine.omitted));
        }
        self.write(lines.as_bytes());
    }

    fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.ended {
            match self.output.write(bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(_) => self.ended = true,
            }
        }
    }
}

/// Returns the process id in the innermost PID namespace, and the command line with a space between the words. A zombie
/// has no command line, so the result is its name in brackets, as `ps` shows it.
fn describe(pid: i32) -> Option<(i32, Vec<u8>)> {
    let (mut command, mut status) = ([0; LONGEST_COMMAND], [0; 4096]);
    // First, because it disappears first.
    let words = file::read_small(&proc_file(pid, "cmdline"), &mut command).unwrap_or_default();
    let status = file::read_small(&proc_file(pid, "status"), &mut status).ok()?;
    let inner = inner_pid(status)?;
    let mut line = words.to_vec();
    while line.last() == Some(&0) {
        line.pop();
    }
    if line.is_empty() {
        line = [b"[", field(status, b"Name:\t")?, b"]"].concat();
    }
    line.iter_mut().filter(|byte| byte.is_ascii_control()).for_each(|byte| *byte = b' ');
    Some((inner, line))
}

/// Process id in the innermost PID namespace. The kernel writes 0 for a process that has just ended.
fn inner_pid(status: &[u8]) -> Option<i32> {
    let pid = field(status, b"NSpid:")?.rsplit(|byte| *byte == b'\t').next()?;
    core::str::from_utf8(pid).ok()?.parse().ok().filter(|pid| *pid > 0)
}

/// Rest of the line that begins with `name`.
fn field<'a>(status: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name))
}

fn proc_file(pid: i32, name: &str) -> CString {
    CString::new(format!("/proc/{pid}/{name}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::inner_pid;

    #[test]
    fn innermost_process_id_is_the_last_one() {
        assert_eq!(inner_pid(b"Name:\tsh\nNSpid:\t4711\t12\nNSpgid:\t1\t1\n"), Some(12));
    }

    #[test]
    fn ended_process_has_no_process_id() {
        assert_eq!(inner_pid(b"Name:\tsh\nNSpid:\t0\t0\nNSpgid:\t0\t0\n"), None);
        assert_eq!(inner_pid(b"Name:\tsh\n"), None);
    }
}
