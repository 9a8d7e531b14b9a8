//! Malformed and hostile use of the connection by the host.

#![allow(non_snake_case)]

mod common;

use common::{Host, Run, kind, service};

#[test]
fn aDisconnectDirectlyAfterARequestIsDetected() {
    let mut host = Host::start();
    for _ in 0..50 {
        host.exec(1, &Run::of(&["true"]));
        host.reconnect();
        // A listed process may be about to exit.
        host.send(1, kind::CLOSE, |f| f);
        host.ping();
    }
}

#[test]
fn invalidFramesEndOnlyTheConnection() {
    let mut host = Host::start();
    host.exec(1, &Run::of(&["sleep", "1000"]));
    host.ping();
    let broken: [&[u8]; 6] = [
        &[0xFF, 0, 0, 0, 0, 0, 0, 1, kind::DATA],
        &[0, 0, 0, 1, 0, 0, 0, 9, kind::OPEN, 1],
        &[0, 0, 0, 0, 0, 0, 0, 1, kind::END],
        &[0, 0, 0, 1, 0, 0, 0, 1, kind::DATA, 0],
        &[0, 0, 0, 1, 0x80, 0, 0, 1, kind::OPEN, 12],
        &[0, 0, 0, 0, 0, 0, 0, 0, kind::HELLO],
    ];
    for frame in broken {
        use std::io::Write;
        host.stream.write_all(frame).unwrap();
        assert!(host.is_closed(), "{frame:?}");
        host.accept_again();
    }
    host.ping();
    assert_eq!(host.hello[host.hello.len() - 21..][..4], [0, 0, 0, 1]);
}

#[test]
fn anUnknownServiceIsUnsupportedForItsChannelOnly() {
    let mut host = Host::start();
    host.open(1, 200, |f| f);
    assert_eq!(host.finish(1).code(), 15);
    host.exec(1, &Run::of(&["sleep", "1000"]));
    host.send(1, 0x1B, |f| f);
    assert_eq!(host.finish(1).code(), 15);
    host.send(0, 0x0F, |f| f);
    host.ping();
}

#[test]
fn oneChannelTooManyIsRefused() {
    let mut host = Host::start();
    for channel in 1..=1024 {
        host.open(channel, service::WRITE, |f| {
            f.string(format!("f{channel}").as_bytes()).u32(0o644).u8(0).u64(0).u64(0).u64(0)
        });
    }
    host.open(1025, service::STATS, |f| f);
    let (code, _, actual, limit) = host.finish(1025).fail.unwrap();
    assert_eq!((code, actual, limit), (17, 1024, 1024));
}
