import { type Kind, kindOf } from './row-kinds'
import type { Row } from './rows'

const WORDS: Readonly<Record<Kind, readonly [string, string]>> = {
  thinking: ['thought', 'thoughts'],
  messages: ['message', 'messages'],
  tools: ['tool call', 'tool calls'],
  commands: ['command', 'commands'],
  files: ['file change', 'file changes'],
  reviews: ['question', 'questions'],
  guardian: ['note of the guardian', 'notes of the guardian'],
  state: ['other event', 'other events'],
}

/** Summary of the events after a number, as one sentence for screen readers; empty without new events. */
export function digest(rows: readonly Row[], afterSeq: number): string {
  const counts = new Map<Kind, number>()
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index] as Row
    if (row.seq <= afterSeq) break
    counts.set(kindOf(row), (counts.get(kindOf(row)) ?? 0) + 1)
  }
  if (counts.size === 0) return ''
  const parts = [...counts].map(([kind, count]) => `${count} ${WORDS[kind][count === 1 ? 0 : 1]}`)
  return `New: ${parts.join(', ')}`
}
