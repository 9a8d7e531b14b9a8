import { isAlive, isAsleep } from '~/api/sandbox-state'
import type { FleetRow } from './fleet'

export const ACTIONS = ['pause', 'resume', 'interrupt', 'end'] as const
export type Action = (typeof ACTIONS)[number]

/** From so many on, a person has to type what they are about to do. */
const MANY = 5

export type Selection = ReadonlySet<string>

export function toggled(selection: Selection, id: string): Selection {
  const next = new Set(selection)
  if (!next.delete(id)) next.add(id)
  return next
}

/** All that are in sight, or none if they all were selected already. */
export function allOrNone(selection: Selection, rows: readonly FleetRow[]): Selection {
  const ids = rows.map((row) => row.sandbox.sandbox_id)
  return ids.every((id) => selection.has(id)) ? new Set() : new Set(ids)
}

/** The selected rows that are in sight: nothing is done to what nobody sees. */
export function chosen(selection: Selection, rows: readonly FleetRow[]): FleetRow[] {
  return rows.filter((row) => selection.has(row.sandbox.sandbox_id))
}

/** Those of the rows to which an action can be done. */
export function applicable(action: Action, rows: readonly FleetRow[]): FleetRow[] {
  return rows.filter((row) => APPLIES[action](row))
}

const APPLIES: Record<Action, (row: FleetRow) => boolean> = {
  pause: ({ sandbox }) => sandbox.state === 'running',
  resume: ({ sandbox }) => isAsleep(sandbox),
  interrupt: ({ sandbox, status }) => sandbox.run !== undefined && sandbox.state === 'running' && status === 'running',
  end: ({ sandbox }) => isAlive(sandbox),
}

/** What to type before an action is done, or nothing where a click is enough. */
export function wordsFor(action: Action, count: number): string | undefined {
  return count >= MANY ? `${action} ${count}` : undefined
}

/** Whether a person is asked at all: what cannot be undone, or is done to many. */
export function needsAsking(action: Action, count: number): boolean {
  return action === 'end' || count >= MANY
}
