import type { Run, Sandbox } from './types'

/** Whether the next call must start or resume the sandbox. */
export function isAsleep({ state }: Pick<Sandbox, 'state'>): boolean {
  return state === 'paused' || state === 'hibernated'
}

/** Whether the sandbox can be used, possibly after a start or resume. */
export function isAlive(sandbox: Pick<Sandbox, 'state'>): boolean {
  return sandbox.state === 'running' || isAsleep(sandbox)
}

/** Whether there is a run that has not ended. */
export function isActive(run: Run | undefined): run is Run {
  return run !== undefined && run.ended_at === undefined
}
