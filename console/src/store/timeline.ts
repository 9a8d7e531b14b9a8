import { flag, number, object, prose, text } from '~/api/data'
import type { EventData, LogEvent } from '~/api/types'
import { isProcess, isWorker } from './fleet'
import { floodOf } from './floods'
import { guardNoteOf, isOpenNote, outcomeOf } from './guard-notes'
import { cutBy, isEndOfRun, isStartOfRun, joined, stateOf } from './lifecycle'
import type { CommandRow, FileChange, GapReason, ReviewRow, Row, SaidRow, StateRow, Tone, ToolRow } from './rows'

const MOST_OUTPUT = 64 * 1024
const MOST_FILES = 200

/** Events that are counted elsewhere or shown with another event. */
const SILENT = new Set([
  'sandbox.metrics',
  'command.processes_folded',
  'agent.model_call',
  'agent.model_call_started',
  'agent.usage',
  'agent.transcript',
  'agent.message_delivered',
  'agent.review_answered',
])

/** Keys of the open rows for the start and for the end of a run, and rows that are not of the agent. */
const START = 'start'
const END = 'end'
const BESIDE: ReadonlySet<Row['kind']> = new Set(['state', 'files', 'note', 'gap', 'guard'])

const TONES: Readonly<Record<string, Tone>> = {
  'user.message': 'message',
  'user.guidance': 'guidance',
  'user.interrupt': 'interrupt',
  'guardian.intervention': 'guardian',
  'sandbox.message': 'system',
}

/**
 * Events as rows: a tool call with its result, a command with its output, a question with its answer. Each event has
 * the same cost. A changed row is replaced, never mutated, so that renderers can compare.
 */
export class Timeline {
  #rows: Row[] = []
  #lastSeq = 0
  readonly #rowOfSeq = new Map<number, number>()
  /** Open rows: a call without a result, a running command, an open question, an undelivered message. */
  readonly #open = new Map<string, number>()
  /** Commands that have rows of another kind: the run itself, and shell commands of an agent's tools. */
  readonly #hidden = new Set<string>()

  get rows(): readonly Row[] {
    return this.#rows
  }

  /** Index of the row of an event, or of the row before it. */
  indexOf(seq: number): number | undefined {
    return this.#rowOfSeq.get(seq)
  }

  /**
   * Rebuilds. `gap` is the reason if the first event is not the first of the log and no older events will be loaded.
   */
  rebuild(events: readonly LogEvent[], gap?: GapReason): void {
    this.#rows = []
    this.#lastSeq = 0
    const first = events[0]
    if (gap !== undefined && first !== undefined && first.seq > 1) {
      this.#rows.push({ kind: 'gap', seq: 1, at: first.created_at, until: first.seq - 1, why: gap })
    }
    this.#rowOfSeq.clear()
    this.#open.clear()
    this.#hidden.clear()
    for (const event of events) this.append(event)
  }

  append(event: LogEvent): void {
    if (this.#lastSeq > 0 && event.seq > this.#lastSeq + 1) {
      const from = this.#lastSeq + 1
      this.#rows.push({ kind: 'gap', seq: from, at: event.created_at, until: event.seq - 1, why: 'removed' })
    }
    this.#lastSeq = event.seq
    const index = this.#fold(event)
    this.#rowOfSeq.set(event.seq, Math.max(0, index))
  }

