import type { components } from '~/api/schema'

export type Entry = components['schemas']['Audit']['entries'][number]
export type Kind = Entry['kind']

export const KINDS: Readonly<Record<Kind, string>> = {
  used: 'Called the API',
  typed: 'Typed',
  refused: 'Was refused',
  issued: 'Got a token',
  revoked: 'Revoked a token',
  rotated: 'Revoked all tokens',
  invited: 'Invited',
  uninvited: 'Removed a member',
  ended: 'Ended the sandbox',
  frozen: 'Froze the sandbox',
  allowed: 'Changed egress',
  egress: 'Connected out',
  signed_in: 'Signed in',
  signed_out: 'Signed out',
}

/** Descriptions of routes. An entry without one is described by its kind. */
const DEEDS: Readonly<Record<string, string>> = {
  'POST /create_session': 'Created the sandbox',
  'GET /get_session': 'Viewed the sandbox',
  'POST /execute': 'Ran a command',
  'POST /upload_file': 'Uploaded a file',
  'POST /download_file': 'Downloaded a file',
  'GET /list_files': 'Listed the files',
  'POST /admin/keys': 'Issued an API key',
  'GET /admin/keys': 'Listed the API keys',
  'DELETE /admin/keys/{key_id}': 'Revoked an API key',
  'POST /api/v1/sandboxes': 'Started a run',
  'GET /api/v1/sandboxes': 'Listed the sandboxes',
  'GET /api/v1/sandboxes/{sandbox_id}': 'Viewed the sandbox',
  'GET /api/v1/sandboxes/{sandbox_id}/events': 'Followed the timeline',
  'POST /api/v1/sandboxes/{sandbox_id}/events': 'Added events',
  'POST /api/v1/sandboxes/{sandbox_id}/messages': 'Messaged the agent',
  'POST /api/v1/sandboxes/{sandbox_id}/pause': 'Paused the sandbox',
  'POST /api/v1/sandboxes/{sandbox_id}/resume': 'Resumed the sandbox',
  'GET /api/v1/sandboxes/{sandbox_id}/reviews': 'Viewed the reviews',
  'POST /api/v1/sandboxes/{sandbox_id}/reviews/{review_id}': 'Answered the agent',
  'GET /api/v1/sandboxes/{sandbox_id}/files': 'Listed the files',
  'GET /api/v1/sandboxes/{sandbox_id}/files/{path…}': 'Read a file',
  'GET /api/v1/sandboxes/{sandbox_id}/diff': 'Viewed the changes',
  'GET /api/v1/sandboxes/{sandbox_id}/terminal': 'Viewed a terminal',
  'GET /ws/sandboxes/{sandbox_id}': 'Followed the timeline',
  'GET /sandboxes/{sandbox_id}/shell': 'Joined a terminal',
  'GET /sandboxes/{sandbox_id}/shells': 'Listed the terminals',
  'POST /sandboxes/{sandbox_id}/shells': 'Opened a terminal',
  'DELETE /sandboxes/{sandbox_id}/shells/{session_id}': 'Ended a terminal',
  'POST /sandboxes/{sandbox_id}/exec': 'Ran a command',
  'GET /sandboxes/{sandbox_id}/processes': 'Listed the processes',
  'GET /sandboxes/{sandbox_id}/files/{path…}': 'Read a file',
  'PUT /sandboxes/{sandbox_id}/files/{path…}': 'Wrote a file',
  'POST /sandboxes/{sandbox_id}/files/{path…}': 'Moved a file',
  'DELETE /sandboxes/{sandbox_id}/files/{path…}': 'Deleted a file',
  'GET /threads/{thread_id}/sandbox': 'Viewed the sandbox',
  'POST /threads/{thread_id}/heartbeat': 'Sent a heartbeat',
  'POST /threads/{thread_id}/sandbox/heartbeat': 'Sent a heartbeat',
  'GET /threads/{thread_id}/snapshots': 'Listed the snapshots',
  'POST /threads/{thread_id}/snapshots': 'Took a snapshot',
  'POST /threads/{thread_id}/snapshots/{snapshot_id}/restore': 'Restored a snapshot',
  'POST /threads/{thread_id}/snapshots/{snapshot_id}/fork': 'Forked a snapshot',
  'DELETE /threads/{thread_id}/snapshots/{snapshot_id}': 'Deleted a snapshot',
}

