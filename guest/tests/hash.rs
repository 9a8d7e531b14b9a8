//! Hashes of files, driven over a real socket.

#![allow(non_snake_case)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::code::{ESCAPES, INVALID, NOT_A_FILE, NOT_FOUND};
use common::{Fields, Host, Outcome, kind, service};

fn hash(host: &mut Host, path: &str) -> Outcome {
    host.open(1, service::HASH, |f| f.string(path.as_bytes()));
    host.finish(1)
}

/// Size, digest, and whether the file was unchanged.
fn hashed(outcome: &Outcome) -> (u64, String, u8) {
    assert_eq!(outcome.fail, None);
    let mut f = Fields(&outcome.end);
    let (_, _, size) = (f.u8().unwrap(), f.u32().unwrap(), f.u64().unwrap());
    let _ = (f.u64().unwrap(), f.u32().unwrap());
    let digest = f.string().unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    (size, digest, f.u8().unwrap())
}

#[test]
fn aHashMatchesTheTestVectors() {
    let mut host = Host::start();
    let million = "a".repeat(1_000_000);
    // The first three are of FIPS 180; the last crosses the border of a slice.
    let vectors = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ),
        (&million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ];
    for (content, digest) in vectors {
        fs::write(host.path("file"), content).unwrap();
        assert_eq!(hashed(&hash(&mut host, "file")), (content.len() as u64, digest.to_owned(), 1));
    }
}

#[test]
fn onlyRegularFilesBeneathTheWorkspaceAreHashed() {
    let mut host = Host::start();
    fs::create_dir(host.path("directory")).unwrap();
    symlink("/etc/passwd", host.path("out")).unwrap();
    host.shell("mkfifo fifo");
    for (path, code) in [
        ("directory", NOT_A_FILE),
        ("fifo", NOT_A_FILE),
        ("absent", NOT_FOUND),
        ("out", ESCAPES),
        ("../etc/passwd", ESCAPES),
        ("/etc/passwd", ESCAPES),
    ] {
        assert_eq!(hash(&mut host, path).code(), code, "{path}");
    }
}

#[test]
fn aPingIsAnsweredDuringAHash() {
    let mut host = Host::start();
    fs::File::create(host.path("sparse")).unwrap().set_len(64 << 20).unwrap();
    host.open(7, service::HASH, |f| f.string(b"sparse"));
    host.ping();
    assert_eq!(hashed(&host.finish(7)).0, 64 << 20);
    host.open(7, service::HASH, |f| f.string(b"sparse"));
    host.send(7, kind::CLOSE, |f| f);
    assert_eq!(host.finish(7).code(), INVALID);
}
