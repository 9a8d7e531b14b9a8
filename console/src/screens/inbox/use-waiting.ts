import { useFleet } from '../frame/fleet-context'

/** How many questions of agents have no answer. */
export function useWaiting(): number {
  return useFleet().fleet.rows.reduce((sum, row) => sum + row.pendingReviews, 0)
}
