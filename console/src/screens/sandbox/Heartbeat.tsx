import type { LogEvent, Sandbox } from '~/api/types'
import type { EventStore } from '~/store/event-store'
import { toolSummary, WAITING_FOR_MODEL } from '~/store/fleet'
import type { Row } from '~/store/rows'
import { ago, plain, span } from '~/ui/format'
import { useNow } from '~/ui/now'
import css from './SandboxScreen.module.css'

/** Current activity, its duration, and the time of the last event: shows whether the agent works or is stuck. */
export function Heartbeat({ sandbox, events }: { sandbox: Sandbox; events: EventStore }) {
  const now = useNow()
  const last = events.events.at(-1)
  if (last === undefined || sandbox.state !== 'running') return null
  const doing = sandbox.status === 'running' ? current(last, events.timeline.rows.at(-1), now) : undefined
  return (
    <span className={css.heartbeat}>
      {doing && <span className={css.now}>{doing}</span>}
      last event {ago(now - Date.parse(last.created_at))}
      {now - Date.parse(last.created_at) >= 1000 && ' ago'}
    </span>
  )
}

function current(last: LogEvent, row: Row | undefined, now: number): string | undefined {
  if (last.event_type === 'agent.model_call_started') {
    return `${WAITING_FOR_MODEL} · ${span(now - Date.parse(last.created_at))}`
  }
  if (row?.kind === 'tool' && row.result === undefined) {
    return plain(`${row.name} ${toolSummary(row.input)} · ${span(now - Date.parse(row.at))}`)
  }
  if (row?.kind === 'command' && row.end === undefined && row.how === 'exec') {
    return plain(`${row.line} · ${span(now - Date.parse(row.at))}`)
  }
  return row?.kind === 'thinking' ? 'thinking' : undefined
}
