//! A process and everything that descends from it.
//!
//! A command is a subreaper, so whatever forks away from it stays below it. To kill a tree that grows while one looks,
//! every member is stopped first; only when a look finds nobody new is it killed, the root last.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::fmt::Write;

use crate::sys::file::{self, open, read_directory};
use crate::sys::{Result, process};

/// A look at the process table is repeated so often at most; each stops everybody it sees.
const LOOKS: usize = 200;

/// One line of the process table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub pid: i32,
    pub parent: i32,
    pub dead: bool,
    /// Clock ticks of itself and of the children it has waited for.
    pub ticks: u64,
    pub resident_pages: u64,
}

/// Everyone in `/proc`.
pub fn everyone() -> Result<Vec<Line>> {
    let proc = open(c"/proc", libc::O_RDONLY | libc::O_DIRECTORY)?;
    let mut lines = Vec::new();
    let mut buffer = [0u8; 8192];
    loop {
        let length = read_directory(&proc, &mut buffer)?;
        if length == 0 {
            return Ok(lines);
        }
        for entry in crate::walk::entries(&buffer[..length]) {
            lines.extend(number(entry.name.to_bytes()).and_then(line_of));
        }
    }
}

fn number(digits: &[u8]) -> Option<i32> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

fn line_of(pid: i32) -> Option<Line> {
    let mut path = Path { bytes: [0; 32], length: 0 };
    write!(path, "/proc/{pid}/stat\0").ok()?;
    let mut buffer = [0u8; 1024];
    let text = file::read_small(CStr::from_bytes_until_nul(&path.bytes).ok()?, &mut buffer).ok()?;
    parse(pid, text)
}

/// The name in brackets may hold anything, so fields are counted from the last bracket.
fn parse(pid: i32, text: &[u8]) -> Option<Line> {
    let after = text.iter().rposition(|byte| *byte == b')')? + 2;
    let fields: Vec<&str> = core::str::from_utf8(text.get(after..)?).ok()?.split(' ').collect();
    let field = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Line {
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

/// All living descendants of `root`, without itself.
pub fn descendants(root: i32) -> Vec<Line> {
    let lines = everyone().unwrap_or_default();
    let mut known = BTreeSet::from([root]);
    loop {
        let before = known.len();
        for line in &lines {
            if known.contains(&line.parent) {
                known.insert(line.pid);
            }
        }
        if known.len() == before {
            break;
        }
    }
    lines.into_iter().filter(|line| line.pid != root && !line.dead && known.contains(&line.pid)).collect()
}

/// Kills a command with all its descendants.
pub fn kill(root: i32) {
    let _ = process::kill(root, libc::SIGSTOP);
    kill_below(root);
    let _ = process::kill(root, libc::SIGKILL);
}

/// Kills all descendants of `root`, not itself.
pub fn kill_below(root: i32) {
    let mut stopped = BTreeSet::new();
    for _ in 0..LOOKS {
        let found: Vec<i32> =
            descendants(root).iter().map(|line| line.pid).filter(|pid| stopped.insert(*pid)).collect();
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
    for line in below {
        let _ = process::kill(line.pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aNameWithBracketsAndSpacesIsNoTrap() {
        let text = b"42 (a) R 1 (b) S 7 42 42 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 5 1000 9 0 0";
        let line = parse(42, text).unwrap();
        assert_eq!(line, Line { pid: 42, parent: 7, dead: false, ticks: 10, resident_pages: 9 });
    }

    #[test]
    fn thisTestIsInTheTable() {
        let own = std::process::id() as i32;
        assert!(everyone().unwrap().iter().any(|line| line.pid == own));
    }
}
