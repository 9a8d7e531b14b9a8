//! A guest without a host exits when its grace is over, not earlier.

#![allow(non_snake_case)]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Host, Outcome, Run, is_alive, service, until};

fn has_ended(host: &mut Host) -> bool {
    host.guest.try_wait().unwrap().is_some()
}

fn start_with_grace(seconds: &str) -> Host {
    Host::start_with(&["--orphan-grace", seconds])
}

fn signal(host: &Host, signal: i32) {
    // SAFETY: the guest is a child of this test and has not been reaped.
    assert_eq!(unsafe { libc::kill(host.guest.id() as i32, signal) }, 0);
}

#[test]
fn aGuestWithoutAHostEndsWithItsProcessesWhenTheGraceIsOver() {
    let mut host = start_with_grace("1");
    host.exec(1, &Run::shell("setsid sleep 1000 & echo $!; exec sleep 1000"));
    let mut outcome = Outcome::default();
    host.await_text(1, &mut outcome, "\n");
    let child: i32 = outcome.text(1).trim().parse().unwrap();
    host.leave();
    assert!(is_alive(child));
    until("the guest has ended", || has_ended(&mut host));
    until("its processes have exited", || !is_alive(child));
}

#[test]
fn aGuestThatNoHostEverAcceptedEnds() {
    let mut guest = Command::new(env!("CARGO_BIN_EXE_vivarium-guest"))
        .args(["init", "--plain", "--socket", "/nowhere/socket", "--workspace", "/tmp", "--orphan-grace", "1"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    until("the guest has ended", || guest.try_wait().unwrap().is_some());
}

#[test]
fn aReconnectedHostStopsTheClock() {
    let mut host = start_with_grace("2");
    host.leave();
    host.accept_again();
    let reconnected = Instant::now();
    while reconnected.elapsed() < Duration::from_secs(4) {
        host.ping();
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!has_ended(&mut host));
}

#[test]
fn aGuestThatWasStoppedStillHasTimeToReconnect() {
    let mut host = start_with_grace("3");
    host.leave();
    signal(&host, libc::SIGSTOP);
    std::thread::sleep(Duration::from_secs(4));
    signal(&host, libc::SIGCONT);
    host.accept_again();
    host.ping();
}

#[test]
fn aSetupChangesTheGrace() {
    let mut host = start_with_grace("3600");
    host.open(1, service::SETUP, |f| f.u32(0).u32(1));
    host.finish(1);
    host.leave();
    until("the guest has ended", || has_ended(&mut host));
}

#[test]
fn aSetupOfAnOlderHostKeepsTheGrace() {
    let mut host = start_with_grace("1");
    host.open(1, service::SETUP, |f| f.u32(0));
    host.finish(1);
    host.leave();
    until("the guest has ended", || has_ended(&mut host));
}
