import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, body, type ThreadKey, threadOf } from '~/api/client'

/** The snapshots of a thread. Each read is in the audit log, so the list is not polled. */
export function useSnapshots(thread: ThreadKey) {
  return useQuery({
    queryKey: ['thread', thread.user_id, thread.thread_id, 'snapshots'],
    queryFn: () => body(api.GET('/threads/{thread_id}/snapshots', { params: threadOf(thread) })),
  })
}

export function useSnapshotActions(thread: ThreadKey, sandboxId: string) {
  const queries = useQueryClient()
  const params = threadOf(thread)
  const paramsOf = (id: string) => ({ ...params, path: { ...params.path, snapshot_id: id } })
  const onSettled = async () => {
    await queries.invalidateQueries({ queryKey: ['thread', thread.user_id, thread.thread_id, 'snapshots'] })
    await queries.invalidateQueries({ queryKey: ['sandbox', sandboxId] })
  }
  return {
    take: useMutation({
      mutationFn: (name: string) => body(api.POST('/threads/{thread_id}/snapshots', { params, body: { name } })),
      onSettled,
    }),
    restore: useMutation({
      mutationFn: (id: string) =>
        api.POST('/threads/{thread_id}/snapshots/{snapshot_id}/restore', {
          params: paramsOf(id),
        }),
      onSettled,
    }),
    fork: useMutation({
      mutationFn: ({ id, into }: { id: string; into: string }) =>
        body(
          api.POST('/threads/{thread_id}/snapshots/{snapshot_id}/fork', {
            params: paramsOf(id),
            body: { thread_id: into },
          }),
        ),
      onSettled,
    }),
    remove: useMutation({
      mutationFn: (id: string) => api.DELETE('/threads/{thread_id}/snapshots/{snapshot_id}', { params: paramsOf(id) }),
      onSettled,
    }),
  }
}

export type SnapshotActions = ReturnType<typeof useSnapshotActions>
