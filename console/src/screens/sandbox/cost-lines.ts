import { thinned, type UsagePoint } from '~/store/cost-series'
import type { Counters, Spent } from '~/store/counters'
import type { Step } from '~/ui/StepChart'

export interface CostLine {
  readonly name: string
  readonly steps: readonly Step[]
}

type Measure = 'costUsd' | 'inputTokens' | 'outputTokens' | 'cacheTokens'

export function costLines(counters: Counters): readonly CostLine[] {
  return [line(counters, 'Cost', 'costUsd')]
}

export function tokenLines(counters: Counters): readonly CostLine[] {
  return [
    line(counters, 'In', 'inputTokens'),
    line(counters, 'Out', 'outputTokens'),
    line(counters, 'Cached', 'cacheTokens'),
  ]
}

function line(counters: Counters, name: string, measure: Measure): CostLine {
  const before = earlier(counters)[measure]
  const steps = thinned(counters.series.points).map((point) => ({ at: point.at, value: before + point[measure] }))
  return { name, steps }
}

/** Usage before the first loaded event. */
export function earlier({ spent, series }: Counters): Pick<Spent, Measure> {
  const last: UsagePoint = series.until(Number.MAX_SAFE_INTEGER)
  const before = (measure: Measure) => Math.max(0, spent[measure] - last[measure])
  return {
    costUsd: before('costUsd'),
    inputTokens: before('inputTokens'),
    outputTokens: before('outputTokens'),
    cacheTokens: before('cacheTokens'),
  }
}
