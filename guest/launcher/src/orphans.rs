//! The orphan watcher: a process on the host that outlives the server and removes the machines that it left.
//!
//! A frozen guest cannot end itself, and no guest can remove its own cgroups and run directory. The server starts one
//! watcher for its home and holds the other end of its standard input. When that closes, the watcher waits until the
//! grace of each machine is over, then kills and removes the machine. Disks stay: the next server starts used sandboxes
//! again on theirs.
//!
//! The watcher acts only while it holds the lock of the home, so never beside a server. It exits when a server takes
//! the home, when a newer watcher has put its process id into `watcher`, or when no machine is left.

use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;

use vivarium_sys::Usage;
use vivarium_sys::tree;
use vivarium_sys::walk::{self, Step, Walk};
use vivarium_sys::{Fd, Result, event, file, now_us, process};

/// Interval of the check for a new server.
const PERIOD_MS: u32 = 1_000;
/// Time limit for the removal of processes, cgroups and loop device of one machine.
const REMOVAL_US: u64 = 30_000_000;
const RETRY_MS: u32 = 10;
/// Number of failed removals after which the watcher exits. The next server tries again.
const MOST_FAILURES: u32 = 20;

/// Options from the command line of the server.
struct Watcher<'a> {
    home: &'a str,
    /// Holds a directory for each machine.
    run: &'a str,
    /// Seconds for a machine that has no grace of its own.
    grace: u64,
    /// In each cgroup hierarchy, the group that holds those of the machines; none if machines have no cgroups.
    groups: Vec<&'a str>,
    /// Groups for the watcher itself, so that a service manager does not kill it together with the server.
    own_groups: Vec<&'a str>,
}

/// Runs the watcher with the arguments that follow `orphan-watcher`.
pub fn watch(arguments: &[&[u8]]) -> core::result::Result<Infallible, Usage> {
    let watcher = Watcher::parse(arguments)?;
    process::default_signals();
    // Leaves the process group and the terminal of the server, so that their signals do not reach the watcher.
    let _ = process::new_session();
    let _ = process::change_directory(c"/");
    watcher.enter_own_groups();
    watcher.register();
    let server = Fd::owned(0);
    while server.read(&mut [0; 64]).is_ok_and(|length| length > 0) {}
    watcher.attend();
    watcher.unregister();
    watcher.leave_own_groups();
    process::exit(0)
}

