import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, body } from '~/api/client'
import type { components } from '~/api/schema'

/** Figures about the queue and the runs of all users. */
export interface Work {
  readonly queue_depth: number
  readonly oldest_ready_seconds?: number
  readonly runs_last_hour: number
  readonly failure_rate: number
  readonly store_latency_ms: number
}

/** The server and its machine. */
export type Node = components['schemas']['Node'] & { readonly work?: Work }

const EVERY_MS = 15_000

export const nodeQuery = queryOptions({
  queryKey: ['node'],
  queryFn: () => body(api.GET('/api/v1/node')),
  refetchInterval: EVERY_MS,
})

export function useNode(): Node | undefined {
  return useQuery(nodeQuery).data
}
