import type { QueryClient, QueryKey } from '@tanstack/react-query'

/**
 * Reads from the server again after a change. Drops a response that is under way, because it may be older than the
 * change. `invalidateQueries` alone drops it only if the query has data: a change during the first request is then lost.
 */
export async function readAgain(queries: QueryClient, queryKey: QueryKey): Promise<void> {
  await queries.cancelQueries({ queryKey })
  await queries.invalidateQueries({ queryKey })
}
