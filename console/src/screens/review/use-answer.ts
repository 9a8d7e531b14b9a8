import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api } from '~/api/client'
import type { Review } from '~/api/types'

export interface Answer {
  readonly review: Pick<Review, 'sandbox_id' | 'review_id'>
  readonly decision: string
  readonly comment?: string
}

/** Answers a question. Reads the question again after success and after a conflict. */
export function useAnswer() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ review: { sandbox_id, review_id }, ...body }: Answer) =>
      api.POST('/api/v1/sandboxes/{sandbox_id}/reviews/{review_id}', {
        params: { path: { sandbox_id, review_id } },
        body,
      }),
    onSettled: (_data, _error, { review }) =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['sandbox', review.sandbox_id] }),
        queries.invalidateQueries({ queryKey: ['inbox'] }),
      ]),
  })
}