/** Operation of a user. */
export function deedOf(entry: Entry): string {
  const deed = entry.kind === 'used' ? DEEDS[entry.route] : undefined
  return deed ?? KINDS[entry.kind] ?? entry.kind
}

/** Consecutive entries of one user with the same content. */
export interface Folded {
  /** The newest entry. */
  readonly entry: Entry
  readonly times: number
  readonly first: Entry
}

/**
 * Newest first. Repeated requests of a polling page are one line. The server writes an entry when the call ends, so the
 * numbers are not in the order of the times.
 */
export function fold(entries: readonly Entry[]): readonly Folded[] {
  const folded: Folded[] = []
  for (const entry of entries.toSorted((a, b) => a.at.localeCompare(b.at) || a.seq - b.seq)) {
    const last = folded.at(-1)
    if (last !== undefined && sameAs(last.entry, entry)) {
      folded[folded.length - 1] = { entry, times: last.times + entry.count, first: last.first }
    } else {
      folded.push({ entry, times: entry.count, first: entry })
    }
  }
  return folded.toReversed()
}

function sameAs(a: Entry, b: Entry): boolean {
  const names = ['kind', 'route', 'outcome', 'sub', 'aud', 'jti', 'detail'] as const
  return names.every((name) => a[name] === b[name])
}

/** Without the user's own reads, because an open screen polls. */
export function withoutOwnLooks(entries: readonly Entry[], me: string): readonly Entry[] {
  const isLook = (entry: Entry) => entry.kind === 'used' && entry.jti === undefined && entry.route.startsWith('GET ')
  return entries.filter((entry) => entry.sub !== me || !isLook(entry))
}

export function isRefusal(entry: Entry): boolean {
  return entry.outcome >= 400
}

/** A token that may still be valid. */
export interface LiveToken {
  readonly jti: string
  readonly subject: string
  readonly scopes: readonly string[]
  readonly issuedAt: string
  readonly endsAt: number
}

/** Maximum lifetime of a token. */
const LONGEST_MS = 900_000

/** Issued tokens that have neither expired nor been revoked, newest first. */
export function liveTokens(entries: readonly Entry[], now: number): readonly LiveToken[] {
  const rotated = entries.findLast((entry) => entry.kind === 'rotated')?.seq ?? 0
  const revoked = new Set(entries.flatMap((entry) => (entry.kind === 'revoked' ? [entry.detail] : [])))
  return entries
    .filter((entry) => entry.kind === 'issued' && entry.seq > rotated)
    .flatMap((entry) => (entry.jti === undefined || revoked.has(entry.jti) ? [] : [tokenOf(entry, entry.jti)]))
    .filter((token) => token.endsAt > now)
    .toReversed()
}

function tokenOf(entry: Entry, jti: string): LiveToken {
  const [, subject, until] = /^for (.+?)(?: until (\S+))?$/.exec(entry.detail ?? '') ?? []
  const endsAt = until === undefined ? Number.NaN : Date.parse(until)
  return {
    jti,
    subject: subject ?? entry.sub ?? '',
    scopes: entry.scope?.split(' ') ?? [],
    issuedAt: entry.at,
    endsAt: Number.isNaN(endsAt) ? Date.parse(entry.at) + LONGEST_MS : endsAt,
  }
}

const COLUMNS = [
  'seq',
  'at',
  'last_at',
  'count',
  'sub',
  'kind',
  'route',
  'outcome',
  'aud',
  'thread_id',
  'jti',
  'scope',
  'detail',
] as const

export function ndjson(entries: readonly Entry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
}

/** CSV without cells that a spreadsheet would evaluate. */
export function csv(entries: readonly Entry[]): string {
  const lines = entries.map((entry) => COLUMNS.map((name) => cell(entry[name])).join(','))
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`
}

function cell(value: string | number | undefined): string {
  const words = String(value ?? '')
  const harmless = typeof value === 'string' && /^[=+\-@\t\r]/.test(words) ? `'${words}` : words
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
