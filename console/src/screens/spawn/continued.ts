import type { Sandbox } from '~/api/types'
import { type Draft, EMPTY } from './draft'
import { shellWord } from './quote'

/** Draft that continues an ended run: same agent, same user, and its conversation. */
export function continued({ sandbox_id, user_id, run }: Sandbox): Draft {
  const start = { ...EMPTY, resumeFrom: sandbox_id, user: user_id }
  if (run === undefined) return start
  return {
    ...start,
    runtime: run.runtime,
    title: run.task?.title ?? '',
    model: run.model ?? '',
    budget: run.budget_usd === undefined ? '' : String(run.budget_usd),
    guardian: run.guardian ?? '',
    command: (run.command ?? []).map(shellWord).join(' '),
  }
}
