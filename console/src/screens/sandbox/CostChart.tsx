import type { Counters } from '~/store/counters'
import { clock, count, money } from '~/ui/format'
import { StepChart } from '~/ui/StepChart'
import { type CostLine, costLines, tokenLines } from './cost-lines'
import css from './Facts.module.css'

interface Props {
  readonly counters: Counters
  readonly budget: number | undefined
  /** Highlighted moment. */
  readonly at: number | undefined
  readonly isPriced: boolean
  readonly onOpen: () => void
}

/** Small chart of the cost over time, which opens the large one. Shows tokens if no price is known. */
export function CostChart({ counters, budget, at, isPriced, onOpen }: Props) {
  const { points } = counters.series
  const first = points[0]
  const last = points.at(-1)
  if (first === undefined || last === undefined || first === last) return null
  const lines: readonly CostLine[] = isPriced ? costLines(counters) : tokenLines(counters)
  const sum = isPriced ? money(counters.spent.costUsd) : `${count(counters.spent.inputTokens)} tokens`
  return (
    <button type="button" className={css.chart} onClick={onOpen} title="Open the chart">
      <span className="visually-hidden">
        {`${isPriced ? 'Cost' : 'Tokens'} over time: ${sum} until ${clock(last.at)}. Open the chart`}
      </span>
      <StepChart
        lines={lines}
        limit={isPriced ? budget : undefined}
        at={at}
        show={isPriced ? money : count}
        parts={1}
      />
    </button>
  )
}
