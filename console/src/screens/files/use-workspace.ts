import { useEffect } from 'react'
import { isAsleep } from '~/api/sandbox-state'
import type { Sandbox } from '~/api/types'
import { isReachable } from '~/live/state'
import type { Watch } from '~/store/watch'
import { type Workspace, workspaceOf } from '~/store/workspace'
import { useMay } from '../sandbox/use-may'

const ENDED: ReadonlySet<Sandbox['state']> = new Set(['terminated', 'failed'])

/** The files of the current sandbox, kept up to date while the caller is mounted. */
export function useWorkspace(sandbox: Sandbox, watch: Watch): Workspace {
  const workspace = workspaceOf(sandbox.sandbox_id, watch, ENDED.has(sandbox.state))
  // Set before the first render: a request during the render must not resume the sandbox.
  workspace.remote.isAwake = sandbox.state === 'running'
  useEffect(() => {
    workspace.follow()
    return watch.events.notifier.subscribe(() => workspace.follow())
  }, [workspace, watch])
  return workspace
}

/** Why files cannot be changed now; undefined if they can. */
export function useWhyNot(sandbox: Sandbox, watch: Watch): string | undefined {
  const may = useMay(sandbox)
  if (ENDED.has(sandbox.state)) return 'The sandbox has ended'
  if (isAsleep(sandbox)) return `The sandbox is ${sandbox.state}: resume it first`
  if (!isReachable(watch.state)) return 'The server cannot be reached now'
  if (!may('fs:rw')) return 'You have read access to the files'
  return undefined
}
