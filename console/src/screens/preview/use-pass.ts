import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, body, threadOf } from '~/api/client'
import { ApiError } from '~/api/problem'
import type { components } from '~/api/schema'
import type { Sandbox } from '~/api/types'

type Token = components['schemas']['Token']

const LIFETIME_S = 900
const SOONEST_MS = 30_000

/** Token for the ports of a sandbox only. It is renewed before it expires, while it is needed. */
export function usePass(sandbox: Sandbox, isWanted: boolean) {
  const queries = useQueryClient()
  return useQuery({
    // Not below the query key of the sandbox: changes of the sandbox do not request another token.
    queryKey: ['preview-pass', sandbox.sandbox_id],
    queryFn: async ({ queryKey }) => {
      const before = queries.getQueryData<Token>(queryKey)
      const token = await (before === undefined ? first(sandbox) : next(sandbox, before))
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

function first(sandbox: Sandbox): Promise<Token> {
  const wish = { sandbox_id: sandbox.sandbox_id, scopes: ['process' as const], ttl: LIFETIME_S }
  return body(api.POST('/threads/{thread_id}/sandbox', { params: threadOf(sandbox), body: wish }))
}

/** Unlike the first request, this one does not create a sandbox. */
function next(sandbox: Sandbox, { token }: Token): Promise<Token> {
  const wish = { sandbox_id: sandbox.sandbox_id, current_token: token, ttl: LIFETIME_S }
  return body(api.POST('/threads/{thread_id}/sandbox/refresh', { params: threadOf(sandbox), body: wish }))
}

const gone = () =>
  new ApiError({
    type: 'urn:vivarium:problem:no-such-sandbox',
    title: 'The thread has another sandbox',
    detail: 'The thread of this sandbox has another sandbox now.',
    status: 404,
  })

/**
 * Whether a program listens on the port. Checked once for each visit, because a response counts as use of the sandbox.
 */
export function useAnswer(place: string, token: string | undefined, look: number) {
  return useQuery({
    queryKey: ['preview-answer', place, look],
    queryFn: async () => {
      const headers = { Authorization: `Bearer ${token}` }
      // Not `ask`: the response of a program does not concern the session.
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
