import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import { api, body } from '~/api/client'
import type { LogEvent, Sandbox } from '~/api/types'
import { type Item, merged } from '~/store/inbox'
import { useFleet } from '../frame/fleet-context'
import { useSeen } from './seen'
import { useWaiting } from './use-waiting'

const EVERY_MS = 30_000
const MOST_FAILED = 100
const MOST_WAITING = 1_000
/** Maximum number of runs whose interventions are read: those with the newest events. */
const MOST_ASKED = 20
const MOST_INTERVENTIONS = 5

/** Everything that needs a person, and a function that reads it again. */
export function useInbox() {
  const { fleet } = useFleet()
  const waiting = useWaiting()
  const [seen, putAway] = useSeen()
  const held = useRef(new Set<string>())
  const ended = fleet.rows.filter((row) => row.status === 'failed').length
  const query = useQuery({
    // A changed number of questions or failures reloads the list.
    queryKey: ['inbox', waiting, ended],
    queryFn: () => read(newestRuns(fleet.rows.map((row) => row.sandbox))),
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  })
  const { data } = query
  const items = useMemo((): readonly Item[] | undefined => {
    if (data === undefined) return undefined
    for (const review of data.reviews) if (review.status === 'pending') held.current.add(review.review_id)
    return merged({ ...data, seen, held: held.current, now: Date.now() })
  }, [data, seen])
  return { items, error: query.error, refetch: query.refetch, putAway }
}

function newestRuns(sandboxes: readonly Sandbox[]): Sandbox[] {
  return sandboxes
    .filter((sandbox) => sandbox.run !== undefined)
    .sort((a, b) => b.last_activity.localeCompare(a.last_activity))
    .slice(0, MOST_ASKED)
}

async function read(runs: readonly Sandbox[]) {
  const failedQuery = { status: 'failed' as const, runs: 'only' as const, limit: MOST_FAILED }
  const [waiting, recent, { sandboxes: failed }, interventions] = await Promise.all([
    body(api.GET('/api/v1/reviews', { params: { query: { status: 'pending', limit: MOST_WAITING } } })),
    // The newest items, to show the results of those that waited.
    body(api.GET('/api/v1/reviews')),
    body(api.GET('/api/v1/sandboxes', { params: { query: failedQuery } })),
    Promise.all(runs.map(interventionsOf)).then((lists) => lists.flat()),
  ])
  // An old question may still be open and is not among the newest. Questions that are in neither list were answered.
  const known = new Set(recent.reviews.map((review) => review.review_id))
  const reviews = [...recent.reviews, ...waiting.reviews.filter((review) => !known.has(review.review_id))]
  return { reviews, failed, interventions }
}

/** Interventions of supervisors in the logs. A log that cannot be read does not hide the others. */
async function interventionsOf(sandbox: Sandbox) {
  const params = {
    path: { sandbox_id: sandbox.sandbox_id },
    query: { type: 'guardian.intervention', newest: true, limit: MOST_INTERVENTIONS },
  }
  const page = await body(api.GET('/api/v1/sandboxes/{sandbox_id}/events', { params })).catch(() => undefined)
  if (page === undefined || typeof page === 'string') return []
  return page.events.map((event) => ({ sandbox, event: event as LogEvent }))
}
