import { KINDS, type Kind } from '~/store/audit'

/** The parts of the administration; `?part=` names one. */
export const PARTS = [
  { id: 'keys', label: 'API keys' },
  { id: 'audit', label: 'Audit' },
  { id: 'sandboxes', label: 'Sandboxes' },
] as const

export type Part = (typeof PARTS)[number]['id']

export const OUTCOMES = ['done', 'refused'] as const

/** What of the audit is shown: all of it is in the address. */
export interface AuditSearch {
  readonly user?: string
  readonly kind?: Kind
  readonly sandbox?: string
  readonly outcome?: (typeof OUTCOMES)[number]
  /** The page before this number; without, the newest. */
  readonly before?: number
}

export type AdminSearch = AuditSearch & { readonly part?: Part }

/** Reads what somebody may have written into the address by hand. */
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
