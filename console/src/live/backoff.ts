const FIRST_MS = 1_000
const LONGEST_MS = 30_000

/**
 * How long to wait before the attempt with this number, from zero. Full jitter: after an outage the browsers of a whole
 * company must not come back in the same second.
 */
export function backoff(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt)
}
