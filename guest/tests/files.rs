//! Files and listings, driven over a real socket.

#![allow(non_snake_case)]

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use common::code::*;
use common::{Fields, Host, Outcome, Put, kind, service};

fn read(host: &mut Host, path: &[u8], offset: u64, length: u64) -> Outcome {
    host.open(1, service::READ, |f| f.u32(1 << 20).string(path).u64(offset).u64(length));
    host.finish(1)
}

fn write(host: &mut Host, put: &Put) -> Outcome {
    put.begin(host, 1);
    for piece in put.content.chunks(65_536) {
        host.data(1, piece);
    }
    host.eof(1);
    host.finish(1)
}

fn stat(host: &mut Host, path: &str, follow: u8) -> Outcome {
    host.open(1, service::STAT, |f| f.string(path.as_bytes()).u8(follow));
    host.finish(1)
}

fn mkdir(host: &mut Host, path: &str, parents: u8) -> Outcome {
    host.open(1, service::MKDIR, |f| f.string(path.as_bytes()).u32(0o750).u8(parents));
    host.finish(1)
}

fn rename(host: &mut Host, from: &str, to: &str, replace: u8) -> Outcome {
    host.open(1, service::MOVE, |f| f.string(from.as_bytes()).string(to.as_bytes()).u8(replace));
    host.finish(1)
}

fn remove(host: &mut Host, path: &str, recursive: u8) -> Outcome {
    host.open(1, service::REMOVE, |f| f.string(path.as_bytes()).u8(recursive));
    host.finish(1)
}

/// Names with their types, and the totals.
fn list(host: &mut Host, path: &str, recursive: u8, max: u32) -> (Vec<(u8, String)>, Outcome) {
    host.open(1, service::LIST, |f| f.u32(1 << 20).string(path.as_bytes()).u8(recursive).u32(max));
    let outcome = host.finish(1);
    let mut f = Fields(outcome.streams.get(&1).map_or(&[], Vec::as_slice));
    let mut entries = Vec::new();
    while !f.0.is_empty() {
        let kind = f.u8().unwrap();
        let _ = (f.u32(), f.u64(), f.u64(), f.u32());
        entries.push((kind, String::from_utf8_lossy(f.string().unwrap()).into_owned()));
    }
    entries.sort();
    (entries, outcome)
}

fn temporaries(host: &Host) -> usize {
    let names = fs::read_dir(host.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with(".viv-tmp-")).count()
}

/// Paths that try to leave the workspace.
fn traps(host: &Host) -> Vec<&'static str> {
    fs::write(host.folder.join("outside"), "secret").unwrap();
    symlink("/etc", host.path("absolute")).unwrap();
    symlink("..", host.path("up")).unwrap();
    symlink("../outside", host.path("direct")).unwrap();
    symlink("/proc/self/root", host.path("magic")).unwrap();
    fs::create_dir(host.path("deep")).unwrap();
    symlink("../..", host.path("deep/up")).unwrap();
    vec![
        "/etc/passwd",
        "../outside",
        "deep/../../outside",
        "absolute/passwd",
        "up/outside",
        "deep/up/outside",
        "magic/etc/passwd",
    ]
}

#[test]
fn aRangeOfAFileIsRead() {
    let mut host = Host::start();
    fs::write(host.path("file"), "0123456789").unwrap();
    let whole = read(&mut host, b"file", 0, u64::MAX);
    assert_eq!(whole.text(1), "0123456789");
    assert_eq!(whole.end[..8], 10u64.to_be_bytes());
    assert_eq!(whole.started.unwrap()[0], 1);
    assert_eq!(read(&mut host, b"file", 3, 4).text(1), "3456");
    assert_eq!(read(&mut host, b"file", 8, 100).text(1), "89");
    let beyond = read(&mut host, b"file", 50, 1);
    assert_eq!((beyond.text(1).as_str(), &beyond.end[..8]), ("", [0; 8].as_slice()));
}

#[test]
fn aLargeFileIsReadWithinItsCredit() {
    let mut host = Host::start();
    let content: Vec<u8> = (0..3_000_000u32).map(|number| (number % 251) as u8).collect();
    fs::write(host.path("large"), &content).unwrap();
    assert_eq!(read(&mut host, b"large", 0, u64::MAX).streams[&1], content);
}

