import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api } from '~/api/client'
import type { Review } from '~/api/types'

/** Answers a question. Whether it went well or somebody was faster, what is known of it is read again. */
export function useAnswer({ sandbox_id, review_id }: Review) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: { decision: string; comment?: string }) =>
      api.POST('/api/v1/sandboxes/{sandbox_id}/reviews/{review_id}', {
        params: { path: { sandbox_id, review_id } },
        body,
      }),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['sandbox', sandbox_id] }),
        queries.invalidateQueries({ queryKey: ['inbox'] }),
      ]),
  })
}
