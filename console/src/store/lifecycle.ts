import { flag, number, object, text } from '~/api/data'
import type { EventData, LogEvent } from '~/api/types'
import type { Mood, Row, StateRow } from './rows'

type State = Pick<StateRow, 'title' | 'detail' | 'mood' | 'next' | 'forensicsOf'>

const STATES: Readonly<Record<string, { title: string; mood: Mood }>> = {
  'sandbox.started': { title: 'Sandbox started', mood: 'ok' },
  'sandbox.paused': { title: 'Paused', mood: 'warn' },
  'sandbox.resumed': { title: 'Resumed', mood: 'ok' },
  'sandbox.hibernated': { title: 'Hibernated: its files are kept', mood: 'plain' },
  'sandbox.woken': { title: 'Started again on its files', mood: 'ok' },
  'sandbox.terminated': { title: 'Sandbox ended', mood: 'plain' },
  'sandbox.run_started': { title: 'Agent started', mood: 'ok' },
  'agent.started': { title: 'Agent is ready', mood: 'plain' },
  'agent.completed': { title: 'Agent reported completion', mood: 'ok' },
  'agent.failed': { title: 'Agent failed', mood: 'bad' },
  'agent.error': { title: 'Error', mood: 'bad' },
  'agent.interrupted': { title: 'Agent interrupted', mood: 'warn' },
  'agent.paused': { title: 'Agent on hold', mood: 'warn' },
  'agent.resumed': { title: 'Agent resumed', mood: 'ok' },
  'agent.status': { title: 'Task', mood: 'plain' },
  'agent.progress': { title: 'Progress', mood: 'plain' },
  'agent.results': { title: 'Results submitted', mood: 'plain' },
}

const RECOVERIES: Readonly<Record<string, string>> = {
  adopted: 'Recovered after a restart of the server',
  revived: 'Started again on its disk',
  reconnected: 'Reconnected to the sandbox',
  restored: 'Restored from a snapshot',
}

/** Recoveries after which only the files are left. */
const NEW_MACHINE: ReadonlySet<string> = new Set(['revived', 'restored'])

/** Returns the new state of the sandbox or its run, if the event contains one. */
export function stateOf({ event_type: type, event_data: data }: LogEvent): State | undefined {
  if (type === 'sandbox.recovered') {
    return { title: RECOVERIES[text(data, 'how') ?? ''] ?? 'Recovered', detail: '', mood: 'plain' }
  }
  if (type === 'sandbox.run_ended') return runEnded(data)
  const supervision = supervisionOf(type, data)
  if (supervision !== undefined) return supervision
  const state = STATES[type]
  return state && { ...state, detail: detailOf(data) }
}

/** Heartbeats, restarts and idle runs, as the server supervises them. */
function supervisionOf(type: string, data: EventData): State | undefined {
  switch (type) {
    case 'sandbox.heartbeat_missed':
      return { title: 'Heartbeat missed', detail: '', mood: 'warn' }
    case 'sandbox.probed':
      return { title: 'Sandbox examined', detail: `Worker: ${text(data, 'worker') ?? 'unknown'}`, mood: 'plain' }
    case 'sandbox.forensics_collected':
      return { title: 'Forensics collected', detail: '', mood: 'plain', forensicsOf: text(data, 'run_id') }
    case 'sandbox.restarted': {
      const kept = [flag(data, 'files') && 'its files', flag(data, 'conversation') && 'its conversation']
      const words = kept.filter(Boolean).join(' and ')
      const detail = `${text(data, 'reason_code') ?? ''}${words && `; with ${words}`}`
      return { title: 'Restarted in a new sandbox', detail, mood: 'warn', next: text(data, 'next_sandbox_id') }
    }
    case 'sandbox.quarantined':
      return { title: 'Quarantined', detail: text(data, 'reason') ?? '', mood: 'bad' }
    case 'sandbox.terminated_idle':
      return { title: 'Ended because it was idle', detail: idleFor(data), mood: 'warn' }
    default:
      return undefined
  }
}

function idleFor(data: EventData): string {
  const seconds = number(data, 'idle_duration')
  return seconds === undefined ? '' : `No work for ${Math.round(seconds / 60)} minutes`
}

/** Whether an event only confirms that a run has started. */
export function isStartOfRun({ event_type: type, event_data: data }: LogEvent): boolean {
  return type === 'agent.started' || (type === 'agent.status' && text(data, 'status') === 'in_progress')
}

/** Whether an event belongs to the end of a run. A worker and the server report it with up to four events. */
export function isEndOfRun({ event_type: type, event_data: data }: LogEvent): boolean {
  if (type === 'agent.status') return ['completed', 'failed'].includes(text(data, 'status') ?? '')
  return ['agent.results', 'agent.completed', 'agent.failed', 'sandbox.run_ended'].includes(type)
}

/** Which unfinished rows an event cuts off: those of the run, those of the machine, or all. */
export function cutBy({ event_type: type, event_data: data }: LogEvent): ReadonlySet<Row['kind']> | undefined {
  if (type === 'sandbox.terminated') return new Set(['tool', 'command', 'said', 'review'])
  if (type === 'sandbox.run_ended') return new Set(['tool', 'said', 'review'])
  const isNew =
    type === 'sandbox.hibernated' || (type === 'sandbox.recovered' && NEW_MACHINE.has(text(data, 'how') ?? ''))
  return isNew ? new Set(['command']) : undefined
}

/** The end of a run as one row: the last event names it, and the longest text explains it. */
export function joined(row: StateRow, next: State, isLast: boolean): StateRow {
  const mood = next.mood === 'plain' ? row.mood : next.mood
  const title = next.mood === 'plain' && row.mood !== 'plain' ? row.title : next.title
  return { ...row, title, mood, detail: explained(row.detail, next.detail), isOpen: isLast ? undefined : true }
}

function explained(before: string, next: string): string {
  return next === '' || before.includes(next) ? before : next
}

function runEnded(data: EventData): State {
  const status = text(data, 'status') ?? 'ended'
  const mood: Mood = status === 'completed' ? 'ok' : status === 'failed' ? 'bad' : 'warn'
  return { title: `Run ${status}`, detail: text(data, 'reason') ?? '', mood }
}

function detailOf(data: EventData): string {
  for (const name of ['summary', 'reason', 'problem', 'detail', 'message', 'status']) {
    const found = text(data, name)
    if (found) return found
  }
  return text(object(data, 'results'), 'summary') ?? ''
}
