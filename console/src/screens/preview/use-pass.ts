import { useQuery } from '@tanstack/react-query'
import { api, body } from '~/api/client'
import { ApiError } from '~/api/problem'
import type { Sandbox } from '~/api/types'

const LIFETIME_S = 900
const SOONEST_MS = 30_000

/** A token for the ports of a sandbox and nothing else. It is renewed before it ends, as long as it is wanted. */
export function usePass(sandbox: Sandbox, isWanted: boolean) {
  return useQuery({
    queryKey: ['sandbox', sandbox.sandbox_id, 'preview-pass'],
    queryFn: async () => {
      const params = { path: { thread_id: sandbox.thread_id } }
      const wish = { sandbox_id: sandbox.sandbox_id, scopes: ['process' as const], ttl: LIFETIME_S }
      const token = await body(api.POST('/threads/{thread_id}/sandbox', { params, body: wish }))
      if (token.sandbox_id !== sandbox.sandbox_id) throw gone()
      return token
    },
    enabled: isWanted,
    retry: false,
    staleTime: SOONEST_MS,
    gcTime: 0,
    refetchInterval: ({ state: { data } }) =>
      data === undefined ? false : Math.max(SOONEST_MS, Date.parse(data.refresh_before) - Date.now()),
  })
}

const gone = () =>
  new ApiError({
    type: 'urn:vivarium:problem:no-such-sandbox',
    title: 'The thread has another sandbox',
    detail: 'The thread of this sandbox has another one by now.',
    status: 404,
  })

/** Whether somebody answers on the port. Asked once for each look: an answer is a use of the sandbox. */
export function useAnswer(place: string, token: string | undefined, look: number) {
  return useQuery({
    queryKey: ['preview-answer', place, look],
    queryFn: async () => {
      const headers = { Authorization: `Bearer ${token}` }
      // Not `ask`: what a program refuses says nothing about our session.
      const answer = await fetch(`${place}/`, { method: 'HEAD', headers, redirect: 'manual', credentials: 'omit' })
      const isOurs = answer.headers.get('Content-Type')?.startsWith('application/problem+json') ?? false
      return !(isOurs && (answer.status === 502 || answer.status === 504))
    },
    enabled: token !== undefined,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}
