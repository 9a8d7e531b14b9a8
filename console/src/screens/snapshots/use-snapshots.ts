import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, body } from '~/api/client'

/** The snapshots of a thread. Each look is in the audit, so nobody asks every few seconds. */
export function useSnapshots(thread: string) {
  return useQuery({
    queryKey: ['thread', thread, 'snapshots'],
    queryFn: () => body(api.GET('/threads/{thread_id}/snapshots', { params: { path: { thread_id: thread } } })),
  })
}

export function useSnapshotActions(thread: string, sandboxId: string) {
  const queries = useQueryClient()
  const path = { thread_id: thread }
  const onSettled = async () => {
    await queries.invalidateQueries({ queryKey: ['thread', thread, 'snapshots'] })
    await queries.invalidateQueries({ queryKey: ['sandbox', sandboxId] })
  }
  return {
    take: useMutation({
      mutationFn: (name: string) =>
        body(api.POST('/threads/{thread_id}/snapshots', { params: { path }, body: { name } })),
      onSettled,
    }),
    restore: useMutation({
      mutationFn: (id: string) =>
        api.POST('/threads/{thread_id}/snapshots/{snapshot_id}/restore', {
          params: { path: { ...path, snapshot_id: id } },
        }),
      onSettled,
    }),
    fork: useMutation({
      mutationFn: ({ id, into }: { id: string; into: string }) =>
        body(
          api.POST('/threads/{thread_id}/snapshots/{snapshot_id}/fork', {
            params: { path: { ...path, snapshot_id: id } },
            body: { thread_id: into },
          }),
        ),
      onSettled,
    }),
    remove: useMutation({
      mutationFn: (id: string) =>
        api.DELETE('/threads/{thread_id}/snapshots/{snapshot_id}', { params: { path: { ...path, snapshot_id: id } } }),
      onSettled,
    }),
  }
}

export type SnapshotActions = ReturnType<typeof useSnapshotActions>
