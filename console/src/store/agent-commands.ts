import { text } from '~/api/data'
import type { CommandRow, Row, ToolRow } from './rows'

/** A row as a command: one that the API or a shell ran, or a call of an agent's tool for commands. */
export function commandOf(row: Row | undefined): CommandRow | undefined {
  if (row?.kind === 'command') return row
  return row?.kind === 'tool' ? fromTool(row) : undefined
}

/** The result of a tool says whether it failed, but not the exit status. */
function fromTool({ seq, at, input, result, isCut }: ToolRow): CommandRow | undefined {
  const line = text(input, 'command')
  if (line === undefined) return undefined
  const end = result && {
    exitCode: undefined,
    cause: result.isError ? 'failed' : 'exited',
    durationMs: Math.max(0, Date.parse(result.at) - Date.parse(at)) || undefined,
  }
  return { kind: 'command', seq, at, line, how: 'agent', output: result?.text ?? '', dropped: 0, end, isCut }
}
