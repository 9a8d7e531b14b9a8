import type { Status } from '~/api/types'
import type { FleetRow } from './fleet'

/** A running agent without an event for this time may be stuck. */
const QUIET_MS = 120_000

export const SORTS = ['activity', 'age', 'cost', 'title', 'status'] as const
export type Sort = (typeof SORTS)[number]

export interface FleetFilter {
  readonly q: string
  readonly status: Status | undefined
  readonly sort: Sort
}

const URGENCY: Record<Status, number> = {
  failed: 0,
  paused: 1,
  running: 2,
  creating: 3,
  hibernated: 4,
  completed: 5,
  terminated: 6,
}

/** Time since the last event of a running agent; undefined if it is short. */
export function quietFor(row: FleetRow, now: number): number | undefined {
  const silence = now - row.lastEventAt
  return row.status === 'running' && row.sandbox.run !== undefined && silence > QUIET_MS ? silence : undefined
}

/** Whether the sandbox has no agent and no running command. */
export function isIdle({ sandbox, status, action }: FleetRow): boolean {
  return status === 'running' && sandbox.run === undefined && action === ''
}

/** The rows that match a filter, in its order. */
export function arrange(rows: readonly FleetRow[], filter: FleetFilter): FleetRow[] {
  const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean)
  return rows
    .filter((row) => filter.status === undefined || row.status === filter.status)
    .filter((row) => words.every((word) => searchable(row).includes(word)))
    .sort((a, b) => ORDER[filter.sort](a, b) || a.sandbox.sandbox_id.localeCompare(b.sandbox.sandbox_id))
}

const ORDER: Record<Sort, (a: FleetRow, b: FleetRow) => number> = {
  activity: (a, b) => b.lastEventAt - a.lastEventAt,
  age: (a, b) => b.sandbox.created_at.localeCompare(a.sandbox.created_at),
  cost: (a, b) => b.costUsd - a.costUsd,
  title: (a, b) => a.title.localeCompare(b.title),
  status: (a, b) => URGENCY[a.status] - URGENCY[b.status],
}

function searchable(row: FleetRow): string {
  const { sandbox } = row
  const parts = [row.title, sandbox.sandbox_id, sandbox.thread_id, sandbox.user_id, sandbox.runtime, sandbox.reason]
  return parts.join(' ').toLowerCase()
}

/** The rows in an earlier order; new rows are at the end. */
export function keepOrder(rows: readonly FleetRow[], order: readonly string[]): FleetRow[] {
  const place = new Map(order.map((id, index) => [id, index]))
  const at = (row: FleetRow) => place.get(row.sandbox.sandbox_id) ?? order.length
  return [...rows].sort((a, b) => at(a) - at(b))
}
