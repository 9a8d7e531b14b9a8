import { Link } from '@tanstack/react-router'
import { MessageCircleQuestion } from 'lucide-react'
import { memo, useContext, useEffect } from 'react'
import type { FleetRow } from '~/store/fleet'
import { isIdle, quietFor } from '~/store/fleet-view'
import { ago, bytes, count, moment, money, plain, span } from '~/ui/format'
import { useNow } from '~/ui/now'
import { Sparkline } from '~/ui/Sparkline'
import { StatusMark } from '~/ui/StatusMark'
import { FleetContext } from '../frame/fleet-context'
import css from './FleetScreen.module.css'

const MIB = 1024 * 1024

interface Props {
  readonly row: FleetRow
  readonly index: number
  readonly top: number
  readonly isSelected: boolean
  /** Why the last action on the sandbox failed. */
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
        <StatusMark status={isIdle(row) ? 'idle' : row.status} title={sandbox.reason} />
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
      <Cell name="age">
        <Age at={Date.parse(sandbox.created_at)} />
      </Cell>
      <Cell name="owner">{sandbox.user_id}</Cell>
      <Cell name="cost">
        {sandbox.run ? money(row.costUsd) : '–'}
        {sandbox.run?.budget_usd !== undefined && <span className={css.under}>of {money(sandbox.run.budget_usd)}</span>}
      </Cell>
      <Cell name="tools">{sandbox.run ? count(row.toolCalls) : '–'}</Cell>
      <Cell name="cpu">
        <Trend of="CPU" values={row.cpu} most={100} words={(percent) => `${Math.round(percent)} %`} />
      </Cell>
      <Cell name="memory">
        <Trend of="Memory" values={row.memory} most={(sandbox.limits?.memory_mb ?? 0) * MIB} words={bytes} />
      </Cell>
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
  const watch = useContext(FleetContext)
  const { sandbox } = row
  const isUnknown = row.status === 'running' && row.action === ''
  useEffect(() => {
    if (isUnknown) watch?.recall(sandbox)
  }, [isUnknown, watch, sandbox])
  const reason = row.pendingReviews > 0 ? 'waits for an answer' : row.sandbox.reason
  const words = row.status === 'running' ? row.action : (reason ?? row.action)
  return <span className={css.doing}>{plain(words)}</span>
}

function Activity({ row }: { row: FleetRow }) {
  const now = useNow()
  const quiet = quietFor(row, now)
  if (quiet !== undefined) {
    return (
      <span className={css.quiet} title="Running, without a heartbeat">
        quiet {span(quiet)}
      </span>
    )
  }
  return <time title={moment(row.lastEventAt)}>{ago(now - row.lastEventAt)}</time>
}

function Age({ at }: { at: number }) {
  return <time title={moment(at)}>{span(Math.max(0, useNow() - at))}</time>
}

interface TrendProps {
  readonly of: string
  readonly values: readonly number[]
  /** Minimum of the value at the top of the chart. */
  readonly most: number
  readonly words: (value: number) => string
}

/** Usage of a resource and its history. */
function Trend({ of, values, most, words }: TrendProps) {
  const last = values.at(-1)
  if (last === undefined) return '–'
  return (
    <span className={css.trend}>
      <Sparkline values={values} most={most} label={`${of} over the last minutes`} />
      <span className={css.under}>{words(last)}</span>
    </span>
  )
}
