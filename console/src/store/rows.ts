import type { EventData } from '~/api/types'
import type { Flood } from './floods'

interface Base {
  /** The first event of the row: its name in links and its React key. */
  readonly seq: number
  readonly at: string
}

/** Row that waits for something. */
interface Waiting extends Base {
  /** The run or the sandbox ended before the result. */
  readonly isCut?: true
}

export interface MessageRow extends Base {
  readonly kind: 'message'
  readonly text: string
}

export interface ThinkingRow extends Base {
  readonly kind: 'thinking'
  readonly text: string
}

export type Tone = 'message' | 'guidance' | 'interrupt' | 'guardian' | 'system'

/** Message to the agent, and the time of its delivery. */
export interface SaidRow extends Waiting {
  readonly kind: 'said'
  readonly tone: Tone
  readonly text: string
  readonly by: string
  readonly heard: { readonly latencyMs: number | undefined } | undefined
}

/** A tool call with its result. */
export interface ToolRow extends Waiting {
  readonly kind: 'tool'
  readonly name: string
  readonly input: EventData
  /** The call asks a person, and the row of the review contains the question. */
  readonly asks?: true
  readonly result: { readonly text: string; readonly isError: boolean; readonly at: string } | undefined
}

/** A command with its output. */
export interface CommandRow extends Waiting {
  readonly kind: 'command'
  readonly line: string
  readonly how: string
  readonly output: string
  /** Omitted characters of output. */
  readonly dropped: number
  readonly end:
    | { readonly exitCode: number | undefined; readonly cause: string; readonly durationMs: number | undefined }
    | undefined
}

export interface FileChange {
  readonly seq: number
  readonly how: 'created' | 'modified' | 'deleted'
  /** A directory ends with a slash. */
  readonly path: string
  readonly diff: string | undefined
}

/** Consecutive changes of files. */
export interface FilesRow extends Base {
  readonly kind: 'files'
  readonly changes: readonly FileChange[]
  readonly floods: readonly Flood[]
}

export interface ReviewRow extends Waiting {
  readonly kind: 'review'
  readonly id: string
  readonly reason: string
  readonly description: string
  readonly answer:
    | { readonly decision: string; readonly by: string; readonly comment: string; readonly at: string }
    | undefined
}

export type Mood = 'plain' | 'ok' | 'warn' | 'bad'

/** Change of state of the sandbox or the run. */
export interface StateRow extends Base {
  readonly kind: 'state'
  readonly title: string
  readonly detail: string
  readonly mood: Mood
  /** The sandbox in which the task continues. */
  readonly next?: string
  /** The run whose forensics can be downloaded. */
  readonly forensicsOf?: string
  /** The end of a run, which further events may complete. */
  readonly isOpen?: true
}

/** A note of the guardian or the conductor on a run. */
export interface GuardRow extends Base {
  readonly kind: 'guard'
  readonly by: 'guardian' | 'conductor'
  readonly act: GuardAct
  /** The rule that found it, or the state that a model saw. */
  readonly rule: string
  readonly text: string
  /** Numbers of the events that show it. */
  readonly evidence: readonly number[]
  /** Whether the pattern ended. */
  readonly outcome: { readonly hasEnded: boolean; readonly at: string } | undefined
}

export type GuardAct = 'observed' | 'nudged' | 'paused' | 'stopped' | 'judged' | 'report'

/** Event of a type without its own form. */
export interface NoteRow extends Base {
  readonly kind: 'note'
  readonly type: string
  readonly data: EventData
}

/** Retention removed the events, or memory does not suffice for them. */
export type GapReason = 'removed' | 'unloaded'

/** Events that are not loaded. */
export interface GapRow extends Base {
  readonly kind: 'gap'
  readonly until: number
  readonly why: GapReason
}

export type Row =
  | MessageRow
  | ThinkingRow
  | SaidRow
  | ToolRow
  | CommandRow
  | FilesRow
  | ReviewRow
  | StateRow
  | GuardRow
  | NoteRow
  | GapRow
