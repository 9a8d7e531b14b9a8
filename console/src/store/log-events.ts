import { flag, number, object, text } from '~/api/data'
import type { LogEvent } from '~/api/types'
import { isProcess, toolSummary } from './fleet'

/** Whether the event reports a failure. */
export function isFailed({ event_type: type, event_data: data }: LogEvent): boolean {
  switch (type) {
    case 'agent.tool_result':
      return flag(data, 'is_error')
    case 'command.completed':
      return !isProcess(type, data) && (number(data, 'exit_code') ?? 0) !== 0
    case 'sandbox.run_ended':
      return text(data, 'status') === 'failed'
    default:
      return /[._](error|failed)$/.test(type)
  }
}

export type Mark = 'error' | 'review' | 'intervention' | 'state'

const MARKS: Readonly<Record<string, Mark>> = {
  'agent.review_requested': 'review',
  'user.approve': 'review',
  'user.reject': 'review',
  'sandbox.review_expired': 'review',
  'user.message': 'intervention',
  'user.guidance': 'intervention',
  'user.interrupt': 'intervention',
  'guardian.intervention': 'intervention',
  'guardian.nudged': 'intervention',
  'guardian.paused': 'intervention',
  'guardian.stopped': 'intervention',
  'sandbox.started': 'state',
  'sandbox.paused': 'state',
  'sandbox.resumed': 'state',
  'sandbox.hibernated': 'state',
  'sandbox.woken': 'state',
  'sandbox.recovered': 'state',
  'sandbox.terminated': 'state',
  'sandbox.run_started': 'state',
  'sandbox.run_ended': 'state',
}

/** Notable events of a run. */
export function markOf(event: LogEvent): Mark | undefined {
  return isFailed(event) ? 'error' : MARKS[event.event_type]
}

const PREVIEW = 240

/** Summary of an event in one line. */
export function previewOf({ event_type: type, event_data: data }: LogEvent): string {
  if (type === 'agent.tool_use') {
    return `${text(data, 'tool_name') ?? 'tool'} ${toolSummary(object(data, 'tool_input'))}`.trim()
  }
  for (const name of ['text', 'content', 'message', 'command', 'stdout', 'stderr', 'path', 'reason', 'summary']) {
    const found = text(data, name)
    if (found?.trim()) return firstLine(found)
  }
  const whole = JSON.stringify(data)
  return whole === '{}' ? '' : firstLine(whole)
}

function firstLine(words: string): string {
  return words.trimStart().slice(0, PREVIEW).split('\n', 1)[0] ?? ''
}

const SIZES = new WeakMap<LogEvent, number>()

/** Size of its data in characters of JSON, computed on demand. */
export function sizeOf(event: LogEvent): number {
  const known = SIZES.get(event)
  if (known !== undefined) return known
  const size = JSON.stringify(event.event_data).length
  SIZES.set(event, size)
  return size
}

/** Index of the event with this number, or of the last event before it; -1 if all are later. */
export function indexUntil(events: readonly LogEvent[], seq: number): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((events[middle] as LogEvent).seq <= seq) low = middle + 1
    else high = middle
  }
  return low - 1
}
