import { isAlive, isAsleep } from '~/api/sandbox-state'
import type { FleetRow } from './fleet'

export const ACTIONS = ['pause', 'resume', 'interrupt', 'end'] as const
export type Action = (typeof ACTIONS)[number]

/** From this number on, the user must type a confirmation. */
const MANY = 5

export type Selection = ReadonlySet<string>

export function toggled(selection: Selection, id: string): Selection {
  const next = new Set(selection)
  if (!next.delete(id)) next.add(id)
  return next
}

/** Selects all visible rows, or none if all were selected. */
export function allOrNone(selection: Selection, rows: readonly FleetRow[]): Selection {
  const ids = rows.map((row) => row.sandbox.sandbox_id)
  return ids.every((id) => selection.has(id)) ? new Set() : new Set(ids)
}

/** The selected rows that are visible. Actions never apply to hidden rows. */
export function chosen(selection: Selection, rows: readonly FleetRow[]): FleetRow[] {
  return rows.filter((row) => selection.has(row.sandbox.sandbox_id))
}

/** The rows that permit an action. */
export function applicable(action: Action, rows: readonly FleetRow[]): FleetRow[] {
  return rows.filter((row) => APPLIES[action](row))
}

const APPLIES: Record<Action, (row: FleetRow) => boolean> = {
  pause: ({ sandbox }) => sandbox.state === 'running',
  resume: ({ sandbox }) => isAsleep(sandbox),
  interrupt: ({ sandbox, status }) => sandbox.run !== undefined && sandbox.state === 'running' && status === 'running',
  end: ({ sandbox }) => isAlive(sandbox),
}

/** Text to type before an action; undefined if a click is enough. */
export function wordsFor(action: Action, count: number): string | undefined {
  return count >= MANY ? `${action} ${count}` : undefined
}

/** Whether an action needs a confirmation: it cannot be undone, or applies to many. */
export function needsAsking(action: Action, count: number): boolean {
  return action === 'end' || count >= MANY
}
