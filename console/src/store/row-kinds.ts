import { toolSummary } from './fleet'
import { isOpenNote } from './guard-notes'
import type { Row } from './rows'

/** Kinds of rows in the filter. */
export const KINDS = ['thinking', 'messages', 'tools', 'commands', 'files', 'reviews', 'guardian', 'state'] as const

export type Kind = (typeof KINDS)[number]

const KIND_OF: Readonly<Record<Row['kind'], Kind>> = {
  thinking: 'thinking',
  message: 'messages',
  said: 'messages',
  tool: 'tools',
  command: 'commands',
  files: 'files',
  review: 'reviews',
  guard: 'guardian',
  state: 'state',
  note: 'state',
  gap: 'state',
}

export function kindOf(row: Row): Kind {
  return KIND_OF[row.kind]
}

/** Whether the row is a failure. */
export function isError(row: Row): boolean {
  switch (row.kind) {
    case 'tool':
      return row.result?.isError === true
    case 'command':
      return row.end !== undefined && row.end.exitCode !== 0
    case 'state':
      return row.mood === 'bad'
    case 'guard':
      return row.act === 'stopped'
    case 'note':
      return /(^|[._])(error|failed)$/.test(row.type)
    default:
      return false
  }
}

/** Whether a row may still be replaced: its result, end or answer is missing, or it is the last one and grows. */
export function isUnfinished(row: Row, isLast: boolean): boolean {
  switch (row.kind) {
    case 'tool':
      return row.result === undefined
    case 'command':
      return row.end === undefined
    case 'review':
      return row.answer === undefined
    case 'said':
      return row.heard === undefined
    case 'guard':
      return isOpenNote(row) && row.outcome === undefined
    case 'state':
      return row.isOpen === true
    case 'files':
      return isLast
    default:
      return false
  }
}

/** All text of a row, for the search. */
export function wordsOf(row: Row): string {
  switch (row.kind) {
    case 'message':
    case 'thinking':
      return row.text
    case 'said':
      return `${row.by} ${row.text}`
    case 'tool':
      return `${row.name} ${toolSummary(row.input)} ${JSON.stringify(row.input)} ${row.result?.text ?? ''}`
    case 'command':
      return `${row.line} ${row.output}`
    case 'files':
      return row.changes.map((change) => change.path).join(' ')
    case 'review':
      return `${row.reason} ${row.description} ${row.answer?.comment ?? ''}`
    case 'state':
      return `${row.title} ${row.detail}`
    case 'guard':
      return `${row.by} ${row.act} ${row.rule} ${row.text}`
    case 'note':
      return `${row.type} ${JSON.stringify(row.data)}`
    case 'gap':
      return ''
  }
}
