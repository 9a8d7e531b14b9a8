//! Waiting for a condition on the host.

use std::time::{Duration, Instant};

/// Longer than any step takes on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// Reports whether a process exists and is no zombie.
pub fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Polls `condition` until it is true; fails after `TIMEOUT`.
pub fn until(description: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "timed out: {description}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
