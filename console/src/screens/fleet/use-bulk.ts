import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '~/api/client'
import { sentence } from '~/api/problem'
import type { FleetRow } from '~/store/fleet'
import type { Action } from '~/store/selection'
import { useFleet } from '../frame/fleet-context'

/** Concurrent requests, few enough for any server. */
const AT_ONCE = 4

export interface Bulk {
  /** Failures by sandbox. */
  readonly failures: ReadonlyMap<string, string>
  readonly isBusy: boolean
  readonly run: (action: Action, rows: readonly FleetRow[]) => Promise<void>
}

/** Applies an action to many sandboxes. A refusal is kept for its sandbox; the others continue. */
export function useBulk(): Bulk {
  const watch = useFleet()
  const { session } = useRouteContext({ from: '/frame' })
  const [failures, setFailures] = useState<ReadonlyMap<string, string>>(new Map())
  const [isBusy, setBusy] = useState(false)

  const run = async (action: Action, rows: readonly FleetRow[]) => {
    setBusy(true)
    const failed = new Map<string, string>()
    const waiting = rows.map((row) => row.sandbox.sandbox_id)
    const work = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        const one = id
        await act(action, one, session.user_id).catch((error: unknown) => failed.set(one, sentence(error)))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    setFailures(failed)
    setBusy(false)
    await watch.load()
  }
  return { failures, isBusy, run }
}

async function act(action: Action, id: string, source: string): Promise<unknown> {
  const params = { path: { sandbox_id: id } }
  switch (action) {
    case 'pause':
      return api.POST('/api/v1/sandboxes/{sandbox_id}/pause', { params })
    case 'resume':
      return api.POST('/api/v1/sandboxes/{sandbox_id}/resume', { params })
    case 'end':
      return api.DELETE('/api/v1/sandboxes/{sandbox_id}', { params })
    case 'interrupt':
      return api.POST('/api/v1/sandboxes/{sandbox_id}/messages', {
        params,
        body: { content: 'Stop what you are doing.', message_type: 'interrupt', source },
      })
  }
}
