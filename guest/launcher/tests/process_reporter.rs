//! The reporter reports the processes that programs in a machine start. A shell takes the place of the init process. The
//! tests need root and the initial namespaces, as the reporter itself does.

#![allow(non_snake_case)]

#[allow(dead_code)]
#[path = "../../tests/common/wait.rs"]
mod wait;

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const LAUNCHER: &str = env!("CARGO_BIN_EXE_vivarium-launcher");
const ID: &str = "sbx00000000000000000001";

struct Reporter {
    process: Child,
    /// The reporter exits when the test drops it.
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Reporter {
    fn start() -> Reporter {
        let mut process = Command::new(LAUNCHER)
            .arg("process-reporter")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut reporter = Reporter { process, input, lines };
        assert_eq!(reporter.line(), "ready");
        reporter
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.input.as_ref().unwrap(), "{line}").unwrap();
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// Returns the words after the id in the next line of this kind, and skips lines of other kinds.
    fn next(&mut self, kind: &str) -> String {
        let beginning = format!("{kind} {ID} ");
        loop {
            if let Some(rest) = self.line().strip_prefix(&beginning) {
                return rest.to_string();
            }
        }
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Shell in the place of an init process. Its children are the commands of the server.
struct Init {
    process: Child,
    input: ChildStdin,
}

impl Init {
    fn start() -> Init {
        let mut process = Command::new("sh").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let input = process.stdin.take().unwrap();
        Init { process, input }
    }

    fn run(&mut self, command: &str) {
        writeln!(self.input, "sh -c '{command}'").unwrap();
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn machine() -> (Reporter, Init) {
    let (mut reporter, init) = (Reporter::start(), Init::start());
    reporter.tell(&format!("watch {ID} {}", init.process.id()));
    // The reporter reads the line before it handles later events. An unknown machine has no effect.
    reporter.tell("forget none");
    (reporter, init)
}

fn kill(pid: u32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

/// Waits for the only child of a process.
fn child_of(pid: u32) -> u32 {
    let mut child = None;
    wait::until("the process has a child", || {
        let found = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        child = found.trim().parse().ok();
        child.is_some()
    });
    child.unwrap()
}

#[test]
fn aProcessOfACommandIsReportedAndTheCommandIsNot() {
    let (mut reporter, mut init) = machine();
    init.run("sleep 601; sleep 0.3; exit 3");
    let started = reporter.line();
    let pid = started.strip_suffix(" sleep 601").and_then(|line| line.rsplit(' ').next()).unwrap();
    assert_eq!(started, format!("started {ID} {pid} sleep 601"));

    kill(pid.parse().unwrap());
    assert!(reporter.next("exited").starts_with(&format!("{pid} 9 ")));
    assert!(reporter.next("started").ends_with(" sleep 0.3"));
    assert!(reporter.next("exited").contains(" 0 "));
}

#[test]
fn processesBeyondTheRateAreCounted() {
    let (mut reporter, mut init) = machine();
    init.run("for i in $(seq 300); do sleep 0 & done; wait");
    let (mut started, mut omitted) = (0, 0);
    while started + omitted < 301 {
        let line = reporter.line();
        match line.split(' ').collect::<Vec<&str>>()[..] {
            ["started", ..] => started += 1,
            ["omitted", _, count] => omitted += count.parse::<u32>().unwrap(),
            _ => {}
        }
    }
    assert_eq!(started + omitted, 301);
    assert!(omitted > 100, "{omitted}");
}

#[test]
fn processesOfAnAdoptedMachineAreFollowed() {
    let (mut reporter, mut init) = (Reporter::start(), Init::start());
    init.run("sleep 602; sleep 603");
    let sleep = child_of(child_of(init.process.id()));
    reporter.tell(&format!("adopt {ID} {}", init.process.id()));
    // A report shows that the reporter has read the first line.
    let mut other = Init::start();
    reporter.tell(&format!("watch other {}", other.process.id()));
    other.run("sleep 0.2; true");
    while !reporter.line().starts_with("started other") {}

    kill(sleep);
    assert!(reporter.next("started").ends_with(" sleep 603"));
}

#[test]
fn aForgottenMachineIsNotReported() {
    let (mut reporter, mut init) = machine();
    reporter.tell(&format!("forget {ID}"));
    let mut other = Init::start();
    reporter.tell(&format!("watch other {}", other.process.id()));
    init.run("sleep 0.1; true");
    other.run("sleep 0.3; true");
    assert!(reporter.line().starts_with("started other"));
}

#[test]
fn theReporterExitsWithTheServer() {
    let mut reporter = Reporter::start();
    drop(reporter.input.take());
    assert!(reporter.process.wait().unwrap().success());
}