  /** Returns the index of the row that shows the event. */
  #fold(event: LogEvent): number {
    const { event_type: type, event_data: data } = event
    if (SILENT.has(type) || isProcess(type, data)) return this.#rows.length - 1
    const tone = TONES[type]
    if (tone !== undefined) return this.#said(event, tone)
    switch (type) {
      case 'agent.message':
        return this.#push({ kind: 'message', ...base(event), text: text(data, 'text') ?? prose(data.content) })
      case 'agent.thinking':
        return this.#push({ kind: 'thinking', ...base(event), text: text(data, 'text') ?? prose(data.content) })
      case 'agent.tool_use':
        return this.#tool(event)
      case 'agent.tool_result':
        return this.#toolResult(event)
      case 'command.started':
        return this.#command(event)
      case 'command.output':
        return this.#output(event)
      case 'command.completed':
        return this.#completed(event)
      case 'agent.review_requested':
        return this.#review(event)
      case 'user.approve':
      case 'user.reject':
      case 'sandbox.review_expired':
        return this.#answer(event)
      case 'user.message_delivered':
        return this.#heard(event)
      case 'file.created':
      case 'file.modified':
      case 'file.deleted':
      case 'file.changes_folded':
        return this.#files(event)
      default:
        return this.#other(event)
    }
  }

  #push(row: Row): number {
    return this.#rows.push(row) - 1
  }

  #pushOpen(key: string, row: Row): number {
    const index = this.#push(row)
    this.#open.set(key, index)
    return index
  }

  /** Replaces the open row, if it has that kind and is still loaded. */
  #change<K extends Row['kind']>(
    key: string,
    kind: K,
    change: (row: Extract<Row, { kind: K }>) => Row,
  ): number | undefined {
    const index = this.#open.get(key)
    const row = index === undefined ? undefined : this.#rows[index]
    if (index === undefined || row?.kind !== kind) return undefined
    this.#rows[index] = change(row as Extract<Row, { kind: K }>)
    return index
  }

  #said(event: LogEvent, tone: Tone): number {
    const data = event.event_data
    const row: SaidRow = {
      kind: 'said',
      ...base(event),
      tone,
      text: text(data, 'content') ?? prose(data.message),
      by: text(data, 'source') ?? event.source,
      heard: undefined,
    }
    return this.#pushOpen(`said:${text(data, 'message_id') ?? event.seq}`, row)
  }

  #heard(event: LogEvent): number {
    const key = `said:${text(event.event_data, 'message_id')}`
    const heard = { latencyMs: number(event.event_data, 'latency_ms') }
    const index = this.#change(key, 'said', (row) => ({ ...row, heard }))
    this.#open.delete(key)
    return index ?? this.#rows.length - 1
  }

  #tool(event: LogEvent): number {
    const data = event.event_data
    const row: ToolRow = {
      kind: 'tool',
      ...base(event),
      name: text(data, 'tool_name') ?? 'tool',
      input: object(data, 'tool_input'),
      result: undefined,
    }
    const index = this.#pushOpen(toolKey(data, event.seq), row)
    this.#markAsking()
    return index
  }

  #toolResult(event: LogEvent): number {
    const data = event.event_data
    const key = toolKey(data, event.seq)
    const result = { text: prose(data.content), isError: flag(data, 'is_error'), at: event.created_at }
    const index = this.#change(key, 'tool', (row) => ({ ...row, result }))
    this.#open.delete(key)
    return (
      index ?? this.#push({ kind: 'tool', ...base(event), name: text(data, 'tool_name') ?? 'tool', input: {}, result })
    )
  }

  #command(event: LogEvent): number {
    const data = event.event_data
    if (isWorker(data) || isOfTool(data)) {
      this.#hidden.add(commandKey(data))
      return this.#rows.length - 1
    }
    return this.#pushOpen(
      commandKey(data),
      newCommand(event, text(data, 'command') ?? '', text(data, 'kind') ?? 'exec'),
    )
  }

  #output(event: LogEvent): number {
    const data = event.event_data
    const key = commandKey(data)
    if (this.#hidden.has(key)) return this.#rows.length - 1
    const said = (text(data, 'stdout') ?? '') + (text(data, 'stderr') ?? '')
    const folded = number(data, 'folded_bytes') ?? 0
    const index = this.#change(key, 'command', (row) => withOutput(row, said, folded))
    return index ?? this.#pushOpen(key, withOutput(newCommand(event, '', 'exec'), said, folded))
  }

  #completed(event: LogEvent): number {
    const data = event.event_data
    const key = commandKey(data)
    if (this.#hidden.delete(key)) return this.#rows.length - 1
    const end = {
      exitCode: number(data, 'exit_code'),
      cause: text(data, 'cause') ?? 'exited',
      durationMs: number(data, 'duration_ms'),
    }
    const index = this.#change(key, 'command', (row) => ({ ...row, end }))
    this.#open.delete(key)
    return index ?? this.#push({ ...newCommand(event, '', 'exec'), end })
  }

  #review(event: LogEvent): number {
    const data = event.event_data
    const id = text(data, 'review_id') ?? String(event.seq)
    const row: ReviewRow = {
      kind: 'review',
      ...base(event),
      id,
      reason: text(data, 'reason') ?? 'The agent asks',
      description: text(data, 'description') ?? '',
      answer: undefined,
    }
    const index = this.#pushOpen(`review:${id}`, row)
    this.#markAsking()
    return index
  }

  /** The tool call of a question contains its text too; it comes before or after the question. */
  #markAsking(): void {
    const open = [...this.#open.values()].map((index) => [index, this.#rows[index]] as const)
    const reviews = open.flatMap(([, row]) => (row?.kind === 'review' ? [row] : []))
    for (const [index, row] of open) {
      if (row?.kind !== 'tool' || row.asks || row.result !== undefined) continue
      const texts = Object.values(row.input)
      const isIn = (question: string) => question !== '' && texts.includes(question)
      if (reviews.some((one) => isIn(one.reason) || isIn(one.description))) this.#rows[index] = { ...row, asks: true }
    }
  }

  #answer(event: LogEvent): number {
    const data = event.event_data
    const key = `review:${text(data, 'review_id')}`
    const isExpired = event.event_type === 'sandbox.review_expired'
    const answer = {
      decision: isExpired ? 'expired' : (text(data, 'decision') ?? event.event_type.slice('user.'.length)),
      by: text(data, 'user_id') ?? '',
      comment: text(data, 'comment') ?? '',
      at: event.created_at,
    }
    const index = this.#change(key, 'review', (row) => ({ ...row, answer }))
    this.#open.delete(key)
    return index ?? this.#push({ kind: 'note', ...base(event), type: event.event_type, data })
  }

  #files(event: LogEvent): number {
    const last = this.#rows.length - 1
    const row = this.#rows[last]
    const change = fileChange(event)
    const changes = change === undefined ? [] : [change]
    const floods = change === undefined ? [floodOf(event)] : []
    if (row?.kind === 'files' && row.changes.length + row.floods.length < MOST_FILES) {
      this.#rows[last] = { ...row, changes: [...row.changes, ...changes], floods: [...row.floods, ...floods] }
      return last
    }
    return this.#push({ kind: 'files', ...base(event), changes, floods })
  }

  /** A note of the guardian, or the outcome of an earlier one. */
  #guard(event: LogEvent): number | undefined {
    const note = guardNoteOf(event)
    if (note !== undefined) return isOpenNote(note) ? this.#pushOpen(`guard:${note.rule}`, note) : this.#push(note)
    const found = outcomeOf(event)
    if (found === undefined) return undefined
    const key = `guard:${found.rule}`
    const index = this.#change(key, 'guard', (row) => ({ ...row, outcome: found.outcome }))
    this.#open.delete(key)
    return index
  }

  #other(event: LogEvent): number {
    const { event_type: type, event_data: data } = event
    const noted = this.#guard(event)
    if (noted !== undefined) return noted
    const state = stateOf(event)
    if (state === undefined) return this.#push({ kind: 'note', ...base(event), type, data })
    const started = this.#open.get(START)
    if (isStartOfRun(event) && started !== undefined && this.#isNear(started)) return started
    const index = isEndOfRun(event)
      ? this.#endOfRun(event, state)
      : this.#push({ kind: 'state', ...base(event), ...state })
    if (type === 'sandbox.run_started') {
      this.#open.delete(END)
      this.#open.set(START, index)
    }
    this.#cut(cutBy(event))
    return index
  }

  /** One row for the end of a run, unless the agent continued after its first event. */
  #endOfRun(event: LogEvent, state: Pick<StateRow, 'title' | 'detail' | 'mood'>): number {
    const isLast = event.event_type === 'sandbox.run_ended'
    const index = this.#open.get(END)
    const row = index === undefined ? undefined : this.#rows[index]
    if (index === undefined || row?.kind !== 'state') {
      return this.#pushOpen(END, { kind: 'state', ...base(event), ...state, isOpen: isLast ? undefined : true })
    }
    if (!this.#isNear(index)) {
      const detail = row.detail.includes(state.detail) ? '' : state.detail
      return this.#pushOpen(END, { kind: 'state', ...base(event), ...state, detail })
    }
    this.#rows[index] = joined(row, state, isLast)
    return index
  }

  /** Whether this row is the last one of the agent. */
  #isNear(index: number): boolean {
    return this.#rows.slice(index + 1).every((later) => BESIDE.has(later.kind))
  }

  /** Marks rows that will not get their result, end or answer. */
  #cut(kinds: ReadonlySet<Row['kind']> | undefined): void {
    if (kinds === undefined) return
    for (const index of this.#open.values()) {
      const row = this.#rows[index]
      if (row !== undefined && kinds.has(row.kind)) this.#rows[index] = { ...row, isCut: true } as Row
    }
  }
}

