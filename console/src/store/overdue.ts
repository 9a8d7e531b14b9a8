/** Row of the admin's list of sandboxes. */
interface Known {
  readonly state: string
  readonly created_at: string
  readonly expires_at: string
  readonly ends_at: string
}

const SLOW_MS = 60_000
/** The reaper needs some time. */
const GRACE_MS = 60_000

/** Why a sandbox may need a person: these states are short. */
export function overdue(sandbox: Known, now: number): string | undefined {
  if (now - Date.parse(sandbox.ends_at) > GRACE_MS) return 'is past its lifetime'
  if (sandbox.state === 'creating' && now - Date.parse(sandbox.created_at) > SLOW_MS)
    return 'has been starting for a long time'
  if (now - Date.parse(sandbox.expires_at) > GRACE_MS) return 'is past its lease, because it is in use'
  return undefined
}
