import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, body, type ThreadKey, threadOf } from '~/api/client'
import type { Scope } from '~/store/scopes'

const NOW_MS = 3_000
const AUDIT_MS = 5_000
const RECENT = 300
const TOKENS = 100

const keyOf = (thread: ThreadKey) => ['thread', thread.user_id, thread.thread_id]

/** Members and their scopes. */
export function useMembers(thread: ThreadKey) {
  return useQuery({
    queryKey: [...keyOf(thread), 'members'],
    queryFn: () => body(api.GET('/threads/{thread_id}/members', { params: threadOf(thread) })),
    refetchInterval: AUDIT_MS,
  })
}

/** Connected users. There is no event for them, so the list is polled. */
export function useConnections(thread: ThreadKey) {
  return useQuery({
    queryKey: [...keyOf(thread), 'connections'],
    queryFn: () => body(api.GET('/threads/{thread_id}/connections', { params: threadOf(thread) })),
    refetchInterval: NOW_MS,
  })
}

/** Operations on the sandbox of the thread, in order, for its owner. */
export function useRecent(thread: ThreadKey, isOwner: boolean) {
  return useQuery({
    queryKey: [...keyOf(thread), 'audit'],
    queryFn: async () => {
      const params = threadOf(thread, { limit: RECENT })
      return (await body(api.GET('/threads/{thread_id}/audit', { params }))).entries
    },
    enabled: isOwner,
    placeholderData: keepPreviousData,
    refetchInterval: AUDIT_MS,
  })
}

/** Issued and revoked tokens. They are requested separately, because they are rare among all entries. */
export function useTokenEntries(thread: ThreadKey, isOwner: boolean) {
  return useQuery({
    queryKey: [...keyOf(thread), 'tokens'],
    queryFn: async () => {
      const kinds = ['issued', 'revoked', 'rotated'] as const
      const pages = await Promise.all(
        kinds.map((kind) =>
          body(api.GET('/threads/{thread_id}/audit', { params: threadOf(thread, { kind, limit: TOKENS }) })),
        ),
      )
      return pages.flatMap((page) => page.entries).sort((a, b) => a.seq - b.seq)
    },
    enabled: isOwner,
    refetchInterval: AUDIT_MS,
  })
}

/** Actions on members and tokens. */
export function useSharing(thread: ThreadKey) {
  const queries = useQueryClient()
  const params = threadOf(thread)
  const onSettled = () => queries.invalidateQueries({ queryKey: keyOf(thread) })
  return {
    invite: useMutation({
      mutationFn: ({ user, scopes }: { user: string; scopes: readonly Scope[] }) =>
        body(api.POST('/threads/{thread_id}/members', { params, body: { user_id: user, scopes: [...scopes] } })),
      onSettled,
    }),
    takeBack: useMutation({
      mutationFn: (user: string) =>
        api.DELETE('/threads/{thread_id}/members/{user_id}', {
          params: { ...params, path: { ...params.path, user_id: user } },
        }),
      onSettled,
    }),
    give: useMutation({
      mutationFn: ({ scopes, ttl }: { scopes: readonly Scope[]; ttl: number }) =>
        body(api.POST('/threads/{thread_id}/sandbox', { params, body: { scopes: [...scopes], ttl } })),
      onSettled,
    }),
    revoke: useMutation({
      mutationFn: (jti: string) => api.POST('/threads/{thread_id}/sandbox/revoke', { params, body: { jti } }),
      onSettled,
    }),
    rotate: useMutation({
      mutationFn: () => api.POST('/threads/{thread_id}/sandbox/revoke', { params, body: { all: true } }),
      onSettled,
    }),
  }
}

export type Sharing = ReturnType<typeof useSharing>
