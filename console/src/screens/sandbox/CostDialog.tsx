import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { thinned, type UsagePoint } from '~/store/cost-series'
import type { EventStore } from '~/store/event-store'
import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import { clock, count, money, plain, whole } from '~/ui/format'
import { StepChart } from '~/ui/StepChart'
import css from './CostDialog.module.css'
import { type CostLine, costLines, earlier, tokenLines } from './cost-lines'

interface Props {
  readonly events: EventStore
  readonly budget: number | undefined
  readonly isPriced: boolean
  readonly onClose: () => void
}

/** Cost, tokens and tools over time: chart, text and table. */
export function CostDialog({ events, budget, isPriced, onClose }: Props) {
  const [isTable, setTable] = useState(false)
  const { counters } = events
  useEffect(() => {
    const aborter = new AbortController()
    events.loadAll(aborter.signal).catch(() => undefined)
    return () => aborter.abort()
  }, [events])
  return (
    <Dialog title="Cost over time" onClose={onClose}>
      <div className={css.parts}>
        <p>{summary(events, budget, isPriced)}</p>
        <p className={css.cover} role="status">
          {cover(events)}
        </p>
        {isTable ? (
          <Table events={events} isPriced={isPriced} />
        ) : (
          <>
            {isPriced && <Chart title="Cost" lines={costLines(counters)} limit={budget} show={money} />}
            <Chart title="Tokens" lines={tokenLines(counters)} show={count} />
          </>
        )}
        <Tools tools={counters.tools} />
        <div className={css.actions}>
          <Button aria-pressed={isTable} onClick={() => setTable(!isTable)}>
            {isTable ? 'As a chart' : 'As a table'}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

function summary({ counters: { spent, series } }: EventStore, budget: number | undefined, isPriced: boolean): string {
  const tokens = `${whole(spent.inputTokens)} tokens in, ${whole(spent.outputTokens)} out, ${whole(spent.cacheTokens)} cached`
  if (!isPriced) return `Tokens only, because the price is unknown: ${tokens}.`
  const share = budget === undefined ? '' : ` of ${money(budget)} (${Math.round((spent.costUsd / budget) * 100)} %)`
  const step = largest(series.points)
  const most = step && `. The largest step was ${money(step.costUsd)} at ${clock(step.at)}, event ${whole(step.seq)}`
  return `${money(spent.costUsd)}${share}; ${tokens}${most ?? ''}.`
}

function largest(points: readonly UsagePoint[]): { costUsd: number; at: number; seq: number } | undefined {
  let found: { costUsd: number; at: number; seq: number } | undefined
  for (const [index, point] of points.entries()) {
    const costUsd = point.costUsd - (points[index - 1]?.costUsd ?? 0)
    if (index > 0 && costUsd > (found?.costUsd ?? 0)) found = { costUsd, at: point.at, seq: point.seq }
  }
  return found
}

function cover(events: EventStore): string {
  const have = whole(events.events.length)
  const all = whole(events.headSeq - events.oldestKept + 1)
  if (events.hasOlder) return `Loading older events: ${have} of ${all}`
  return events.firstSeq > events.oldestKept ? `Of the last ${have} of ${all} events` : `Of all ${all} events`
}

interface ChartProps {
  readonly title: string
  readonly lines: readonly CostLine[]
  readonly limit?: number
  readonly show: (value: number) => string
}

function Chart({ title, lines, limit, show }: ChartProps) {
  if (lines[0]?.steps[0] === undefined) return null
  return (
    <figure className={css.figure}>
      <figcaption className={css.caption}>
        <strong>{title}</strong>
        {limit !== undefined && <span data-line="limit">budget {show(limit)}</span>}
        {lines.length > 1 &&
          lines.map((line, index) => (
            <span key={line.name} data-line={index}>
              {line.name} {show(line.steps.at(-1)?.value ?? 0)}
            </span>
          ))}
      </figcaption>
      <div className={css.plot}>
        <StepChart lines={lines} limit={limit} show={show} parts={4} />
      </div>
    </figure>
  )
}

function Table({ events, isPriced }: { events: EventStore; isPriced: boolean }) {
  const { counters } = events
  const before = earlier(counters)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
    <section className={css.scroll} aria-label="Cost over time as a table" tabIndex={0}>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Event</th>
            {isPriced && <th scope="col">Cost</th>}
            <th scope="col">In</th>
            <th scope="col">Out</th>
            <th scope="col">Cached</th>
          </tr>
        </thead>
        <tbody>
          {thinned(counters.series.points).map((point) => (
            <tr key={point.seq}>
              <td>{clock(point.at)}</td>
              <td>
                <Link
                  from="/console/sandboxes/$sandboxId"
                  to="."
                  search={(old) => ({ ...old, at: point.seq, replay: undefined })}
                >
                  {whole(point.seq)}
                </Link>
              </td>
              {isPriced && <td>{money(before.costUsd + point.costUsd)}</td>}
              <td>{whole(before.inputTokens + point.inputTokens)}</td>
              <td>{whole(before.outputTokens + point.outputTokens)}</td>
              <td>{whole(before.cacheTokens + point.cacheTokens)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Tools({ tools }: { tools: ReadonlyMap<string, number> }) {
  const sorted = [...tools].sort((a, b) => b[1] - a[1])
  const most = sorted[0]?.[1] ?? 0
  if (most === 0) return null
  return (
    <section>
      <h3 className={css.heading}>Tool calls</h3>
      <dl className={css.tools}>
        {sorted.map(([name, calls]) => (
          <div key={name} className={css.tool}>
            <dt>{plain(name)}</dt>
            <dd>
              <span className={css.beam} style={{ width: `${(calls / most) * 70}%` }} aria-hidden />
              {whole(calls)}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
