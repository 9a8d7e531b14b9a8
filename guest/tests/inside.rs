//! Connections to listeners in the sandbox, and statistics.

#![allow(non_snake_case)]

mod common;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use common::{Fields, Host, Outcome, Run, kind, service};

fn dial(host: &mut Host, family: u8, port: u16, path: &str) {
    host.open(5, service::DIAL, |f| f.u32(1 << 20).u8(family).u16(port).string(path.as_bytes()));
}

#[test]
fn aPortInTheSandboxIsConnectedInBothDirections() {
    let mut host = Host::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    dial(&mut host, 1, listener.local_addr().unwrap().port(), "");
    let (mut peer, _) = listener.accept().unwrap();
    assert_eq!(host.frame().kind, kind::STARTED);
    host.data(5, b"question");
    host.eof(5);
    let mut question = String::new();
    peer.read_to_string(&mut question).unwrap();
    assert_eq!(question, "question");
    peer.write_all(b"answer").unwrap();
    drop(peer);
    let outcome = host.finish(5);
    assert_eq!((outcome.text(1).as_str(), outcome.eof, outcome.fail), ("answer", vec![1], None));
}

#[test]
fn aProgramThatListensOnlyOnIpv6IsConnected() {
    let mut host = Host::start();
    let Ok(listener) = TcpListener::bind("[::1]:0") else {
        return; // This machine has no IPv6.
    };
    dial(&mut host, 1, listener.local_addr().unwrap().port(), "");
    let (mut peer, _) = listener.accept().unwrap();
    assert_eq!(host.frame().kind, kind::STARTED);
    peer.write_all(b"answer").unwrap();
    drop(peer);
    host.eof(5);
    assert_eq!(host.finish(5).text(1), "answer");
}

#[test]
fn aUnixSocketInTheSandboxIsConnected() {
    let mut host = Host::start();
    let path = host.path("app.sock");
    let listener = UnixListener::bind(&path).unwrap();
    dial(&mut host, 2, 0, path.to_str().unwrap());
    let (mut peer, _) = listener.accept().unwrap();
    peer.write_all(&[9; 500_000]).unwrap_or_else(|error| panic!("{error}"));
    drop(peer);
    let mut outcome = Outcome::default();
    while outcome.eof.is_empty() {
        host.step(5, &mut outcome, true);
    }
    assert_eq!(outcome.streams[&1].len(), 500_000);
    host.send(5, kind::CLOSE, |f| f);
    assert_eq!(host.finish(5).fail, None);
}

#[test]
fn aConnectionToAPortWithoutAListenerIsRefused() {
    let mut host = Host::start();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    dial(&mut host, 1, port, "");
    assert_eq!(host.finish(5).code(), 14);
    dial(&mut host, 2, 0, "/no/such/socket");
    assert_eq!(host.finish(5).code(), 2);
    dial(&mut host, 2, 0, "relative");
    assert_eq!(host.finish(5).code(), 1);
    dial(&mut host, 3, 1, "");
    assert_eq!(host.finish(5).code(), 1);
}

/// The kernel lets a connection attempt wait for minutes if the backlog of the listener is full.
#[test]
fn aConnectionToAnUnresponsiveListenerTimesOut() {
    let mut host = Host::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // SAFETY: a second listen only changes the backlog.
    assert_eq!(unsafe { libc::listen(std::os::fd::AsRawFd::as_raw_fd(&listener), 0) }, 0);
    let address = listener.local_addr().unwrap();
    let patience = std::time::Duration::from_millis(100);
    let mut waiting = Vec::new();
    while let Ok(stream) = std::net::TcpStream::connect_timeout(&address, patience) {
        waiting.push(stream);
        assert!(waiting.len() < 100, "the backlog never fills");
    }
    dial(&mut host, 1, address.port(), "");
    assert_eq!(host.finish(5).code(), 14);
}

#[test]
fn aSlowReaderInTheSandboxReceivesAllDataAndCreditIsReturned() {
    let mut host = Host::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    dial(&mut host, 1, listener.local_addr().unwrap().port(), "");
    let (mut peer, _) = listener.accept().unwrap();
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        peer.read_to_end(&mut all).map(|_| all.len()).unwrap()
    });
    let (mut credit, mut sent) = (262_144u64, 0);
    while sent < 8 << 20 {
        while credit >= 65_536 && sent < 8 << 20 {
            host.data(5, &[3; 65_536]);
            (credit, sent) = (credit - 65_536, sent + 65_536);
        }
        if sent < 8 << 20 {
            let frame = host.frame();
            if frame.kind == kind::CREDIT {
                credit += u64::from(Fields(&frame.payload[1..]).u32().unwrap());
            }
        }
    }
    host.eof(5);
    assert_eq!(reader.join().unwrap(), 8 << 20);
    assert_eq!(host.finish(5).fail, None);
}

#[test]
fn statisticsHaveProcessesTimeMemoryAndDisk() {
    let mut host = Host::start();
    host.exec(1, &Run::shell("echo ready; exec sleep 1000"));
    let mut outcome = Outcome::default();
    host.await_text(1, &mut outcome, "ready");
    assert_eq!(host.shell_on(2, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done").exit().code, 0);
    host.open(3, service::STATS, |f| f);
    let stats = host.finish(3).end;
    let mut f = Fields(&stats);
    assert_eq!(f.u32(), Ok(1));
    assert!(f.u64().unwrap() > 1000, "processor time");
    assert!(f.u64().unwrap() > 4096, "memory");
    let (disk, free) = (f.u64().unwrap(), f.u64().unwrap());
    assert!(disk > free && free > 0);
    let (_, _, uptime) = (f.u64().unwrap(), f.u64().unwrap(), f.u64().unwrap());
    assert!(uptime > 0 && f.0.is_empty());
}
