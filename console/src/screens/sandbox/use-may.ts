import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api, body } from '~/api/client'
import type { Sandbox } from '~/api/types'
import { allows, type Scope } from '~/store/scopes'

const EVERY_MS = 30_000

/** Whether the reader decides about this sandbox: its owner, or the admin. */
export function useIsOwner(sandbox: Sandbox): boolean {
  const { session } = useRouteContext({ from: '/frame' })
  return session.is_admin || session.user_id === sandbox.user_id
}

/** What the reader may do to it. Until the server has said so to a guest, everything: it refuses what it does not allow. */
export function useMay(sandbox: Sandbox): (scope: Scope) => boolean {
  const isOwner = useIsOwner(sandbox)
  const { data } = useQuery({
    queryKey: ['sandbox', sandbox.sandbox_id, 'scopes'],
    queryFn: async () => {
      const params = { path: { thread_id: sandbox.thread_id } }
      const found = await body(api.GET('/threads/{thread_id}/sandbox', { params }))
      return found.sandbox_id === sandbox.sandbox_id ? found.scopes : []
    },
    enabled: !isOwner && sandbox.end === undefined,
    refetchInterval: EVERY_MS,
  })
  return (scope) => isOwner || data === undefined || allows(data, scope)
}
