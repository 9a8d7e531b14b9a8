import { useFleet } from '../frame/fleet-context'

/** Number of open questions of agents. */
export function useWaiting(): number {
  return useFleet().fleet.rows.reduce((sum, row) => sum + row.pendingReviews, 0)
}
