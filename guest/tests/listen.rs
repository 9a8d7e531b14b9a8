//! Connections from the sandbox to a listener of the guest.

#![allow(non_snake_case)]

mod common;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;

use common::{Fields, Frame, Host, Outcome, kind, service, until};

const LISTENER: u32 = 3;
const FIRST: u32 = 1 << 31 | 1;

fn listen(host: &mut Host, port: u16, most: u16) -> u16 {
    listen_on(host, LISTENER, port, most)
}

fn listen_on(host: &mut Host, listener: u32, port: u16, most: u16) -> u16 {
    host.open(listener, service::LISTEN, |f| f.u32(100_000).u16(port).u16(most));
    let started = host.frame();
    assert_eq!((started.channel, started.kind), (listener, kind::STARTED));
    Fields(&started.payload).u16().unwrap()
}

fn arrival(host: &mut Host) -> u32 {
    arrival_at(host, LISTENER)
}

fn arrival_at(host: &mut Host, listener: u32) -> u32 {
    let Frame { channel, kind, payload } = host.frame();
    assert_eq!((kind, Fields(&payload).u32().unwrap()), (kind::ARRIVED, listener));
    channel
}

fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).unwrap()
}

fn fail_of(host: &mut Host, port: u16, most: u16) -> u16 {
    host.open(7, service::LISTEN, |f| f.u32(100_000).u16(port).u16(most));
    host.finish(7).fail.unwrap().0
}

#[test]
fn aConnectionFromInsideIsForwardedInBothDirections() {
    let mut host = Host::start();
    let port = listen(&mut host, 0, 8);
    let mut client = connect(port);
    let channel = arrival(&mut host);
    assert_eq!(channel, FIRST);
    client.write_all(b"question").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut outcome = Outcome::default();
    while outcome.eof.is_empty() {
        assert!(!host.step(channel, &mut outcome, true));
    }
    assert_eq!(outcome.text(1), "question");
    host.data(channel, b"answer");
    host.eof(channel);
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "answer");
    assert_eq!(host.finish(channel).fail, None);
}

#[test]
fn dataBeyondTheCreditWaitsWithoutBlockingOthers() {
    let mut host = Host::start();
    let port = listen(&mut host, 0, 8);
    let client = connect(port);
    client.set_nonblocking(true).unwrap();
    let channel = arrival(&mut host);
    let mut sent = 0;
    until("the client blocks", || match (&client).write(&[7; 65_536]) {
        Ok(count) => {
            sent += count;
            false
        }
        Err(_) => sent > 200_000,
    });
    let mut outcome = Outcome::default();
    while outcome.streams.get(&1).map_or(0, Vec::len) < 100_000 {
        host.step(channel, &mut outcome, false);
    }
    host.ping();
    assert_eq!(outcome.streams[&1].len(), 100_000);
    host.credit(channel, 1, 50_000);
    while outcome.streams[&1].len() < 150_000 {
        host.step(channel, &mut outcome, false);
    }
}

#[test]
fn aResetConnectionEndsWithoutCredit() {
    let mut host = Host::start();
    let port = listen(&mut host, 0, 8);
    let client = connect(port);
    client.set_nonblocking(true).unwrap();
    let channel = arrival(&mut host);
    until("the client blocks", || (&client).write(&[7; 65_536]).is_err());
    reset(client);
    let mut outcome = Outcome::default();
    while !host.step(channel, &mut outcome, false) {}
    assert_eq!(outcome.streams[&1].len(), 100_000);
}

/// Closes a connection with RST.
fn reset(client: TcpStream) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let size = size_of::<libc::linger>() as u32;
    // SAFETY: the descriptor is open, and the pointer and the size are those of `linger`.
    let result = unsafe {
        libc::setsockopt(client.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, (&raw const linger).cast(), size)
    };
    assert_eq!(result, 0);
}

#[test]
fn aConnectionAboveTheLimitWaitsUntilAnotherEnds() {
    let mut host = Host::start();
    let port = listen(&mut host, 0, 2);
    let clients: Vec<TcpStream> = (0..3).map(|_| connect(port)).collect();
    let first = arrival(&mut host);
    let second = arrival(&mut host);
    host.ping();
    host.send(first, kind::CLOSE, |f| f);
    host.finish(first);
    let third = arrival(&mut host);
    assert!(third != second && third != first);
    drop(clients);
}

