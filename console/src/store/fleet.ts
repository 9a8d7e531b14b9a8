import { number, object, text } from '~/api/data'
import type { EventData, LogEvent, Sandbox, Status } from '~/api/types'
import { Notifier, type Soon } from './notifier'

const MOST_SAMPLES = 40

/** Event of the feed of all sandboxes. */
export interface FleetEvent {
  readonly seq: number
  readonly sandbox_id: string
  readonly event_type: string
  readonly timestamp: string
  readonly data: EventData
}

/** Row of the fleet: the description of the server, and the events since. */
export interface FleetRow {
  readonly sandbox: Sandbox
  readonly title: string
  readonly status: Status
  readonly lastEventAt: number
  /** Activity of the agent in a few words. */
  readonly action: string
  readonly costUsd: number
  readonly toolCalls: number
  readonly pendingReviews: number
  readonly cpu: readonly number[]
  readonly memory: readonly number[]
}

/** Types of events that are not activities. */
const NO_SIGN_OF_LIFE = new Set(['sandbox.metrics'])

/** Events after which the state must be read from the server. */
const DECISIVE = new Set([
  'sandbox.started',
  'sandbox.paused',
  'sandbox.resumed',
  'sandbox.hibernated',
  'sandbox.woken',
  'sandbox.recovered',
  'sandbox.terminated',
  'sandbox.run_started',
  'sandbox.run_ended',
  'agent.review_requested',
  'user.approve',
  'user.reject',
  'sandbox.review_expired',
])

/** All sandboxes that the user may see, updated by events. Listeners get one notification per frame. */
export class Fleet {
  readonly notifier: Notifier
  readonly #reload: () => void
  #rows = new Map<string, FleetRow>()
  #list: readonly FleetRow[] | undefined
  #isLoaded = false

  /** `reload` is called when the events do not determine the state; possibly often. */
  constructor(reload: () => void, soon?: Soon) {
    this.#reload = reload
    this.notifier = new Notifier(soon)
  }

  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** The same array until something changes. */
  get rows(): readonly FleetRow[] {
    this.#list ??= [...this.#rows.values()]
    return this.#list
  }

  find(sandboxId: string): FleetRow | undefined {
    return this.#rows.get(sandboxId)
  }

  /** Applies the list of the server. Keeps samples and activities that only events contain. */
  load(sandboxes: readonly Sandbox[]): void {
    const before = this.#rows
    this.#rows = new Map(
      sandboxes.map((sandbox) => [sandbox.sandbox_id, merged(sandbox, before.get(sandbox.sandbox_id))]),
    )
    this.#isLoaded = true
    this.#changed()
  }

  receive(event: FleetEvent): void {
    const row = this.#rows.get(event.sandbox_id)
    if (row === undefined || DECISIVE.has(event.event_type)) this.#reload()
    if (row === undefined) return
    this.#rows.set(event.sandbox_id, patched(row, event))
    this.#changed()
  }

  /** Applies the activity from older events, unless a newer event set it. */
  remember(sandboxId: string, events: readonly LogEvent[]): void {
    const row = this.#rows.get(sandboxId)
    if (row === undefined || row.action !== '') return
    const action = events.reduce((before, { event_type, event_data }) => actionOf(event_type, event_data) ?? before, '')
    this.#rows.set(sandboxId, { ...row, action })
    this.#changed()
  }

  #changed(): void {
    this.#list = undefined
    this.notifier.changed()
  }
}

function merged(sandbox: Sandbox, before: FleetRow | undefined): FleetRow {
  return {
    sandbox,
    title: sandbox.task_title ?? sandbox.thread_id,
    status: sandbox.status,
    lastEventAt: Math.max(Date.parse(sandbox.last_activity), before?.lastEventAt ?? 0),
    action: before?.action ?? '',
    costUsd: sandbox.run?.cost_usd ?? 0,
    toolCalls: sandbox.run?.tool_calls ?? 0,
    pendingReviews: sandbox.pending_reviews ?? 0,
    cpu: before?.cpu ?? (sandbox.metrics === undefined ? [] : [sandbox.metrics.cpu_percent]),
    memory: before?.memory ?? (sandbox.metrics === undefined ? [] : [sandbox.metrics.memory_bytes]),
  }
}

function patched(row: FleetRow, event: FleetEvent): FleetRow {
  if (isProcess(event.event_type, event.data)) return row
  const heard = NO_SIGN_OF_LIFE.has(event.event_type)
    ? row
    : { ...row, lastEventAt: Math.max(row.lastEventAt, Date.parse(event.timestamp)) }
  const { data } = event
  const action = actionOf(event.event_type, data) ?? heard.action
  switch (event.event_type) {
    case 'sandbox.metrics':
      return {
        ...heard,
        cpu: [...heard.cpu.slice(-MOST_SAMPLES + 1), number(data, 'cpu_percent') ?? 0],
        memory: [...heard.memory.slice(-MOST_SAMPLES + 1), number(data, 'memory_bytes') ?? heard.memory.at(-1) ?? 0],
      }
    case 'agent.tool_use':
      return { ...heard, toolCalls: heard.toolCalls + 1, action }
    case 'agent.model_call':
      return { ...heard, costUsd: heard.costUsd + (number(data, 'cost_usd') ?? 0) }
    case 'command.completed':
      // Command of a user, while the agent has another activity.
      return row.sandbox.run === undefined ? { ...heard, action } : heard
    default:
      return { ...heard, action }
  }
}

export const WAITING_FOR_MODEL = 'waiting for the model'

/** Returns the activity that an event starts, in a few words, or nothing. */
function actionOf(type: string, data: EventData): string | undefined {
  if (isProcess(type, data)) return undefined
  switch (type) {
    case 'agent.tool_use':
      return toolAction(data)
    case 'agent.thinking':
      return 'thinking'
    case 'agent.model_call_started':
      return WAITING_FOR_MODEL
    case 'agent.message':
      return firstLine(text(data, 'text') ?? '')
    case 'command.started':
      return isWorker(data) ? undefined : firstLine(text(data, 'command') ?? '')
    case 'command.completed':
    case 'sandbox.run_ended':
    case 'sandbox.terminated':
      return ''
    default:
      return undefined
  }
}

/** Whether the event is about a process that a command started by itself. */
export function isProcess(type: string, data: EventData): boolean {
  return type.startsWith('command.') && text(data, 'kind') === 'process'
}

/** Whether a command is the process of the run itself. */
export function isWorker(data: EventData): boolean {
  return text(data, 'kind') === 'detached' && (text(data, 'command') ?? '').startsWith('vivarium-worker ')
}

function toolAction(data: EventData): string {
  return `${text(data, 'tool_name') ?? 'tool'} ${toolSummary(object(data, 'tool_input'))}`.trim()
}

/** Summary of a tool call in one line: the command, the path, or the first text. */
export function toolSummary(input: EventData): string {
  for (const name of ['command', 'file_path', 'path', 'pattern', 'url', 'query', 'description']) {
    const found = text(input, name)
    if (found) return firstLine(found)
  }
  const first = Object.values(input).find((value) => typeof value === 'string')
  return typeof first === 'string' ? firstLine(first) : ''
}

function firstLine(words: string): string {
  return words.trimStart().split('\n', 1)[0]?.slice(0, 160) ?? ''
}
