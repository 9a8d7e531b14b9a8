import { useQuery } from '@tanstack/react-query'
import { api, body } from '~/api/client'
import { parseDiff } from '~/store/diff'

/** The compared versions. */
export interface Moments {
  readonly sandboxId: string
  readonly from: number
  readonly to: number
}

/** Diff of one file between two moments. It never changes, so it is cached. */
export function useDiff({ sandboxId, from, to }: Moments, path: string) {
  return useQuery({
    queryKey: ['sandbox', sandboxId, 'diff', path, from, to],
    queryFn: async () => {
      const query = { path, from_seq: from, to_seq: to }
      const params = { path: { sandbox_id: sandboxId }, query }
      const answer = await body(api.GET('/api/v1/sandboxes/{sandbox_id}/diff', { params }))
      return parseDiff(answer.diff)
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
}
