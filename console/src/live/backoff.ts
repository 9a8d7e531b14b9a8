const FIRST_MS = 1_000
const LONGEST_MS = 30_000

/**
 * Delay before the attempt with this number, from zero. Full jitter spreads the reconnects of many browsers after an
 * outage.
 */
export function backoff(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt)
}
