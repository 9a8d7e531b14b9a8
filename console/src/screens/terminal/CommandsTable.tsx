import { ChevronRight } from 'lucide-react'
import { Fragment, useState } from 'react'
import { commandOf } from '~/store/agent-commands'
import type { EventStore } from '~/store/event-store'
import type { CommandRow, Row } from '~/store/rows'
import { Button } from '~/ui/Button'
import { bytes, clock, moment, plain, span, took } from '~/ui/format'
import { useNow } from '~/ui/now'
import { Empty } from '~/ui/States'
import { Terminal } from '~/ui/Terminal'
import css from './CommandsTable.module.css'

const STEP = 100

const WAYS: Readonly<Record<string, string>> = {
  agent: 'the agent',
  exec: 'the API',
  detached: 'the API, in the background',
  shell: 'a shell',
}

/** Commands of the sandbox: running ones first, then the newest. A row expands to its output. */
export function CommandsTable({ events }: { events: EventStore }) {
  const [most, setMost] = useState(STEP)
  const [open, setOpen] = useState<number>()
  const { found, hasMore } = newest(events.timeline.rows, most)
  const more = hasMore ? () => setMost(most + STEP) : events.hasOlder ? () => void events.loadOlder() : undefined
  if (found.length === 0 && more === undefined) {
    return (
      <Empty title="No commands yet">
        <p>Commands of the agent, of the API and of shells are listed as they start.</p>
      </Empty>
    )
  }
  return (
    <div className={css.scroll} role="tabpanel" id="panel-commands" aria-label="Commands">
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col">Command</th>
            <th scope="col">Started</th>
            <th scope="col">Took</th>
            <th scope="col">Exit</th>
            <th scope="col">Through</th>
          </tr>
        </thead>
        <tbody>
          {found.map((row) => (
            <Fragment key={row.seq}>
              <Line
                row={row}
                isOpen={open === row.seq}
                onToggle={() => setOpen(open === row.seq ? undefined : row.seq)}
              />
              {open === row.seq && <Output row={row} />}
            </Fragment>
          ))}
        </tbody>
      </table>
      {more && (
        <Button look="quiet" onClick={more}>
          Older commands
        </Button>
      )}
    </div>
  )
}

function Line({ row, isOpen, onToggle }: { row: CommandRow; isOpen: boolean; onToggle: () => void }) {
  return (
    <tr data-running={isRunning(row) || undefined}>
      <td>
        <button type="button" className={css.command} aria-expanded={isOpen} onClick={onToggle}>
          <ChevronRight size={14} aria-hidden />
          <code>{plain(row.line) || 'unknown'}</code>
        </button>
      </td>
      <td title={moment(row.at)}>{clock(row.at)}</td>
      <td>{isRunning(row) ? <Running since={row.at} /> : duration(row.end?.durationMs)}</td>
      <td>
        <Exit row={row} />
      </td>
      <td>{WAYS[row.how] ?? plain(row.how)}</td>
    </tr>
  )
}

function Running({ since }: { since: string }) {
  return <>{span(Math.max(0, useNow() - Date.parse(since)))}</>
}

function Exit({ row: { end, isCut } }: { row: CommandRow }) {
  if (end === undefined && isCut) return <span>ended with the sandbox</span>
  if (end === undefined) return <span className={css.running}>running</span>
  if (end.exitCode === undefined && end.cause === 'exited') return <span className={css.good}>done</span>
  const isGood = end.exitCode === 0
  const words = end.cause === 'exited' ? '' : ` ${plain(end.cause)}`
  return <span className={isGood ? css.good : css.bad}>{`${end.exitCode ?? ''}${words}`.trim()}</span>
}

function Output({ row }: { row: CommandRow }) {
  return (
    <tr>
      <td colSpan={5} className={css.output}>
        {row.dropped > 0 && <p>{bytes(row.dropped)} before this are not shown.</p>}
        {row.output === '' ? <p>No output.</p> : <Terminal>{row.output}</Terminal>}
      </td>
    </tr>
  )
}

/** Counts from the end, so that the time does not depend on the length of the log. */
function newest(rows: readonly Row[], most: number): { found: readonly CommandRow[]; hasMore: boolean } {
  const found: CommandRow[] = []
  let at = rows.length - 1
  for (; at >= 0 && found.length < most; at--) {
    const row = commandOf(rows[at])
    if (row !== undefined) found.push(row)
  }
  return { found: [...found.filter(isRunning), ...found.filter((row) => !isRunning(row))], hasMore: at >= 0 }
}

function isRunning(row: CommandRow): boolean {
  return row.end === undefined && !row.isCut
}

function duration(ms: number | undefined): string {
  return ms === undefined ? '' : took(ms)
}
