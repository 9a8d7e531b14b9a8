//! Budgets of the release build: binary size and memory.

#![allow(non_snake_case)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Host, Run, until};

const LARGEST_BINARY: u64 = 1_000_000;
const MOST_RESIDENT_KB: u64 = 500;

fn release() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = folder.join("target");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "--target-dir"])
        .arg(&target)
        .current_dir(folder)
        .status()
        .unwrap();
    assert!(built.success());
    target.join("release/vivarium-guest")
}

fn resident_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn theGuestStaysSmallAlsoAfterABurst() {
    let binary = release();
    assert!(std::fs::metadata(&binary).unwrap().len() < LARGEST_BINARY);
    let mut host = Host::start_binary(&binary);
    host.ping();
    assert!(resident_kb(host.guest.id()) < MOST_RESIDENT_KB);
    host.exec(1, &Run::of(&["head", "-c", "50000000", "/dev/zero"]));
    assert_eq!(host.finish(1).exit().out, 50_000_000);
    for channel in 1..=200 {
        host.exec(channel, &Run { with_input: true, ..Run::of(&["cat"]) });
    }
    for channel in 1..=200 {
        host.data(channel, &[1; 60_000]);
        host.eof(channel);
    }
    let mut ended = 0;
    while ended < 200 {
        ended += u32::from(host.frame().kind == common::kind::END);
    }
    let guest = host.guest.id();
    until("the memory of the burst is released", || resident_kb(guest) < MOST_RESIDENT_KB);
}
