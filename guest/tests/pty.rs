//! Terminals, driven over a real socket.

#![allow(non_snake_case)]

mod common;

use common::{Host, Outcome, Run, kind, service};

#[test]
fn aTerminalHasASizeThatCanChange() {
    let mut host = Host::start();
    let command = Run::shell("stty size; trap 'stty size; exit 5' WINCH; echo ready; while :; do sleep 0.01; done");
    host.open(1, service::PTY, |f| command.put(f).u16(120).u16(40));
    let mut outcome = Outcome::default();
    host.await_text(1, &mut outcome, "ready");
    assert!(outcome.text(1).starts_with("40 120\r\n"), "{}", outcome.text(1));
    host.send(1, kind::RESIZE, |f| f.u16(0).u16(10));
    host.send(1, kind::RESIZE, |f| f.u16(5000).u16(50));
    while !host.step(1, &mut outcome, true) {}
    assert!(outcome.text(1).ends_with("50 1000\r\n"), "{}", outcome.text(1));
    assert_eq!(outcome.exit().code, 5);
}

fn terminal(host: &mut Host, script: &str) {
    host.open(1, service::PTY, |f| Run::shell(script).put(f).u16(80).u16(24));
}

#[test]
fn inputOfATerminalIsReadAndEchoed() {
    let mut host = Host::start();
    terminal(&mut host, "read line; echo got-$line; tty");
    host.data(1, b"typed\n");
    let outcome = host.finish(1);
    assert!(outcome.text(1).starts_with("typed\r\ngot-typed\r\n/dev/pts/"), "{}", outcome.text(1));
}

#[test]
fn controlCInterruptsTheForegroundCommand() {
    let mut host = Host::start();
    terminal(&mut host, "trap 'echo caught; exit 6' INT; echo ready; while :; do sleep 0.01; done");
    let mut outcome = Outcome::default();
    host.await_text(1, &mut outcome, "ready");
    host.data(1, b"\x03");
    while !host.step(1, &mut outcome, true) {}
    assert!(outcome.text(1).ends_with("caught\r\n"), "{}", outcome.text(1));
    assert_eq!(outcome.exit().code, 6);
}
