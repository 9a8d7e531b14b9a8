import { Check, FilePen, FileText, LoaderCircle, Search, SquareTerminal, Wrench, X } from 'lucide-react'
import { toolSummary } from '~/store/fleet'
import type { ToolRow } from '~/store/rows'
import { plain, took } from '~/ui/format'
import { Terminal } from '~/ui/Terminal'
import { Fold } from './Fold'
import css from './rows.module.css'

const ICONS: readonly (readonly [RegExp, typeof Wrench])[] = [
  [/bash|terminal|shell|execute/i, SquareTerminal],
  [/write|edit|patch/i, FilePen],
  [/read|view|notebook/i, FileText],
  [/grep|glob|search|find/i, Search],
]

/** A tool call and its result in one line, which expands to both in full. */
export function ToolPart({ row }: { row: ToolRow }) {
  const Icon = ICONS.find(([name]) => name.test(row.name))?.[1] ?? Wrench
  const line = (
    <>
      <Icon size={15} aria-hidden className={css.icon} />
      <span className={css.name}>{plain(row.name)}</span>
      <code className={css.cut}>{row.asks ? '' : plain(toolSummary(row.input))}</code>
      <Outcome row={row} />
    </>
  )
  return (
    <Fold line={line}>
      <Input row={row} />
      {row.result && <Terminal>{row.result.text || '(nothing)'}</Terminal>}
    </Fold>
  )
}

function Outcome({ row: { result, at, isCut } }: { row: ToolRow }) {
  if (result === undefined && isCut) return <span className={css.outcome}>no result</span>
  if (result === undefined) {
    return (
      <span className={css.outcome}>
        <LoaderCircle size={14} className={css.spin} aria-hidden /> running
      </span>
    )
  }
  // Both events have the same time, so the duration is unknown.
  const ms = Date.parse(result.at) - Date.parse(at)
  return (
    <span className={css.outcome} data-mood={result.isError ? 'bad' : 'ok'}>
      {result.isError ? <X size={14} aria-hidden /> : <Check size={14} aria-hidden />}
      {[result.isError && 'failed', ms > 0 && took(ms)].filter(Boolean).join(' · ')}
    </span>
  )
}

function Input({ row }: { row: ToolRow }) {
  const command = row.input.command
  if (typeof command === 'string') return <pre className={`scrolls ${css.input}`}>{plain(command)}</pre>
  if (Object.keys(row.input).length === 0) return null
  return <pre className={`scrolls ${css.input}`}>{plain(JSON.stringify(row.input, null, 2))}</pre>
}
