import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, body } from '~/api/client'
import type { Sandbox } from '~/api/types'
import { isReachable } from '~/live/state'
import type { Watch } from '~/store/watch'
import { type Workspace, workspaceOf } from '~/store/workspace'

const ENDED: ReadonlySet<Sandbox['state']> = new Set(['terminated', 'failed'])

/** The files of the sandbox on the screen, kept up to date while the caller is there. */
export function useWorkspace(sandbox: Sandbox, watch: Watch): Workspace {
  const workspace = workspaceOf(sandbox.sandbox_id, watch, ENDED.has(sandbox.state))
  // Known before anything is drawn: what is asked for while drawing must not wake it.
  workspace.remote.isAwake = sandbox.state === 'running'
  useEffect(() => {
    workspace.follow()
    return watch.events.notifier.subscribe(() => workspace.follow())
  }, [workspace, watch])
  return workspace
}

/** What the caller may do to the sandbox; undefined as long as it is not known, or if nobody says. */
export function useScopes(sandbox: Sandbox): ReadonlySet<string> | undefined {
  const { data } = useQuery({
    queryKey: ['sandbox', sandbox.sandbox_id, 'scopes'],
    queryFn: async () => {
      const params = { path: { thread_id: sandbox.thread_id } }
      const found = await body(api.GET('/threads/{thread_id}/sandbox', { params }))
      return found.sandbox_id === sandbox.sandbox_id ? (found.scopes ?? null) : null
    },
    enabled: !ENDED.has(sandbox.state),
    retry: false,
  })
  return data ? new Set(data) : undefined
}

/** Why files cannot be changed now; nothing if they can. */
export function useWhyNot(sandbox: Sandbox, watch: Watch): string | undefined {
  const scopes = useScopes(sandbox)
  if (ENDED.has(sandbox.state)) return 'The sandbox has ended'
  if (sandbox.state === 'paused') return 'The sandbox is paused: resume it first'
  if (!isReachable(watch.state)) return 'The server cannot be reached now'
  if (scopes !== undefined && !scopes.has('fs:rw')) return 'You may look at the files, not change them'
  return undefined
}
