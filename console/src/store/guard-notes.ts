import { flag, number, text } from '~/api/data'
import type { EventData, LogEvent } from '~/api/types'
import type { GuardAct, GuardRow } from './rows'

const ACTS: Readonly<Record<string, GuardAct>> = {
  'guardian.observed': 'observed',
  'guardian.nudged': 'nudged',
  'guardian.paused': 'paused',
  'guardian.stopped': 'stopped',
  'guardian.judged': 'judged',
  'conductor.report': 'report',
}

/** The note of the guardian or the conductor in an event, if it contains one. */
export function guardNoteOf({
  seq,
  created_at: at,
  event_type: type,
  event_data: data,
}: LogEvent): GuardRow | undefined {
  const act = ACTS[type]
  if (act === undefined) return undefined
  const by = type.startsWith('conductor.') ? 'conductor' : 'guardian'
  return { kind: 'guard', seq, at, by, act, ...contentOf(act, data), evidence: evidenceOf(data), outcome: undefined }
}

function contentOf(act: GuardAct, data: EventData): { rule: string; text: string } {
  if (act === 'judged') return { rule: text(data, 'state') ?? '', text: judgementOf(data) }
  if (act === 'report') return { rule: '', text: reportOf(data) }
  return { rule: text(data, 'rule') ?? '', text: text(data, 'summary') ?? text(data, 'reason') ?? '' }
}

function judgementOf(data: EventData): string {
  const confidence = number(data, 'confidence')
  const sure = confidence === undefined ? '' : ` (confidence ${Math.round(confidence * 100)} %)`
  return `${text(data, 'message') ?? ''}${sure}`
}

/** One line for each pair of runs that do the same work or change the same files. */
function reportOf(data: EventData): string {
  const overlaps = Array.isArray(data.overlaps) ? data.overlaps : []
  const lines = overlaps.flatMap((overlap: unknown) => {
    const found = typeof overlap === 'object' && overlap !== null ? text(overlap as EventData, 'summary') : undefined
    return found ?? []
  })
  return lines.length === 0 ? 'The active runs do not overlap.' : lines.join('\n')
}

function evidenceOf(data: EventData): number[] {
  const { evidence } = data
  return Array.isArray(evidence) ? evidence.filter((seq) => Number.isSafeInteger(seq) && seq > 0) : []
}

/** Whether a note waits for an outcome. */
export function isOpenNote({ act }: GuardRow): boolean {
  return act === 'nudged' || act === 'paused'
}

/** The outcome of the notes of a rule, if an event contains one. */
export function outcomeOf({ created_at: at, event_type: type, event_data: data }: LogEvent) {
  if (type !== 'guardian.outcome') return undefined
  return { rule: text(data, 'rule') ?? '', outcome: { hasEnded: flag(data, 'ended'), at } }
}
