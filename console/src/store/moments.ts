import { text } from '~/api/data'
import type { LogEvent } from '~/api/types'
import { isProcess } from './fleet'

const MOST = 40
const LONGEST = 60

/** Notable moment: a message, or the start of something. */
export interface Moment {
  readonly seq: number
  readonly at: string
  readonly words: string
}

const WORDS: Readonly<Record<string, (event: LogEvent) => string | undefined>> = {
  'user.message': (event) => said('you', event),
  'user.guidance': (event) => said('guidance', event),
  'user.interrupt': (event) => said('interrupt', event),
  'agent.message': (event) => said('agent', event),
  'agent.review_requested': () => 'requested a review',
  'command.started': (event) => (isProcess(event.event_type, event.event_data) ? undefined : commandLine(event)),
  'sandbox.started': () => 'sandbox started',
  'sandbox.run_started': () => 'run started',
  'sandbox.run_ended': () => 'run ended',
  'sandbox.paused': () => 'paused',
  'sandbox.resumed': () => 'resumed',
  'sandbox.hibernated': () => 'hibernated',
  'sandbox.woken': () => 'started again',
}

/** The last moments to compare with, newest first. */
export function moments(events: readonly LogEvent[]): readonly Moment[] {
  const found: Moment[] = []
  for (let index = events.length - 1; index >= 0 && found.length < MOST; index--) {
    const event = events[index]
    const words = event && WORDS[event.event_type]?.(event)
    if (event && words) found.push({ seq: event.seq, at: event.created_at, words: short(words) })
  }
  return found
}

function commandLine({ event_data: data }: LogEvent): string | undefined {
  return text(data, 'command') && `$ ${text(data, 'command')}`
}

function said(who: string, { event_data: data }: LogEvent): string {
  return `${who}: ${text(data, 'content') ?? text(data, 'text') ?? ''}`
}

function short(words: string): string {
  const line = words.split('\n')[0] ?? ''
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line
}
