//! Watches, driven over a real socket.

#![allow(non_snake_case)]

mod common;

use std::fs;
use std::process::Command;

use common::{Fields, Host, Outcome, Put, code, kind, service};

fn watch(host: &mut Host, channel: u32, path: &str, recursive: u8) {
    host.open(channel, service::WATCH, |f| f.u32(1 << 20).string(path.as_bytes()).u8(recursive));
    let frame = host.frame();
    assert_eq!((frame.channel, frame.kind), (channel, kind::STARTED));
}

fn events(outcome: &Outcome) -> Vec<(u8, u8, String)> {
    let mut f = Fields(outcome.streams.get(&1).map_or(&[], Vec::as_slice));
    let mut events = Vec::new();
    while !f.0.is_empty() {
        let (what, directory) = (f.u8().unwrap(), f.u8().unwrap());
        events.push((what, directory, String::from_utf8_lossy(f.string().unwrap()).into_owned()));
    }
    events
}

fn await_event(host: &mut Host, channel: u32, outcome: &mut Outcome, event: (u8, u8, &str)) {
    while !events(outcome).iter().any(|(what, directory, name)| (*what, *directory, name.as_str()) == event) {
        assert!(!host.step(channel, outcome, true), "{event:?} did not arrive");
    }
}

#[test]
fn changesInATreeAreReported() {
    let mut host = Host::start();
    fs::create_dir_all(host.path("src/old")).unwrap();
    watch(&mut host, 9, "src", 1);
    let mut outcome = Outcome::default();
    fs::write(host.path("src/old/file"), "x").unwrap();
    await_event(&mut host, 9, &mut outcome, (1, 0, "old/file"));
    await_event(&mut host, 9, &mut outcome, (2, 0, "old/file"));
    fs::create_dir_all(host.path("src/new/deep")).unwrap();
    fs::write(host.path("src/new/deep/file"), "x").unwrap();
    await_event(&mut host, 9, &mut outcome, (1, 1, "new"));
    await_event(&mut host, 9, &mut outcome, (1, 1, "new/deep"));
    await_event(&mut host, 9, &mut outcome, (1, 0, "new/deep/file"));
    fs::rename(host.path("src/new"), host.path("src/moved")).unwrap();
    await_event(&mut host, 9, &mut outcome, (3, 1, "new"));
    await_event(&mut host, 9, &mut outcome, (1, 1, "moved"));
    await_event(&mut host, 9, &mut outcome, (1, 0, "moved/deep/file"));
    fs::remove_file(host.path("src/moved/deep/file")).unwrap();
    await_event(&mut host, 9, &mut outcome, (3, 0, "moved/deep/file"));
    host.send(9, kind::CLOSE, |f| f);
    while !host.step(9, &mut outcome, true) {}
    assert_eq!(outcome.fail, None);
}

#[test]
fn aWriteThroughTheGuestIsOneCreation() {
    let mut host = Host::start();
    watch(&mut host, 9, "", 0);
    Put { path: "file", flags: 0, limits: [0; 3], content: b"" }.begin(&mut host, 1);
    host.eof(1);
    let mut outcome = Outcome::default();
    await_event(&mut host, 9, &mut outcome, (1, 0, "file"));
    assert_eq!(events(&outcome).len(), 1);
}

#[test]
fn aWatchEndsWithItsDirectory() {
    let mut host = Host::start();
    fs::create_dir(host.path("gone")).unwrap();
    watch(&mut host, 9, "gone", 1);
    fs::remove_dir(host.path("gone")).unwrap();
    assert_eq!(host.finish(9).fail, None);
}

#[test]
fn eventsBeyondTheCreditAreSentInParts() {
    let mut host = Host::start();
    let deep = vec!["a-directory-among-many"; 60].join("/");
    fs::create_dir_all(host.path("src")).unwrap();
    fs::create_dir_all(host.path("aside").join(&deep)).unwrap();
    host.open(9, service::WATCH, |f| f.u32(8_192).string(b"src").u8(1));
    assert_eq!(host.frame().kind, kind::STARTED);
    // Sixty paths, which are 40 KB together, come at once.
    fs::rename(host.path("aside"), host.path("src/new")).unwrap();
    let mut outcome = Outcome::default();
    await_event(&mut host, 9, &mut outcome, (1, 1, &format!("new/{deep}")));
    fs::write(host.path("src/after"), "").unwrap();
    await_event(&mut host, 9, &mut outcome, (1, 0, "after"));
}

#[test]
fn tooManyChangesAreReportedAsAnOverflow() {
    let mut host = Host::start();
    // Without credit the events stay in the bounded queue of the kernel.
    host.open(9, service::WATCH, |f| f.u32(0).string(b"").u8(0));
    assert_eq!(host.frame().kind, kind::STARTED);
    let script = "import os
for i in range(8000):
    os.close(os.open('f', os.O_CREAT | os.O_WRONLY)); os.unlink('f')";
    host.exec(1, &common::Run::of(&["python3", "-c", script]));
    assert_eq!(host.finish(1).exit().code, 0);
    host.credit(9, 1, u32::MAX);
    let mut outcome = Outcome::default();
    await_event(&mut host, 9, &mut outcome, (4, 0, ""));
}

fn perl(host: &Host, program: &str) {
    let status = Command::new("perl").args(["-e", program]).current_dir(host.path("")).status().unwrap();
    assert!(status.success(), "{program}");
}

fn peak_kb(host: &Host) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", host.guest.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn deeplyNestedDirectoriesAreRefusedInBoundedMemory() {
    let mut host = Host::start();
    perl(&host, "for (1..20000) { mkdir 'd' and chdir 'd' or die $! }");
    host.open(9, service::WATCH, |f| f.u32(1 << 20).string(b"").u8(1));
    let mut outcome = Outcome::default();
    while !host.step(9, &mut outcome, true) {}
    assert_eq!(outcome.code(), code::BUSY);
    assert!(peak_kb(&host) < 16 * 1024, "{} kB", peak_kb(&host));

    host.open(10, service::LIST, |f| f.u32(1 << 30).string(b"").u8(1).u32(100_000));
    let mut listed = Outcome::default();
    while !host.step(10, &mut listed, true) {}
    let mut totals = Fields(&listed.end);
    // The listing descends while the path has at most 4 * PATH_MAX bytes: 8,192 times "d/".
    assert_eq!((totals.u64(), totals.u64(), totals.u64(), totals.u8()), (Ok(0), Ok(8_193), Ok(0), Ok(1)));
    assert!(peak_kb(&host) < 16 * 1024, "{} kB", peak_kb(&host));
}

#[test]
fn aTreeThatGrowsTooDeepIsReportedAsOverflow() {
    let mut host = Host::start();
    watch(&mut host, 9, "", 1);
    perl(&host, "for (1..20000) { mkdir 'd' and chdir 'd' or die $! }");
    let mut outcome = Outcome::default();
    await_event(&mut host, 9, &mut outcome, (4, 0, ""));
    assert!(peak_kb(&host) < 16 * 1024, "{} kB", peak_kb(&host));
}
