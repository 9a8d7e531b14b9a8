//! Process trees.
//!
//! A command is a subreaper, so its descendants stay below it. A tree may grow during a scan of `/proc`. Therefore
//! `kill` first stops every member, repeats the scan until it finds no new process, and kills all, the root last.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::fmt::Write;

use crate::file::{self, open, read_directory};
use crate::{Result, process};

/// Largest number of scans.
const MAX_SCANS: usize = 200;

/// Process in `/proc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEntry {
    pub pid: i32,
    pub parent: i32,
    pub dead: bool,
    /// Clock ticks of the process and of its reaped children.
    pub ticks: u64,
    pub resident_pages: u64,
}

/// Returns all processes in `/proc`.
pub fn all_processes() -> Result<Vec<ProcessEntry>> {
    let proc = open(c"/proc", libc::O_RDONLY | libc::O_DIRECTORY)?;
    let mut entries = Vec::new();
    let mut buffer = [0u8; 8192];
    loop {
        let length = read_directory(&proc, &mut buffer)?;
        if length == 0 {
            return Ok(entries);
        }
        for name in crate::walk::entries(&buffer[..length]) {
            entries.extend(number(name.name.to_bytes()).and_then(read_entry));
        }
    }
}

fn number(digits: &[u8]) -> Option<i32> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

fn read_entry(pid: i32) -> Option<ProcessEntry> {
    let mut path = Path { bytes: [0; 32], length: 0 };
    write!(path, "/proc/{pid}/stat\0").ok()?;
    let mut buffer = [0u8; 1024];
    let text = file::read_small(CStr::from_bytes_until_nul(&path.bytes).ok()?, &mut buffer).ok()?;
    parse(pid, text)
}

/// Parses the fields after the last bracket, because the name in brackets may contain any character.
fn parse(pid: i32, text: &[u8]) -> Option<ProcessEntry> {
    let after = text.iter().rposition(|byte| *byte == b')')? + 2;
    let fields: Vec<&str> = core::str::from_utf8(text.get(after..)?).ok()?.split(' ').collect();
    let field = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(ProcessEntry {
        pid,
        parent: number(fields.get(1)?.as_bytes())?,
        dead: matches!(*fields.first()?, "Z" | "X"),
        ticks: field(11)? + field(12)? + field(13)? + field(14)?,
        resident_pages: field(21)?,
    })
}

struct Path {
    bytes: [u8; 32],
    length: usize,
}

impl Write for Path {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(core::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Returns all descendants of `root` that are no zombies, without `root`.
pub fn descendants(root: i32) -> Vec<ProcessEntry> {
    let entries = all_processes().unwrap_or_default();
    let mut known = BTreeSet::from([root]);
    loop {
        let before = known.len();
        for entry in &entries {
            if known.contains(&entry.parent) {
                known.insert(entry.pid);
            }
        }
        if known.len() == before {
            break;
        }
    }
    entries.into_iter().filter(|entry| entry.pid != root && !entry.dead && known.contains(&entry.pid)).collect()
}

/// Kills a command with all its descendants.
pub fn kill(root: i32) {
    let _ = process::kill(root, libc::SIGSTOP);
    kill_below(root);
    let _ = process::kill(root, libc::SIGKILL);
}

/// Kills all descendants of `root`, but not `root`.
pub fn kill_below(root: i32) {
    let mut stopped = BTreeSet::new();
    for _ in 0..MAX_SCANS {
        let found: Vec<i32> =
            descendants(root).iter().map(|entry| entry.pid).filter(|pid| stopped.insert(*pid)).collect();
        for pid in &found {
            let _ = process::kill(*pid, libc::SIGSTOP);
        }
        if found.is_empty() {
            break;
        }
    }
    for pid in stopped {
        let _ = process::kill(pid, libc::SIGKILL);
    }
}

/// Sends a signal to a command, its process group and all its descendants, once to each.
pub fn signal(root: i32, signal: i32) {
    if signal == libc::SIGKILL {
        return kill(root);
    }
    let below = descendants(root);
    let _ = process::kill(root, signal);
    for entry in below {
        let _ = process::kill(entry.pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aProcessNameWithBracketsAndSpacesIsParsed() {
        let text = b"42 (a) R 1 (b) S 7 42 42 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 5 1000 9 0 0";
        let entry = parse(42, text).unwrap();
        assert_eq!(entry, ProcessEntry { pid: 42, parent: 7, dead: false, ticks: 10, resident_pages: 9 });
    }

    #[test]
    fn theTableContainsThisProcess() {
        let own = std::process::id() as i32;
        assert!(all_processes().unwrap().iter().any(|entry| entry.pid == own));
    }
}