#[test]
fn readingANonRegularFileFailsImmediately() {
    let mut host = Host::start();
    assert!(std::process::Command::new("mkfifo").arg(host.path("fifo")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(host.path("socket")).unwrap();
    fs::create_dir(host.path("folder")).unwrap();
    for name in ["fifo", "socket", "folder", ""] {
        assert_eq!(read(&mut host, name.as_bytes(), 0, 1).code(), NOT_A_FILE, "{name}");
    }
    assert_eq!(read(&mut host, b"missing", 0, 1).code(), NOT_FOUND);
    assert_eq!(read(&mut host, b"zero\0byte", 0, 1).code(), INVALID);
}

#[test]
fn noPathLeavesTheWorkspace() {
    let mut host = Host::start();
    let traps = traps(&host);
    for path in &traps {
        let escaped = |outcome: Outcome, what: &str| {
            let code = outcome.code();
            assert!(code == ESCAPES || (*path == "magic/etc/passwd" && code == INVALID), "{what} {path}: {code}");
        };
        escaped(read(&mut host, path.as_bytes(), 0, 10), "read");
        escaped(stat(&mut host, path, 1), "stat");
        escaped(write(&mut host, &Put { path, flags: 1, limits: [0; 3], content: b"x" }), "write");
        escaped(mkdir(&mut host, path, 1), "mkdir");
        escaped(rename(&mut host, path, "here", 1), "move from");
        fs::write(host.path("own"), "x").unwrap();
        escaped(rename(&mut host, "own", path, 1), "move to");
        escaped(remove(&mut host, path, 1), "remove");
        escaped(list(&mut host, path, 1, 10).1, "list");
    }
    assert_eq!(read(&mut host, b"direct", 0, 10).code(), ESCAPES);
    assert_eq!(fs::read(host.folder.join("outside")).unwrap(), b"secret");
    assert!(!host.folder.join("here").exists());
}

#[test]
fn aWriteIsAtomic() {
    let mut host = Host::start();
    let content = vec![7u8; 200_000];
    let outcome = write(&mut host, &Put { path: "a/b/c", flags: 1, limits: [0; 3], content: &content });
    assert_eq!(outcome.fail, None);
    assert_eq!((outcome.end[0], &outcome.end[5..13]), (1, &200_000u64.to_be_bytes()[..]));
    assert_eq!(fs::read(host.path("a/b/c")).unwrap(), content);
    assert_eq!(fs::metadata(host.path("a/b/c")).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::metadata(host.path("a")).unwrap().permissions().mode() & 0o777, 0o755);
    let empty = write(&mut host, &Put { path: "empty", flags: 0, limits: [0; 3], content: b"" });
    assert_eq!((empty.fail, fs::read(host.path("empty")).unwrap().len()), (None, 0));
}

#[test]
fn aLargeFileIsWrittenWithinItsCredit() {
    let mut host = Host::start();
    Put { path: "large", flags: 0, limits: [0; 3], content: b"" }.begin(&mut host, 1);
    let (mut credit, mut sent) = (262_144u64, 0u64);
    while sent < 5_000_000 {
        while credit >= 50_000 && sent < 5_000_000 {
            host.data(1, &[1; 50_000]);
            (credit, sent) = (credit - 50_000, sent + 50_000);
        }
        if sent < 5_000_000 {
            let frame = host.frame();
            assert_eq!(frame.kind, kind::CREDIT);
            credit += u64::from(Fields(&frame.payload[1..]).u32().unwrap());
        }
    }
    host.eof(1);
    assert_eq!(host.finish(1).fail, None);
    assert_eq!(fs::metadata(host.path("large")).unwrap().len(), 5_000_000);
}

#[test]
fn anUnfinishedWriteLeavesNoFile() {
    let mut host = Host::start();
    fs::write(host.path("file"), "old").unwrap();
    let put = Put { path: "file", flags: 0, limits: [0; 3], content: b"" };
    put.begin(&mut host, 3);
    host.data(3, b"new");
    host.ping();
    assert_eq!(temporaries(&host), 1);
    assert!(list(&mut host, "", 0, 10).0.iter().all(|(_, name)| name == "file"));
    put.begin(&mut host, 2);
    host.send(2, kind::CLOSE, |f| f);
    assert_eq!(host.finish(2).code(), INVALID);
    host.reconnect();
    host.ping();
    assert_eq!((temporaries(&host), fs::read(host.path("file")).unwrap()), (0, b"old".to_vec()));
}

#[test]
fn aWriteThatFailsLeavesNoDirectory() {
    let mut host = Host::start();
    fs::create_dir(host.path("folder")).unwrap();
    for path in ["new/a/b/file", "folder/a/b/file"] {
        for limits in [[10, 0, 0], [0, 0, 10]] {
            let outcome = write(&mut host, &Put { path, flags: 1, limits, content: &[0; 11] });
            assert!(outcome.fail.is_some());
        }
        let put = Put { path, flags: 1, limits: [0; 3], content: b"" };
        put.begin(&mut host, 2);
        host.data(2, b"half");
        host.send(2, kind::CLOSE, |f| f);
        assert_eq!(host.finish(2).code(), INVALID);
        put.begin(&mut host, 3);
        host.data(3, b"half");
        host.reconnect();
        host.ping();
    }
    assert!(!host.path("new").exists());
    assert_eq!((temporaries(&host), fs::read_dir(host.path("folder")).unwrap().count()), (0, 0));
}

#[test]
fn aWriteAcceptsDirectoriesThatAppearMeanwhile() {
    let mut host = Host::start();
    Put { path: "a/b/file", flags: 1, limits: [0; 3], content: b"" }.begin(&mut host, 1);
    host.data(1, b"text");
    host.ping();
    fs::create_dir_all(host.path("a/b")).unwrap();
    fs::write(host.path("a/b/file"), "other").unwrap();
    host.eof(1);
    assert_eq!(host.finish(1).fail, None);
    assert_eq!(fs::read(host.path("a/b/file")).unwrap(), b"text");
}

#[test]
fn aReplacedFileKeepsItsModeOnRequest() {
    let mut host = Host::start();
    fs::write(host.path("tool"), "old").unwrap();
    for (flags, before, after) in [(4, 0o4755, 0o755), (4, 0o600, 0o600), (0, 0o755, 0o640)] {
        fs::set_permissions(host.path("tool"), fs::Permissions::from_mode(before)).unwrap();
        let outcome = write(&mut host, &Put { path: "tool", flags, limits: [0; 3], content: b"new" });
        assert_eq!(outcome.fail, None);
        assert_eq!(fs::metadata(host.path("tool")).unwrap().mode() & 0o7777, after);
    }
    assert_eq!(write(&mut host, &Put { path: "fresh", flags: 4, limits: [0; 3], content: b"" }).fail, None);
    assert_eq!(fs::metadata(host.path("fresh")).unwrap().mode() & 0o7777, 0o640);
}

/// A snapshot or a crash during a write leaves the temporary file on the disk, and the next guest counts from one.
#[test]
fn temporaryFilesOfAnEarlierGuestDoNotInterfere() {
    let mut host = Host::start();
    for number in 1..=5 {
        fs::write(host.path(&format!(".viv-tmp-{}-{number}", host.guest.id())), "half").unwrap();
    }
    for content in [b"first".as_slice(), b"second"] {
        let outcome = write(&mut host, &Put { path: "file", flags: 0, limits: [0; 3], content });
        assert_eq!(outcome.fail, None);
        assert_eq!(fs::read(host.path("file")).unwrap(), content);
    }
    assert_eq!(temporaries(&host), 5);
}

#[test]
fn theLimitsOfAWriteAreEnforced() {
    let mut host = Host::start();
    fs::create_dir(host.path("folder")).unwrap();
    for name in ["one", "folder/two", "folder/three"] {
        fs::write(host.path(name), [0; 100]).unwrap();
    }
    let mut fail = |path, limits, size: usize| {
        let outcome = write(&mut host, &Put { path, flags: 0, limits, content: &vec![0; size] });
        assert_eq!(temporaries(&host), 0);
        outcome.fail.map(|(code, _, actual, limit)| (code, actual, limit))
    };
    assert_eq!(fail("new", [10, 0, 0], 11), Some((8, 11, 10)));
    assert_eq!(fail("new", [0, 3, 0], 1), Some((9, 4, 3)));
    assert_eq!(fail("new", [0, 0, 400], 101), Some((10, 401, 400)));
    // The replaced file does not count twice.
    assert_eq!(fail("one", [0, 3, 400], 200), None);
    assert_eq!(fail("new", [10, 4, 410], 10), None);
}

#[test]
fn aWriteCanRequireANewFile() {
    let mut host = Host::start();
    let put = Put { path: "file", flags: 2, limits: [0; 3], content: b"x" };
    assert_eq!(write(&mut host, &put).fail, None);
    assert_eq!(write(&mut host, &put).code(), EXISTS);
    // Also if the file appears during the transfer.
    let late = Put { path: "late", ..put };
    late.begin(&mut host, 1);
    host.ping();
    fs::write(host.path("late"), "first").unwrap();
    host.eof(1);
    assert_eq!(host.finish(1).code(), EXISTS);
    assert_eq!(fs::read(host.path("late")).unwrap(), b"first");
}

#[test]
fn aLinkAtTheTargetIsReplacedNotFollowed() {
    let mut host = Host::start();
    fs::write(host.folder.join("outside"), "secret").unwrap();
    symlink("../outside", host.path("link")).unwrap();
    assert_eq!(write(&mut host, &Put { path: "link", flags: 0, limits: [0; 3], content: b"mine" }).fail, None);
    assert_eq!(fs::read(host.folder.join("outside")).unwrap(), b"secret");
    assert!(fs::symlink_metadata(host.path("link")).unwrap().is_file());
    fs::create_dir(host.path("folder")).unwrap();
    assert_eq!(write(&mut host, &Put { path: "folder", flags: 0, limits: [0; 3], content: b"" }).code(), NOT_A_FILE);
}

#[test]
fn statReturnsTypesAndFollowsLinksOnRequest() {
    let mut host = Host::start();
    fs::write(host.path("file"), "12345").unwrap();
    symlink("file", host.path("link")).unwrap();
    let kind = |outcome: &Outcome| outcome.end[0];
    assert_eq!(kind(&stat(&mut host, "link", 0)), 3);
    let followed = stat(&mut host, "link", 1);
    assert_eq!((kind(&followed), followed.end[5..13].to_vec()), (1, 5u64.to_be_bytes().to_vec()));
    let modified = fs::metadata(host.path("file")).unwrap();
    let expected = modified.mtime() * 1_000_000_000 + modified.mtime_nsec();
    assert_eq!(followed.end[13..21], expected.to_be_bytes());
    assert_eq!(kind(&stat(&mut host, "", 0)), 2);
    assert_eq!(stat(&mut host, "missing", 1).code(), NOT_FOUND);
    assert_eq!(stat(&mut host, "file/below", 1).code(), NOT_A_DIRECTORY);
}

#[test]
fn directoriesAreCreated() {
    let mut host = Host::start();
    assert_eq!(mkdir(&mut host, "a/b", 0).code(), NOT_FOUND);
    assert_eq!(mkdir(&mut host, "a/b", 1).fail, None);
    assert_eq!(mkdir(&mut host, "a/b", 1).fail, None);
    assert_eq!(mkdir(&mut host, "a/b", 0).code(), EXISTS);
    assert_eq!(fs::metadata(host.path("a/b")).unwrap().permissions().mode() & 0o777, 0o750);
    fs::write(host.path("file"), "").unwrap();
    assert_eq!(mkdir(&mut host, "file", 1).code(), EXISTS);
    assert_eq!(mkdir(&mut host, "file/x", 1).code(), NOT_A_DIRECTORY);
    assert_eq!(mkdir(&mut host, "", 1).code(), INVALID);
}

#[test]
fn entriesAreMovedAndReplacedOnlyIfAsked() {
    let mut host = Host::start();
    fs::write(host.path("one"), "1").unwrap();
    fs::write(host.path("two"), "2").unwrap();
    assert_eq!(rename(&mut host, "one", "two", 0).code(), EXISTS);
    assert_eq!(rename(&mut host, "one", "two", 1).fail, None);
    assert_eq!(fs::read(host.path("two")).unwrap(), b"1");
    assert_eq!(rename(&mut host, "one", "three", 0).code(), NOT_FOUND);
}

#[test]
fn aTreeIsRemovedWithoutFollowingLinks() {
    let mut host = Host::start();
    fs::create_dir(host.folder.join("outside")).unwrap();
    fs::write(host.folder.join("outside/kept"), "").unwrap();
    fs::create_dir_all(host.path("tree/a/b")).unwrap();
    fs::write(host.path("tree/a/file"), "").unwrap();
    symlink("../../outside", host.path("tree/out")).unwrap();
    assert_eq!(remove(&mut host, "tree", 0).code(), 18);
    assert_eq!(remove(&mut host, "tree", 1).end, 5u64.to_be_bytes());
    assert!(!host.path("tree").exists() && host.folder.join("outside/kept").exists());
    assert_eq!(remove(&mut host, "tree", 1).code(), NOT_FOUND);
    assert_eq!(remove(&mut host, "", 1).code(), INVALID);
}

#[test]
fn aTreeIsListed() {
    let mut host = Host::start();
    fs::create_dir_all(host.path("a/b")).unwrap();
    fs::write(host.path("a/b/file"), "123").unwrap();
    symlink("a", host.path("link")).unwrap();
    let (flat, outcome) = list(&mut host, "", 0, 100);
    assert_eq!(flat, [(2, "a".into()), (3, "link".into())]);
    assert_eq!(outcome.end.last(), Some(&0));
    let (deep, outcome) = list(&mut host, ".", 1, 100);
    assert_eq!(deep, [(1, "a/b/file".into()), (2, "a".into()), (2, "a/b".into()), (3, "link".into())]);
    let mut f = Fields(&outcome.end);
    assert_eq!((f.u64(), f.u64(), f.u64(), f.u8()), (Ok(2), Ok(2), Ok(3), Ok(0)));
    let (few, outcome) = list(&mut host, "", 1, 2);
    assert_eq!((few.len(), outcome.end.last()), (2, Some(&1)));
    assert_eq!(list(&mut host, "a/b/file", 1, 2).1.code(), NOT_A_DIRECTORY);
}

#[test]
fn manyFilesAreListedAndRemoved() {
    let mut host = Host::start();
    let script = "mkdir -p many && cd many && for d in $(seq 6); do mkdir $d; (cd $d; seq 700 | xargs touch); done";
    assert_eq!(host.shell(script).exit().code, 0);
    let (entries, _) = list(&mut host, "many", 1, u32::MAX);
    assert_eq!(entries.len(), 4206);
    assert_eq!(remove(&mut host, "many", 1).end, 4207u64.to_be_bytes());
}

#[test]
fn aTreeDeeperThanAnyPathIsCountedAndRemoved() {
    let mut host = Host::start();
    let script = "import os
for _ in range(300):
    os.mkdir('d' * 50); os.chdir('d' * 50)
open('leaf', 'w').close()";
    host.exec(1, &common::Run::of(&["python3", "-c", script]));
    assert_eq!(host.finish(1).exit().code, 0);
    let (entries, outcome) = list(&mut host, "", 1, u32::MAX);
    // The listing has the paths of up to 4 KiB.
    assert_eq!(entries.len(), 80);
    assert_eq!(outcome.end[..8], 1u64.to_be_bytes());
    assert_eq!(outcome.end[8..16], 300u64.to_be_bytes());
    assert_eq!(remove(&mut host, &"d".repeat(50), 1).end, 301u64.to_be_bytes());
}

#[test]
fn theEndOfAReadReportsAConcurrentWrite() {
    let mut host = Host::start();
    fs::write(host.path("file"), vec![1; 100_000]).unwrap();
    let steady = read(&mut host, b"file", 0, u64::MAX);
    assert_eq!(steady.end[8..], steady.started.unwrap());
    host.open(1, service::READ, |f| f.u32(10).string(b"file").u64(0).u64(u64::MAX));
    let mut outcome = Outcome::default();
    while outcome.streams.is_empty() {
        assert!(!host.step(1, &mut outcome, false));
    }
    fs::write(host.path("file"), vec![2; 100_001]).unwrap();
    host.credit(1, 1, 1 << 20);
    let rest = host.finish(1);
    assert_ne!(rest.end[8..], outcome.started.unwrap());
}
