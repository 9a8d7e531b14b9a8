import { Check, LoaderCircle, SquareTerminal, X } from 'lucide-react'
import type { CommandRow } from '~/store/rows'
import { count, plain, took } from '~/ui/format'
import { Terminal } from '~/ui/Terminal'
import { Fold } from './Fold'
import css from './rows.module.css'

export function CommandPart({ row }: { row: CommandRow }) {
  const line = (
    <>
      <SquareTerminal size={15} aria-hidden className={css.icon} />
      <code className={css.cut}>{plain(row.line) || '(started earlier)'}</code>
      {row.how !== 'exec' && <span className={css.tag}>{row.how}</span>}
      <Outcome row={row} />
    </>
  )
  return (
    <Fold line={line}>
      {row.line.includes('\n') && <pre className={`scrolls ${css.input}`}>{plain(row.line)}</pre>}
      {row.dropped > 0 && <p className={css.aside}>{count(row.dropped)} characters are not shown</p>}
      <Terminal>{row.output || '(no output)'}</Terminal>
    </Fold>
  )
}

function Outcome({ row: { end, isCut } }: { row: CommandRow }) {
  if (end === undefined && isCut) return <span className={css.outcome}>ended with the sandbox</span>
  if (end === undefined) {
    return (
      <span className={css.outcome}>
        <LoaderCircle size={14} className={css.spin} aria-hidden /> running
      </span>
    )
  }
  const isGood = end.exitCode === 0
  return (
    <span className={css.outcome} data-mood={isGood ? 'ok' : 'bad'}>
      {isGood ? <Check size={14} aria-hidden /> : <X size={14} aria-hidden />}
      {outcome(end)}
    </span>
  )
}

/** `exit 1 · 977 ms`; a successful command shows only its duration. */
export function outcome({ exitCode, cause, durationMs }: NonNullable<CommandRow['end']>): string {
  const how = exitCode === 0 ? undefined : cause === 'exited' ? `exit ${exitCode ?? '?'}` : plain(cause)
  return [how, durationMs === undefined ? undefined : took(durationMs)].filter(Boolean).join(' · ')
}