function base(event: LogEvent): { seq: number; at: string } {
  return { seq: event.seq, at: event.created_at }
}

function toolKey(data: EventData, seq: number): string {
  return `tool:${text(data, 'tool_use_id') ?? seq}`
}

/** The shell command of an agent's tool, which the row of the tool shows. */
function isOfTool(data: EventData): boolean {
  return number(data, 'pid') === 0
}

function commandKey(data: EventData): string {
  return `command:${text(data, 'process_id') ?? text(data, 'session_id') ?? number(data, 'pid') ?? ''}`
}

function newCommand(event: LogEvent, line: string, how: string): CommandRow {
  return { kind: 'command', ...base(event), line, how, output: '', dropped: 0, end: undefined }
}

function withOutput(row: CommandRow, said: string, folded: number): CommandRow {
  const whole = row.output + said
  const over = Math.max(0, whole.length - MOST_OUTPUT)
  return { ...row, output: over > 0 ? whole.slice(over) : whole, dropped: row.dropped + over + folded }
}

function fileChange(event: LogEvent): FileChange | undefined {
  const how = event.event_type.slice('file.'.length)
  const path = text(event.event_data, 'path')
  if (path === undefined || (how !== 'created' && how !== 'modified' && how !== 'deleted')) return undefined
  const name = flag(event.event_data, 'directory') ? `${path}/` : path
  return { seq: event.seq, how, path: name, diff: text(event.event_data, 'diff') }
}