#[test]
fn closingTheListenerFreesItsPortAndLeavesItsConnections() {
    let mut host = Host::start();
    let port = listen(&mut host, 0, 8);
    let mut client = connect(port);
    let channel = arrival(&mut host);
    host.send(LISTENER, kind::CLOSE, |f| f);
    assert_eq!(host.finish(LISTENER).fail, None);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    host.data(channel, b"still here");
    let mut text = [0; 10];
    client.read_exact(&mut text).unwrap();
    assert_eq!(&text, b"still here");
    assert_eq!(listen(&mut host, port, 8), port);
}

#[test]
fn theNextListenerCanUseThePortOfAClosedOneImmediately() {
    let mut host = Host::start();
    let port = listen(&mut host, 0, 8);
    host.send(LISTENER, kind::CLOSE, |f| f);
    host.open(LISTENER + 1, service::LISTEN, |f| f.u32(100_000).u16(port).u16(8));
    let mut outcome = Outcome::default();
    while outcome.started.is_none() {
        assert!(!host.step(LISTENER + 1, &mut outcome, true), "{outcome:?}");
    }
}

#[test]
fn aLostConnectionEndsAllListenersAndFreesThePort() {
    let mut host = Host::start();
    let port = listen(&mut host, 0, 8);
    let mut client = connect(port);
    arrival(&mut host);
    host.reconnect();
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest);
    assert!(rest.is_empty());
    assert_eq!(listen(&mut host, port, 8), port);
    let _other = connect(port);
    assert_eq!(arrival(&mut host), FIRST);
}

#[test]
fn invalidListenRequestsAreRefused() {
    let mut host = Host::start();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    assert_eq!(fail_of(&mut host, taken.local_addr().unwrap().port(), 1), 4);
    assert_eq!(fail_of(&mut host, 0, 0), 1);
    assert_eq!(fail_of(&mut host, 0, 513), 1);
    listen(&mut host, 0, 300);
    assert_eq!(fail_of(&mut host, 0, 469), 1);
    (1..4).for_each(|n| assert_ne!(listen_on(&mut host, LISTENER + 10 * n, 0, 1), 0));
    assert_eq!(fail_of(&mut host, 0, 1), 4);
}

#[test]
fn eachListenerHasItsOwnLimit() {
    let mut host = Host::start();
    let narrow = listen_on(&mut host, 3, 0, 1);
    let wide = listen_on(&mut host, 5, 0, 2);
    let _first = connect(narrow);
    let one = arrival_at(&mut host, 3);
    let _waits = connect(narrow);
    let _others = (connect(wide), connect(wide));
    let (two, three) = (arrival_at(&mut host, 5), arrival_at(&mut host, 5));
    assert!(one != two && two != three && one != three);
    host.send(two, kind::CLOSE, |f| f);
    host.finish(two);
    host.ping();
    host.send(one, kind::CLOSE, |f| f);
    host.finish(one);
    arrival_at(&mut host, 3);
}

#[test]
fn closingOneListenerDoesNotCloseTheOthers() {
    let mut host = Host::start();
    let first = listen_on(&mut host, 3, 0, 2);
    let second = listen_on(&mut host, 5, 0, 2);
    let _stays = connect(second);
    let stays = arrival_at(&mut host, 5);
    host.send(3, kind::CLOSE, |f| f);
    assert_eq!(host.finish(3).fail, None);
    assert!(TcpStream::connect(("127.0.0.1", first)).is_err());
    let _next = connect(second);
    assert_ne!(arrival_at(&mut host, 5), stays);
    assert_eq!(listen_on(&mut host, 7, first, 2), first);
    let _last = connect(first);
    arrival_at(&mut host, 7);
}

#[test]
fn openingAChannelWithAGuestNumberIsAViolation() {
    let mut host = Host::start();
    host.open(FIRST, service::STATS, |f| f);
    assert!(host.is_closed());
    host.accept_again();
    host.send(1, kind::ARRIVED, |f| f.u32(1));
    assert!(host.is_closed());
}
