import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api, body, threadOf } from '~/api/client'
import type { Sandbox } from '~/api/types'
import { allows, type Scope } from '~/store/scopes'

const EVERY_MS = 30_000

/** Whether the user is the owner or the admin. */
export function useIsOwner(sandbox: Sandbox): boolean {
  const { session } = useRouteContext({ from: '/frame' })
  return session.is_admin || session.user_id === sandbox.user_id
}

/**
 * The rights of the user in a sandbox. Until the server has sent the rights of a guest, all of them: the server refuses
 * calls without a right. A caller that acts by itself, and not for a user, passes `no` for that time.
 */
export function useMay(sandbox: Sandbox, meanwhile: 'yes' | 'no' = 'yes'): (scope: Scope) => boolean {
  const isOwner = useIsOwner(sandbox)
  const { data } = useQuery({
    queryKey: ['sandbox', sandbox.sandbox_id, 'scopes'],
    queryFn: async () => {
      const params = threadOf(sandbox)
      const found = await body(api.GET('/threads/{thread_id}/sandbox', { params }))
      return found.sandbox_id === sandbox.sandbox_id ? found.scopes : []
    },
    enabled: !isOwner && sandbox.end === undefined,
    refetchInterval: EVERY_MS,
  })
  return (scope) => isOwner || (data === undefined ? meanwhile === 'yes' : allows(data, scope))
}