impl<'a> Watcher<'a> {
    fn parse(arguments: &[&'a [u8]]) -> core::result::Result<Watcher<'a>, Usage> {
        let mut watcher = Watcher { home: "", run: "", grace: 0, groups: Vec::new(), own_groups: Vec::new() };
        let mut rest = arguments.iter();
        while let Some(option) = rest.next() {
            let value = rest.next().ok_or(Usage("an option lacks its value"))?;
            let value = core::str::from_utf8(value).map_err(|_| Usage("an option is not UTF-8"))?;
            match *option {
                b"--home" => watcher.home = value,
                b"--run" => watcher.run = value,
                b"--grace" => watcher.grace = value.parse().map_err(|_| Usage("not a number"))?,
                b"--group" => watcher.groups.push(value),
                b"--own-group" => watcher.own_groups.push(value),
                _ => return Err(Usage("unknown option")),
            }
        }
        if watcher.home.is_empty() || watcher.run.is_empty() || watcher.grace == 0 {
            return Err(Usage("--home, --run and --grace are needed"));
        }
        Ok(watcher)
    }

    /// Waits for the graces to end and removes machines, until nothing is left to do.
    fn attend(&self) {
        let (began, mut failures) = (now_us(), 0);
        while self.is_current() && !self.server_is_back() && failures < MOST_FAILURES {
            let machines = self.machines();
            let spent = (now_us() - began) / 1_000_000;
            let due: Vec<&String> = machines.iter().filter(|id| self.grace_of(id) <= spent).collect();
            if !due.is_empty() || machines.is_empty() {
                let Some(_claim) = Claim::take(self.home).filter(|_| self.is_current()) else { return };
                failures += due.iter().filter(|id| !self.remove(id)).count() as u32;
                if self.machines().is_empty() {
                    return self.remove_empty_places();
                }
            }
            event::sleep_ms(PERIOD_MS);
        }
    }

    fn register(&self) {
        let name = path(&format!("{}/watcher", self.home));
        let _ = file::create(&name, libc::O_TRUNC).and_then(|file| file.write(own_pid().as_bytes()));
    }

    fn unregister(&self) {
        if self.is_current() {
            let _ = unlink(&format!("{}/watcher", self.home), 0);
        }
    }

    /// Reports whether no other watcher has taken the home over, and the home is still there. On a full disk the file
    /// is empty.
    fn is_current(&self) -> bool {
        let newest = read(&format!("{}/watcher", self.home));
        // Only a path: to close a descriptor of the lock file would give up the lock of this process.
        newest == own_pid() || newest.is_empty() && file::open(&lock_of(self.home), libc::O_PATH).is_ok()
    }

    fn server_is_back(&self) -> bool {
        file::open(&lock_of(self.home), libc::O_RDWR).is_ok_and(|lock| file::is_locked(&lock))
    }

    /// Every machine that has a directory or a cgroup.
    fn machines(&self) -> Vec<String> {
        let places = core::iter::once(&self.run).chain(&self.groups);
        let mut ids: Vec<String> = places.flat_map(|place| names(place)).filter(|name| is_machine(name)).collect();
        ids.sort();
        ids.dedup();
        ids
    }

    /// The server writes two graces to the run directory of each machine. The one in `unused` counts until the server
    /// removes that file, when it hands the machine out.
    fn grace_of(&self, id: &str) -> u64 {
        let grace = |name: &str| read(&format!("{}/{id}/{name}", self.run)).trim().parse().ok();
        grace("unused").or_else(|| grace("grace")).unwrap_or(self.grace)
    }

    /// Kills a machine and removes everything but its disk. Reports whether that worked.
    fn remove(&self, id: &str) -> bool {
        let directory = format!("{}/{id}", self.run);
        let groups: Vec<String> = self.groups.iter().map(|group| format!("{group}/{id}")).collect();
        wait_until(|| if groups.is_empty() { kill_guest(&directory, id) } else { kill_groups(&groups) })
            && wait_until(|| groups.iter().all(|group| remove_group(group)))
            && wait_until(|| !holds_loop(&directory, id))
            && remove_tree(&directory).is_ok()
    }

    /// Removes the groups and the run directory, which the server removes when it shuts down.
    fn remove_empty_places(&self) {
        for group in &self.groups {
            let _ = unlink(group, libc::AT_REMOVEDIR);
            let _ = unlink(parent(group), libc::AT_REMOVEDIR);
        }
        // A run directory in memory has a link in the home.
        let mut target = [0; 4096];
        match file::read_link(&path(self.run), &mut target) {
            Ok(target) => {
                if unlink(&String::from_utf8_lossy(target), libc::AT_REMOVEDIR).is_ok() {
                    let _ = unlink(self.run, 0);
                }
            }
            Err(_) => {
                let _ = unlink(self.run, libc::AT_REMOVEDIR);
            }
        }
    }

    fn enter_own_groups(&self) {
        for group in &self.own_groups {
            // Another watcher of the home may just remove the group: then a second attempt makes it again.
            for _ in 0..2 {
                let _ = file::make_directory(&path(group), 0o755);
                if write(&format!("{group}/cgroup.procs"), b"0").is_ok() {
                    break;
                }
            }
        }
    }

    /// A process cannot remove the group that it is in. The root of a container may not take processes; then the group
    /// `init`, which the server makes there, does.
    fn leave_own_groups(&self) {
        for group in &self.own_groups {
            let root = parent(group);
            if write(&format!("{root}/cgroup.procs"), b"0").is_err() {
                let _ = write(&format!("{root}/init/cgroup.procs"), b"0");
            }
            let _ = unlink(group, libc::AT_REMOVEDIR);
        }
    }
}

/// The lock of the home. While the file is not empty, a server that starts waits for the lock.
struct Claim(Fd);

impl Claim {
    /// Takes the lock. Returns none if a server holds it or the lock file does not exist.
    fn take(home: &str) -> Option<Claim> {
        let lock = file::open(&lock_of(home), libc::O_RDWR).ok()?;
        file::try_lock(&lock).ok()?;
        let _ = lock.write(b"the orphan watcher removes machines\n");
        Some(Claim(lock))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = file::truncate(&self.0);
    }
}

/// Kills what is in the groups of a machine, frozen or not. Reports whether nothing is left.
fn kill_groups(groups: &[String]) -> bool {
    let empty = groups.iter().filter(|group| !kill_group(group)).count() == 0;
    // With the first version of cgroups a frozen process dies only when it is thawed.
    for group in groups {
        let _ = write(&format!("{group}/freezer.state"), b"THAWED");
    }
    empty
}

fn kill_group(group: &str) -> bool {
    let below = names(group).iter().filter(|name| !kill_group(&format!("{group}/{name}"))).count();
    if write(&format!("{group}/cgroup.kill"), b"1").is_err() {
        for pid in processes(group) {
            let _ = process::kill(pid, libc::SIGKILL);
        }
    }
    below == 0 && processes(group).is_empty()
}

fn processes(group: &str) -> Vec<i32> {
    let lines = read(&format!("{group}/cgroup.procs"));
    lines.lines().filter_map(|pid| pid.parse().ok()).filter(|pid| *pid > 0).collect()
}

fn remove_group(group: &str) -> bool {
    for name in names(group) {
        remove_group(&format!("{group}/{name}"));
    }
    unlink(group, libc::AT_REMOVEDIR).is_ok() || file::open(&path(group), libc::O_PATH).is_err()
}

/// Kills a guest that has no cgroup, with its processes. The process id may belong to another process by now, so the
/// environment must name the machine. Reports whether the guest is gone.
fn kill_guest(directory: &str, id: &str) -> bool {
    let Some(pid) = read(&format!("{directory}/pid")).trim().parse::<i32>().ok().filter(|pid| *pid > 1) else {
        return true;
    };
    let mark = format!("VIV_SANDBOX={id}");
    if !read(&format!("/proc/{pid}/environ")).split('\0').any(|variable| variable == mark) {
        return true;
    }
    tree::kill(pid);
    false
}

/// Reports whether the loop device that the launcher noted still has the disk of the machine.
fn holds_loop(directory: &str, id: &str) -> bool {
    let number = read(&format!("{directory}/loop"));
    read(&format!("/sys/block/loop{}/loop/backing_file", number.trim())).contains(id)
}

/// Removes a directory. Links are not followed, and other file systems are not entered.
fn remove_tree(directory: &str) -> Result<()> {
    let root = file::open(&path(directory), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW);
    let Ok(root) = root else { return Ok(()) };
    let device = file::stat_of(&root)?.device;
    let mut walk = Walk::new(root, Vec::new())?;
    loop {
        match walk.step()? {
            Step::Entry(name, stat) if stat.is(libc::S_IFDIR) && stat.device == device => walk.descend(name)?,
            Step::Entry(name, _) => file::unlink_at(walk.directory()?, &name, 0)?,
            Step::Leave(name) => file::unlink_at(walk.directory()?, &name, libc::AT_REMOVEDIR)?,
            Step::Done => return unlink(directory, libc::AT_REMOVEDIR),
        }
    }
}

fn wait_until(mut holds: impl FnMut() -> bool) -> bool {
    let deadline = now_us() + REMOVAL_US;
    loop {
        if holds() {
            return true;
        }
        if now_us() > deadline {
            return false;
        }
        event::sleep_ms(RETRY_MS);
    }
}

/// The shape of a sandbox id.
fn is_machine(name: &str) -> bool {
    name.len() == 23 && name.starts_with("sbx") && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

/// The directories in a directory; none if it is not there.
fn names(directory: &str) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(open) = file::open(&path(directory), libc::O_RDONLY | libc::O_DIRECTORY) else { return names };
    let mut buffer = [0u8; 8192];
    while let Ok(length @ 1..) = file::read_directory(&open, &mut buffer) {
        let entries = walk::entries(&buffer[..length]).map(|entry| entry.name);
        let directories = entries.filter(|name| {
            !matches!(name.to_bytes(), b"." | b"..")
                && file::stat_at(&open, name).is_ok_and(|stat| stat.is(libc::S_IFDIR))
        });
        names.extend(directories.map(|name| String::from_utf8_lossy(name.to_bytes()).into_owned()));
    }
    names
}

/// The text of a file; empty if it is not there.
fn read(name: &str) -> String {
    let mut text = Vec::new();
    let mut buffer = [0u8; 8192];
    if let Ok(file) = file::open(&path(name), libc::O_RDONLY) {
        while let Ok(length @ 1..) = file.read(&mut buffer) {
            text.extend_from_slice(&buffer[..length]);
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn write(name: &str, value: &[u8]) -> Result<()> {
    file::open(&path(name), libc::O_WRONLY)?.write(value).map(drop)
}

fn unlink(name: &str, flags: i32) -> Result<()> {
    file::unlink(&path(name), flags)
}

fn parent(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn lock_of(home: &str) -> CString {
    path(&format!("{home}/lock"))
}

fn own_pid() -> String {
    format!("{}", process::own_pid())
}

fn path(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}
