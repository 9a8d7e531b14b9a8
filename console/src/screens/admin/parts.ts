import { KINDS, type Kind } from '~/store/audit'

/** Tabs of the administration; `?part=` selects one. */
export const PARTS = [
  { id: 'keys', label: 'API keys' },
  { id: 'audit', label: 'Audit' },
  { id: 'sandboxes', label: 'Sandboxes' },
] as const

export type Part = (typeof PARTS)[number]['id']

export const OUTCOMES = ['done', 'refused'] as const

/** Filter of the audit log, stored in the address. */
export interface AuditSearch {
  readonly user?: string
  readonly kind?: Kind
  readonly sandbox?: string
  readonly outcome?: (typeof OUTCOMES)[number]
  /** Number before which the page ends; absent for the newest page. */
  readonly before?: number
}

export type AdminSearch = AuditSearch & { readonly part?: Part }

/** Reads the filter from the address, which a user may have edited. */
export function adminSearch(search: Record<string, unknown>): AdminSearch {
  const text = (name: string) => {
    const given = search[name]
    return typeof given === 'string' && given !== '' ? given : typeof given === 'number' ? String(given) : undefined
  }
  const before = search.before
  return {
    part: PARTS.find((part) => part.id === search.part)?.id,
    user: text('user'),
    kind: (Object.keys(KINDS) as Kind[]).find((kind) => kind === search.kind),
    sandbox: text('sandbox'),
    outcome: OUTCOMES.find((outcome) => outcome === search.outcome),
    before: typeof before === 'number' && Number.isSafeInteger(before) && before > 0 ? before : undefined,
  }
}
