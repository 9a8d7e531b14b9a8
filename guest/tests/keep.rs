//! Kept processes over a real socket.

#![allow(non_snake_case)]

mod common;

use common::{Fields, Host, Outcome, Run, is_alive, kind, service, until};

const CREDIT: u32 = 262_144;

/// Opens a kept terminal as channel 1.
fn terminal(host: &mut Host, name: &str, script: &str) {
    let run = Run { with_input: true, kept: Some(name.to_owned()), credit: CREDIT, ..Run::shell(script) };
    host.open(1, service::PTY, |f| run.put(f).u16(80).u16(24).string(name.as_bytes()));
}

fn attach(host: &mut Host, channel: u32, credit: u32) {
    host.send(channel, kind::ATTACH, |f| f.u32(credit));
}

/// Fields of STARTED after ATTACH: pid, and the first position of each stream.
fn started(outcome: &Outcome) -> (u32, u64, u64) {
    let mut f = Fields(outcome.started.as_deref().unwrap());
    (f.u32().unwrap(), f.u64().unwrap(), f.u64().unwrap())
}

/// Names of the kept processes in the last handshake.
fn kept(host: &Host) -> Vec<(u32, String)> {
    let mut f = Fields(&host.hello);
    let _ = (f.u32(), f.u16(), f.u64(), f.string(), f.string());
    for _ in 0..f.u32().unwrap() {
        let _ = (f.u32(), f.u8(), f.u32(), f.u64());
    }
    (0..f.u32().unwrap())
        .map(|_| (f.u32().unwrap(), String::from_utf8_lossy(f.string().unwrap()).into_owned()))
        .collect()
}

#[test]
fn aHostAttachesToAKeptTerminalWithItsRecentOutput() {
    let mut host = Host::start();
    terminal(&mut host, "shl_1", "stty -echo; echo first; while read line; do echo \"<$line>\"; done");
    let mut before = Outcome::default();
    host.await_text(1, &mut before, "first");
    host.reconnect();
    assert_eq!(kept(&host), [(1, "shl_1".to_owned())]);
    attach(&mut host, 1, CREDIT);
    host.data(1, b"typed later\n");
    let mut after = Outcome::default();
    host.await_text(1, &mut after, "<typed later>");
    assert_eq!(after.text(1), "first\r\n<typed later>\r\n");
    let mut f = Fields(before.started.as_deref().unwrap());
    assert_eq!(started(&after), (f.u32().unwrap(), 0, 0));
}

#[test]
fn withoutAHostOnlyTheLastOutputIsKept() {
    let mut host = Host::start();
    terminal(&mut host, "busy", "stty -opost; seq 200000; touch done; read line; echo $line");
    host.stream.shutdown(std::net::Shutdown::Both).unwrap();
    let done = host.path("done");
    until("the output is complete", || done.exists());
    host.accept_again();
    attach(&mut host, 1, CREDIT);
    let mut outcome = Outcome::default();
    host.data(1, b"bye\n");
    while !host.step(1, &mut outcome, true) {}
    let all: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    let text = outcome.text(1);
    let (_, first, _) = started(&outcome);
    assert!(text.starts_with(&all[first as usize..]), "{first} {}", text.len());
    assert_eq!(outcome.exit().out, first + text.len() as u64);
    assert_eq!(outcome.exit().code, 0);
}

#[test]
fn aReplayRespectsTheCredit() {
    let mut host = Host::start();
    terminal(&mut host, "slow", "stty -opost; seq 50000; touch done; sleep 1000");
    host.stream.shutdown(std::net::Shutdown::Both).unwrap();
    let done = host.path("done");
    until("the output is complete", || done.exists());
    host.accept_again();
    attach(&mut host, 1, 1000);
    let mut outcome = Outcome::default();
    while outcome.text(1).len() < 1000 {
        host.step(1, &mut outcome, false);
    }
    host.ping();
    assert_eq!(outcome.text(1).len(), 1000);
    host.credit(1, 1, 1 << 20);
    host.await_text(1, &mut outcome, "50000\n");
}

