//! The watcher removes machines without a server, and only those. Machines here have no isolation, so that the tests
//! need no root. The provider tests of the server cover machines with cgroups.

#![allow(non_snake_case)]

#[path = "../../tests/common/wait.rs"]
mod wait;

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use wait::{is_alive, until};

const LAUNCHER: &str = env!("CARGO_BIN_EXE_vivarium-launcher");
const ID: &str = "sbx00000000000000000001";
const OTHER: &str = "sbx00000000000000000002";

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// Home with the machines of a server that has exited.
struct Home {
    folder: PathBuf,
    children: Vec<Child>,
}

impl Home {
    fn new() -> Home {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("viv-orphans-{}-{number}", std::process::id()));
        fs::create_dir_all(folder.join("run")).unwrap();
        File::create(folder.join("lock")).unwrap();
        Home { folder, children: Vec::new() }
    }

    /// Starts a machine with this grace. The watcher recognizes its process by the environment.
    fn machine(&mut self, id: &str, grace: &str) -> i32 {
        let directory = self.folder.join("run").join(id);
        fs::create_dir_all(directory.join("wire")).unwrap();
        let guest = Command::new("sleep").arg("600").env("VIV_SANDBOX", id).stdin(Stdio::null()).spawn().unwrap();
        let pid = guest.id() as i32;
        self.children.push(guest);
        fs::write(directory.join("pid"), pid.to_string()).unwrap();
        fs::write(directory.join("grace"), grace).unwrap();
        pid
    }

    /// Starts a watcher. Its server exits when the test drops `stdin`.
    fn watcher(&mut self) -> usize {
        let watcher = Command::new(LAUNCHER)
            .args(["orphan-watcher", "--grace", "1", "--home"])
            .arg(&self.folder)
            .arg("--run")
            .arg(self.folder.join("run"))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        self.children.push(watcher);
        let pid = self.children.last().unwrap().id().to_string();
        until("the watcher has registered", || {
            fs::read_to_string(self.folder.join("watcher")).is_ok_and(|text| text == pid)
        });
        self.children.len() - 1
    }

    fn end_server(&mut self, watcher: usize) {
        drop(self.children[watcher].stdin.take());
    }

    fn await_end(&mut self, watcher: usize) {
        let child = &mut self.children[watcher];
        until("the watcher has ended", || child.try_wait().unwrap().is_some());
    }

    fn has(&self, name: &str) -> bool {
        self.folder.join(name).exists()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn signal(pid: i32, signal: i32) {
    // SAFETY: no pointers.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

#[test]
fn machinesAreRemovedAfterTheirGraceEvenIfStopped() {
    let mut home = Home::new();
    let (running, stopped) = (home.machine(ID, "1"), home.machine(OTHER, "2"));
    signal(stopped, libc::SIGSTOP);
    let watcher = home.watcher();
    home.end_server(watcher);
    home.await_end(watcher);
    assert!(!is_alive(running) && !is_alive(stopped));
    assert!(!home.has("run") && !home.has("watcher") && home.has("lock"));
    assert_eq!(fs::read(home.folder.join("lock")).unwrap(), b"");
}

#[test]
fn theGraceOfAnUnusedMachineAppliesUntilItsAssignment() {
    let mut home = Home::new();
    let unused = home.machine(ID, "3600");
    fs::write(home.folder.join(format!("run/{ID}/unused")), "1").unwrap();
    let watcher = home.watcher();
    home.end_server(watcher);
    home.await_end(watcher);
    assert!(!is_alive(unused));
}

#[test]
fn nothingIsRemovedWhileTheServerRuns() {
    let mut home = Home::new();
    let guest = home.machine(ID, "1");
    home.watcher();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(3) {
        assert!(is_alive(guest));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn nothingIsRemovedWhenAServerHasTakenTheHome() {
    let mut home = Home::new();
    let guest = home.machine(ID, "1");
    let watcher = home.watcher();
    let lock = File::options().write(true).open(home.folder.join("lock")).unwrap();
    // SAFETY: all zeroes is a valid flock; the kernel reads one.
    unsafe {
        let mut whole: libc::flock = std::mem::zeroed();
        whole.l_type = libc::F_WRLCK as libc::c_short;
        assert_eq!(libc::fcntl(lock.as_raw_fd(), libc::F_OFD_SETLK, &raw const whole), 0);
    }
    home.end_server(watcher);
    home.await_end(watcher);
    assert!(is_alive(guest) && home.has(&format!("run/{ID}")));
}

#[test]
fn aNewerWatcherReplacesTheOlderOne() {
    let mut home = Home::new();
    let guest = home.machine(ID, "1");
    let older = home.watcher();
    let newer = home.watcher();
    home.end_server(older);
    home.await_end(older);
    assert!(is_alive(guest));
    home.end_server(newer);
    home.await_end(newer);
    assert!(!is_alive(guest));
}

#[test]
fn aWatcherWithoutMachinesExitsImmediately() {
    let mut home = Home::new();
    let watcher = home.watcher();
    home.end_server(watcher);
    home.await_end(watcher);
    assert!(!home.has("watcher"));
}

#[test]
fn aProcessWithTheReusedPidOfAGuestIsNotKilled() {
    let mut home = Home::new();
    let guest = home.machine(ID, "1");
    fs::rename(home.folder.join("run").join(ID), home.folder.join("run").join(OTHER)).unwrap();
    let watcher = home.watcher();
    home.end_server(watcher);
    home.await_end(watcher);
    assert!(is_alive(guest) && !home.has("run"));
}
