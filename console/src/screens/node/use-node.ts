import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, body } from '~/api/client'
import type { components } from '~/api/schema'

/** Figures about the queue and the runs of all users. */
export type Work = components['schemas']['HealthOfWork']

/** The server and its machine. */
export type Node = components['schemas']['Node']

const EVERY_MS = 15_000

export const nodeQuery = queryOptions({
  queryKey: ['node'],
  queryFn: () => body(api.GET('/api/v1/node')),
  refetchInterval: EVERY_MS,
})

export function useNode(): Node | undefined {
  return useQuery(nodeQuery).data
}
