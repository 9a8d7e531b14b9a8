import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, body } from '~/api/client'
import type { Entry } from '~/store/audit'
import type { AuditSearch } from './parts'

export const PAGE = 100
const EVERY_MS = 3_000
const EXPORT_PAGE = 1_000
/** Maximum number of entries that a browser exports. The API has no such limit. */
export const EXPORT_MOST = 20_000

function query({ user, kind, sandbox, outcome, before }: AuditSearch, limit: number) {
  return { user_id: user, kind, sandbox_id: sandbox, outcome, before, limit }
}

async function page(search: AuditSearch, limit: number): Promise<readonly Entry[]> {
  return (await body(api.GET('/admin/audit', { params: { query: query(search, limit) } }))).entries
}

/** One page of the audit log. The newest page is polled; older pages do not change. */
export function useAudit(search: AuditSearch) {
  return useQuery({
    queryKey: ['admin', 'audit', query(search, PAGE)],
    queryFn: () => page(search, PAGE),
    placeholderData: keepPreviousData,
    refetchInterval: search.before === undefined ? EVERY_MS : false,
  })
}

/** All matching entries, oldest first, up to a limit. */
export async function allOf(search: AuditSearch): Promise<readonly Entry[]> {
  let before: number | undefined
  let all: readonly Entry[] = []
  while (all.length < EXPORT_MOST) {
    const older = await page({ ...search, before }, EXPORT_PAGE)
    all = [...older, ...all]
    if (older.length < EXPORT_PAGE) break
    before = older[0]?.seq
  }
  return all
}
