import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '~/api/client'

export type Speech = 'user_message' | 'guidance' | 'interrupt'

/** Actions on a sandbox and its agent. A failure is kept with its action, for display. */
export function useActions(sandboxId: string) {
  const queries = useQueryClient()
  const { session } = useRouteContext({ from: '/frame' })
  const params = { path: { sandbox_id: sandboxId } }
  const onSettled = () => queries.invalidateQueries({ queryKey: ['sandbox', sandboxId] })
  return {
    say: useMutation({
      mutationFn: ({ content, type }: { content: string; type: Speech }) =>
        api.POST('/api/v1/sandboxes/{sandbox_id}/messages', {
          params,
          body: { content, message_type: type, source: session.user_id },
        }),
    }),
    pause: useMutation({ mutationFn: () => api.POST('/api/v1/sandboxes/{sandbox_id}/pause', { params }), onSettled }),
    resume: useMutation({ mutationFn: () => api.POST('/api/v1/sandboxes/{sandbox_id}/resume', { params }), onSettled }),
    stop: useMutation({
      mutationFn: (runId: string) => api.POST('/api/v1/runs/{run_id}/cancel', { params: { path: { run_id: runId } } }),
      onSettled,
    }),
    end: useMutation({ mutationFn: () => api.DELETE('/api/v1/sandboxes/{sandbox_id}', { params }), onSettled }),
  }
}

export type Actions = ReturnType<typeof useActions>
