import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { api, body } from '~/api/client'
import { readAgain } from '~/api/read-again'
import type { LogEvent, Sandbox } from '~/api/types'
import { historyOf } from '~/store/history'
import { Watch } from '~/store/watch'

const EVERY_MS = 30_000

const nothing = () => () => undefined

/** Events of a sandbox while the caller is mounted. Renders the caller again after new events. */
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

/** Events after which the description of the server has changed. */
function isDecisive(event: LogEvent): boolean {
  const type = event.event_type
  const isLife = type.startsWith('sandbox.') && type !== 'sandbox.metrics'
  return isLife || type === 'agent.review_requested' || type === 'user.approve' || type === 'user.reject'
}

export interface Details {
  readonly sandbox: Sandbox
  /** Number of the last event that the description includes. */
  readonly seq: number
}

/** State of a sandbox and its run. */
export function useDetails(sandboxId: string) {
  return useQuery({
    queryKey: ['sandbox', sandboxId, 'details'],
    queryFn: async (): Promise<Details> => {
      const params = { path: { sandbox_id: sandboxId } }
      const { sandbox, recent_events: recent } = await body(api.GET('/api/v1/sandboxes/{sandbox_id}', { params }))
      return { sandbox, seq: Math.max(0, ...recent.map((event) => event.seq)) }
    },
    // Every use extends the lease, without an event.
    refetchInterval: EVERY_MS,
  })
}

/** Questions of the agent, newest first. */
export function useReviews(sandboxId: string) {
  return useQuery({
    queryKey: ['sandbox', sandboxId, 'reviews'],
    queryFn: async () => {
      const params = { path: { sandbox_id: sandboxId } }
      return (await body(api.GET('/api/v1/sandboxes/{sandbox_id}/reviews', { params }))).reviews
    },
  })
}
