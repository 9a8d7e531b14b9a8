import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { api, body } from '~/api/client'
import { readAgain } from '~/api/read-again'
import type { LogEvent, Sandbox } from '~/api/types'
import { historyOf } from '~/store/history'
import { Watch } from '~/store/watch'

const EVERY_MS = 30_000

const nothing = () => () => undefined

/** The events of a sandbox while the caller is on the screen, and a new rendering when there are more. */
export function useWatch(sandboxId: string): Watch | undefined {
  const [watch, setWatch] = useState<Watch>()
  const queries = useQueryClient()

  useEffect(() => {
    const asked = (event: LogEvent) => {
      if (isDecisive(event)) void readAgain(queries, ['sandbox', sandboxId])
    }
    const started = new Watch(sandboxId, historyOf(sandboxId), asked)
    started.start()
    setWatch(started)
    return () => started.close()
  }, [sandboxId, queries])

  const notifier = watch?.events.notifier
  useSyncExternalStore(notifier?.subscribe ?? nothing, notifier?.version ?? (() => 0))
  return watch
}

/** After these the server's own description has changed. */
function isDecisive(event: LogEvent): boolean {
  const type = event.event_type
  const isLife = type.startsWith('sandbox.') && type !== 'sandbox.metrics'
  return isLife || type === 'agent.review_requested' || type === 'user.approve' || type === 'user.reject'
}

export interface Details {
  readonly sandbox: Sandbox
  /** The last event that the description knows of. */
  readonly seq: number
}

/** How a sandbox and its run stand. */
export function useDetails(sandboxId: string) {
  return useQuery({
    queryKey: ['sandbox', sandboxId, 'details'],
    queryFn: async (): Promise<Details> => {
      const params = { path: { sandbox_id: sandboxId } }
      const { sandbox, recent_events: recent } = await body(api.GET('/api/v1/sandboxes/{sandbox_id}', { params }))
      return { sandbox, seq: Math.max(0, ...recent.map((event) => event.seq)) }
    },
    // A lease moves with every use, and no event tells of it.
    refetchInterval: EVERY_MS,
  })
}

/** What the agent has asked, newest first. */
export function useReviews(sandboxId: string) {
  return useQuery({
    queryKey: ['sandbox', sandboxId, 'reviews'],
    queryFn: async () => {
      const params = { path: { sandbox_id: sandboxId } }
      return (await body(api.GET('/api/v1/sandboxes/{sandbox_id}/reviews', { params }))).reviews
    },
  })
}
