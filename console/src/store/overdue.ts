/** A sandbox as the admin's list shows it. */
interface Known {
  readonly state: string
  readonly created_at: string
  readonly expires_at: string
  readonly ends_at: string
}

const SLOW_MS = 60_000
/** The reaper comes by itself, but not at once. */
const GRACE_MS = 60_000

/** Why a sandbox may need a hand: nothing should be in these states for long. */
export function overdue(sandbox: Known, now: number): string | undefined {
  if (now - Date.parse(sandbox.ends_at) > GRACE_MS) return 'is past its lifetime'
  if (sandbox.state === 'creating' && now - Date.parse(sandbox.created_at) > SLOW_MS)
    return 'has been starting for a long time'
  if (now - Date.parse(sandbox.expires_at) > GRACE_MS) return 'is past its lease, because it is in use'
  return undefined
}
