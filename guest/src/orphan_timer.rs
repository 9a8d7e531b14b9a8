//! Timer for the time without a host.

/// Longest time that one turn of the loop counts. The time of a freeze does not count, so that a guest has time to
/// reconnect after it is thawed.
const MAX_TURN_US: u64 = 1_000_000;

/// Time without a connection on which the host has sent WELCOME.
#[derive(Default)]
pub struct OrphanTimer {
    /// None means no limit.
    grace_us: Option<u64>,
    spent_us: u64,
    /// Last check on the monotonic clock; none while a host is connected.
    checked_us: Option<u64>,
}

impl OrphanTimer {
    /// Sets the grace in seconds; 0 removes it.
    pub fn set_grace(&mut self, seconds: u32) {
        self.grace_us = (seconds > 0).then_some(u64::from(seconds) * 1_000_000);
    }

    /// Sets the time to zero, for a connected host.
    pub fn reset(&mut self) {
        (self.spent_us, self.checked_us) = (0, None);
    }

    /// Counts the time until `now`. Reports whether the grace is over.
    pub fn is_over(&mut self, now: u64) -> bool {
        let checked = self.checked_us.replace(now).unwrap_or(now);
        self.spent_us += now.saturating_sub(checked).min(MAX_TURN_US);
        self.grace_us.is_some_and(|grace| self.spent_us >= grace)
    }

    /// Time of the next check; none while the timer does not run.
    pub fn next_check(&self) -> Option<u64> {
        let (checked, grace) = (self.checked_us?, self.grace_us?);
        Some(checked + grace.saturating_sub(self.spent_us).min(MAX_TURN_US))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    fn with_grace(seconds: u32) -> OrphanTimer {
        let mut timer = OrphanTimer::default();
        timer.set_grace(seconds);
        timer
    }

    #[test]
    fn theGraceEndsAfterItsTimeInShortIterations() {
        let mut timer = with_grace(3);
        let over = (0..100).position(|turn| timer.is_over(turn * SECOND / 2));
        assert_eq!(over, Some(6));
    }

    #[test]
    fn frozenTimeDoesNotCount() {
        let mut timer = with_grace(3);
        assert!(!timer.is_over(0));
        assert!(!timer.is_over(3600 * SECOND), "one iteration counts for at most one second");
        assert!(!timer.is_over(3601 * SECOND));
        assert!(timer.is_over(3602 * SECOND));
    }

    #[test]
    fn aConnectionRestartsTheGrace() {
        let mut timer = with_grace(2);
        assert!(!timer.is_over(0));
        assert!(!timer.is_over(SECOND));
        timer.reset();
        assert!(!timer.is_over(2 * SECOND));
        assert!(!timer.is_over(3 * SECOND));
        assert!(timer.is_over(4 * SECOND));
    }

    #[test]
    fn withoutAGraceTheTimerNeverEnds() {
        let mut timer = with_grace(0);
        assert!((0..10_000).all(|turn| !timer.is_over(turn * SECOND)));
        assert_eq!(timer.next_check(), None);
    }

    #[test]
    fn theNextCheckIsNoLaterThanTheEndOfTheGrace() {
        let mut timer = with_grace(2);
        assert_eq!(timer.next_check(), None);
        assert!(!timer.is_over(0));
        assert_eq!(timer.next_check(), Some(SECOND));
        assert!(!timer.is_over(SECOND));
        assert!(!timer.is_over(SECOND + 700_000));
        assert_eq!(timer.next_check(), Some(2 * SECOND));
    }
}
