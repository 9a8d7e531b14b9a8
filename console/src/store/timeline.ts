import { flag, number, object, prose, text } from '~/api/data'
import type { EventData, LogEvent } from '~/api/types'
import type { CommandRow, FileChange, GapReason, Mood, ReviewRow, Row, SaidRow, Tone, ToolRow } from './rows'

const MOST_OUTPUT = 64 * 1024
const MOST_FILES = 200

/** Counted elsewhere, or shown with another event. */
const SILENT = new Set([
  'sandbox.metrics',
  'agent.model_call',
  'agent.usage',
  'agent.transcript',
  'agent.message_delivered',
  'agent.review_answered',
])

const TONES: Readonly<Record<string, Tone>> = {
  'user.message': 'message',
  'user.guidance': 'guidance',
  'user.interrupt': 'interrupt',
  'guardian.intervention': 'guardian',
  'sandbox.message': 'system',
}

const STATES: Readonly<Record<string, { title: string; mood: Mood }>> = {
  'sandbox.started': { title: 'Sandbox started', mood: 'ok' },
  'sandbox.paused': { title: 'Paused', mood: 'warn' },
  'sandbox.resumed': { title: 'Resumed', mood: 'ok' },
  'sandbox.recovered': { title: 'Recovered after a restart of the server', mood: 'plain' },
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

/**
 * Events as people read them: a tool call is one row with its result, a command one row with its output, a question one
 * row with its answer. Each event costs the same however many there are. A row that changes is replaced, never altered,
 * so that whoever draws can compare.
 */
export class Timeline {
  #rows: Row[] = []
  #lastSeq = 0
  readonly #rowOfSeq = new Map<number, number>()
  /** Where the open end of something is: a call without result, a command that runs, a question, a message not heard. */
  readonly #open = new Map<string, number>()

  get rows(): readonly Row[] {
    return this.#rows
  }

  /** The row that shows an event, or the one before it if it is not shown. */
  indexOf(seq: number): number | undefined {
    return this.#rowOfSeq.get(seq)
  }

  /** Begins anew. `gap` says why the first event is not the first of the log, if it is not and no older will come. */
  rebuild(events: readonly LogEvent[], gap?: GapReason): void {
    this.#rows = []
    this.#lastSeq = 0
    const first = events[0]
    if (gap !== undefined && first !== undefined && first.seq > 1) {
      this.#rows.push({ kind: 'gap', seq: 1, at: first.created_at, until: first.seq - 1, why: gap })
    }
    this.#rowOfSeq.clear()
    this.#open.clear()
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
    if (SILENT.has(type)) return this.#rows.length - 1
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

  /** Replaces the row with the open end, if it is of that kind and still loaded. */
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
    return this.#pushOpen(toolKey(data, event.seq), row)
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
    return this.#pushOpen(
      commandKey(data),
      newCommand(event, text(data, 'command') ?? '', text(data, 'kind') ?? 'exec'),
    )
  }

  #output(event: LogEvent): number {
    const data = event.event_data
    const key = commandKey(data)
    const said = (text(data, 'stdout') ?? '') + (text(data, 'stderr') ?? '')
    const folded = number(data, 'folded_bytes') ?? 0
    const index = this.#change(key, 'command', (row) => withOutput(row, said, folded))
    return index ?? this.#pushOpen(key, withOutput(newCommand(event, '', 'exec'), said, folded))
  }

  #completed(event: LogEvent): number {
    const data = event.event_data
    const key = commandKey(data)
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
    return this.#pushOpen(`review:${id}`, row)
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
    const counted = change === undefined ? countedFiles(event.event_data) : 0
    const changes = change === undefined ? [] : [change]
    if (row?.kind === 'files' && row.changes.length < MOST_FILES) {
      this.#rows[last] = { ...row, changes: [...row.changes, ...changes], counted: row.counted + counted }
      return last
    }
    return this.#push({ kind: 'files', ...base(event), changes, counted })
  }

  #other(event: LogEvent): number {
    const { event_type: type, event_data: data } = event
    if (type === 'sandbox.run_ended') return this.#push({ kind: 'state', ...base(event), ...runEnded(data) })
    const state = STATES[type]
    if (state === undefined) return this.#push({ kind: 'note', ...base(event), type, data })
    return this.#push({ kind: 'state', ...base(event), ...state, detail: detailOf(data) })
  }
}

function base(event: LogEvent): { seq: number; at: string } {
  return { seq: event.seq, at: event.created_at }
}

function toolKey(data: EventData, seq: number): string {
  return `tool:${text(data, 'tool_use_id') ?? seq}`
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
  return { seq: event.seq, how, path, diff: text(event.event_data, 'diff') }
}

function countedFiles(data: EventData): number {
  return (number(data, 'created') ?? 0) + (number(data, 'modified') ?? 0) + (number(data, 'deleted') ?? 0)
}

function runEnded(data: EventData): { title: string; detail: string; mood: Mood } {
  const status = text(data, 'status') ?? 'ended'
  const mood: Mood = status === 'completed' ? 'ok' : status === 'failed' ? 'bad' : 'warn'
  return { title: `Run ${status}`, detail: text(data, 'reason') ?? '', mood }
}

function detailOf(data: EventData): string {
  for (const name of ['summary', 'reason', 'problem', 'detail', 'message', 'status']) {
    const found = text(data, name)
    if (found) return found
  }
  return ''
}