#[test]
fn withoutCreditOfAnAttachedHostTheProcessWaits() {
    let mut host = Host::start();
    let script = "yes & while [ ! -e go ]; do sleep 0.01; done; kill $!; echo end >&2";
    let run = Run { kept: Some("k".to_owned()), credit: 10_000, ..Run::shell(script) };
    host.exec(1, &run);
    let mut outcome = Outcome::default();
    while outcome.text(1).len() < 10_000 {
        host.step(1, &mut outcome, false);
    }
    std::fs::write(host.path("go"), "").unwrap();
    while !outcome.text(2).contains("end") {
        host.step(1, &mut outcome, false);
    }
    assert_eq!(outcome.text(1).len(), 10_000);
}

#[test]
fn aKeptCommandThatEndsWithoutAHostIsReported() {
    let mut host = Host::start();
    let script = "while [ ! -e go ]; do sleep 0.01; done; echo out; echo err >&2; exit 7";
    host.exec(5, &Run { kept: Some("job".to_owned()), ..Run::shell(script) });
    host.ping();
    let guest = host.guest.id() as i32;
    host.leave();
    std::fs::write(host.path("go"), "").unwrap();
    until("the process has exited", || vivarium_sys::tree::descendants(guest).is_empty());
    host.accept_again();
    host.reconnect();
    assert_eq!(kept(&host), [(5, "job".to_owned())]);
    attach(&mut host, 5, CREDIT);
    let outcome = host.finish(5);
    assert_eq!((outcome.text(1), outcome.text(2)), ("out\n".into(), "err\n".into()));
    assert_eq!((outcome.exit().cause, outcome.exit().code), (0, 7));
    host.reconnect();
    assert_eq!(kept(&host), []);
}

#[test]
fn aKeptProcessCanBeClosedOrDetached() {
    for (kind, cause) in [(kind::CLOSE, 4), (kind::DETACH, 5)] {
        let mut host = Host::start();
        terminal(&mut host, "shl", "echo $$; exec sleep 1000");
        let mut outcome = Outcome::default();
        host.await_text(1, &mut outcome, "\n");
        let pid: i32 = outcome.text(1).trim().parse().unwrap();
        host.reconnect();
        host.send(1, kind, |f| f);
        assert_eq!(host.finish(1).exit().cause, cause);
        if kind == kind::CLOSE {
            until("the process has exited", || !is_alive(pid));
        } else {
            assert!(is_alive(pid));
        }
    }
}

#[test]
fn unreadInputOfAnEarlierHostIsNotCountedTwice() {
    let mut host = Host::start();
    let run = Run {
        with_input: true,
        kept: Some("in".to_owned()),
        ..Run::shell("while [ ! -e go ]; do sleep 0.01; done; wc -c")
    };
    host.exec(1, &run);
    for _ in 0..4 {
        host.data(1, &[b'a'; 65_536]);
    }
    host.ping();
    host.reconnect();
    attach(&mut host, 1, CREDIT);
    // The initial credit of a host.
    for _ in 0..4 {
        host.data(1, &[b'b'; 65_536]);
    }
    host.eof(1);
    host.ping();
    std::fs::write(host.path("go"), "").unwrap();
    assert_eq!(host.finish(1).text(1).trim(), (8 * 65_536).to_string());
}

#[test]
fn aProcessThatIsNotKeptCannotBeAttached() {
    let mut host = Host::start();
    host.exec(1, &Run::of(&["sleep", "1000"]));
    host.ping();
    host.reconnect();
    attach(&mut host, 1, CREDIT);
    assert_eq!(host.finish(1).code(), 15);
    attach(&mut host, 77, CREDIT);
    host.ping();
}

#[test]
fn aNameMustBeShortAndNotEmpty() {
    let mut host = Host::start();
    for name in ["", "123456789012345678901234567890123"] {
        terminal(&mut host, name, "true");
        assert_eq!(host.finish(1).code(), 1);
    }
}
