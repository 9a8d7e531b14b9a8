import { Link } from '@tanstack/react-router'
import { MessageCircleQuestion } from 'lucide-react'
import { memo } from 'react'
import type { FleetRow } from '~/store/fleet'
import { quietFor } from '~/store/fleet-view'
import { ago, bytes, count, moment, money, plain, span } from '~/ui/format'
import { useNow } from '~/ui/now'
import { Sparkline } from '~/ui/Sparkline'
import { StatusMark } from '~/ui/StatusMark'
import css from './FleetScreen.module.css'

interface Props {
  readonly row: FleetRow
  readonly index: number
  readonly top: number
  readonly isSelected: boolean
  /** Why the last thing that was to be done to it was not. */
  readonly failure: string | undefined
  readonly onSelect: (sandboxId: string) => void
}

export const FleetLine = memo(function FleetLine({ row, index, top, isSelected, failure, onSelect }: Props) {
  const { sandbox } = row
  return (
    // biome-ignore lint/a11y/useSemanticElements: a virtual list cannot be a table element
    <div
      role="row"
      tabIndex={-1}
      className={css.line}
      aria-rowindex={index + 2}
      data-sandbox={sandbox.sandbox_id}
      data-selected={isSelected || undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      <Cell name="check">
        <label className={css.tick}>
          <input
            type="checkbox"
            aria-label={`Select ${plain(row.title)}`}
            checked={isSelected}
            onChange={() => onSelect(sandbox.sandbox_id)}
          />
        </label>
      </Cell>
      <Cell name="status">
        <StatusMark status={row.status} title={sandbox.reason} />
        {row.pendingReviews > 0 && (
          <span className={css.asks}>
            <MessageCircleQuestion size={14} aria-hidden /> asks
          </span>
        )}
      </Cell>
      <Cell name="task">
        <Link
          to="/console/sandboxes/$sandboxId"
          params={{ sandboxId: sandbox.sandbox_id }}
          className={css.title}
          data-line={sandbox.sandbox_id}
        >
          {plain(row.title)}
        </Link>
        <span className={css.under}>
          {sandbox.runtime ?? 'no agent'} · {sandbox.thread_id}
        </span>
      </Cell>
      <Cell name="doing">
        {failure === undefined ? <Doing row={row} /> : <span className={css.failed}>{failure}</span>}
      </Cell>
      <Cell name="active">
        <Activity row={row} />
      </Cell>
      <Cell name="owner">{sandbox.user_id}</Cell>
      <Cell name="cost">
        {sandbox.run ? money(row.costUsd) : '–'}
        {sandbox.run?.budget_usd !== undefined && <span className={css.under}>of {money(sandbox.run.budget_usd)}</span>}
      </Cell>
      <Cell name="tools">{sandbox.run ? count(row.toolCalls) : '–'}</Cell>
      <Cell name="cpu">
        <Processor values={row.cpu} />
      </Cell>
      <Cell name="memory">{row.memoryBytes === undefined ? '–' : bytes(row.memoryBytes)}</Cell>
    </div>
  )
})

function Cell({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a virtual list cannot be a table element
    <div role="cell" className={css.cell} data-column={name}>
      {children}
    </div>
  )
}

function Doing({ row }: { row: FleetRow }) {
  const words = row.action || (row.status === 'failed' ? (row.sandbox.reason ?? '') : '')
  return <span className={css.doing}>{plain(words)}</span>
}

function Activity({ row }: { row: FleetRow }) {
  const now = useNow()
  const quiet = quietFor(row, now)
  if (quiet !== undefined) {
    return (
      <span className={css.quiet} title="Running, but nothing was heard of it">
        quiet {span(quiet)}
      </span>
    )
  }
  return <time title={moment(row.lastEventAt)}>{ago(now - row.lastEventAt)}</time>
}

function Processor({ values }: { values: readonly number[] }) {
  const last = values.at(-1)
  if (last === undefined) return '–'
  const words = `${Math.round(last)} %`
  return (
    <span className={css.cpu} title={words}>
      {values.length > 1 ? <Sparkline values={values} most={100} label={`CPU, now ${words}`} /> : words}
    </span>
  )
}
