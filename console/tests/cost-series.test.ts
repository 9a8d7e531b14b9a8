import { describe, expect, it } from 'vitest'
import { CostSeries, thinned } from '~/store/cost-series'
import { event } from './events'

const call = (seq: number, cost?: number) =>
  event(seq, 'agent.model_call', { input_tokens: 10, output_tokens: 1, cache_read_tokens: 2, cost_usd: cost })
const report = (seq: number, cost: number | null) =>
  event(seq, 'agent.usage', { input_tokens: seq, output_tokens: 1, cost_usd: cost })

function series(...events: Parameters<CostSeries['append']>[0][]): CostSeries {
  const made = new CostSeries()
  made.rebuild(events)
  return made
}

describe('CostSeries', () => {
  it('adds up the costs of the gateway', () => {
    const made = series(call(2, 0.5), event(3), call(4, 0.25))
    expect(made.points).toMatchObject([
      { seq: 2, costUsd: 0.5, inputTokens: 10, cacheTokens: 2 },
      { seq: 4, costUsd: 0.75, inputTokens: 20, cacheTokens: 4 },
    ])
    expect([1, 2, 3, 4, 9].map((seq) => made.until(seq).costUsd)).toEqual([0, 0.5, 0.5, 0.75, 0.75])
  })

  it('uses the total of an agent that reports its own cost', () => {
    expect(series(report(5, 0.1), report(9, 0.3)).points.map((point) => point.costUsd)).toEqual([0.1, 0.3])
  })

  it('prefers the gateway if both report', () => {
    expect(series(call(1, 0.5), report(2, 9)).points).toHaveLength(1)
  })

  it('distinguishes tokens without a price from free ones', () => {
    expect(series(report(5, null)).isPriced).toBe(false)
    expect(series(call(5)).isPriced).toBe(false)
    expect(series(call(5, 0)).isPriced).toBe(true)
  })

  it('is thinned for the chart and keeps both ends', () => {
    const made = series(...Array.from({ length: 5_000 }, (_, index) => call(index + 1, 0.001)))
    const few = thinned(made.points, 100)
    expect(few.length).toBeLessThanOrEqual(100)
    expect(few[0]).toBe(made.points[0])
    expect(few.at(-1)).toBe(made.points.at(-1))
    expect(few.map((point) => point.seq)).toEqual(few.map((point) => point.seq).toSorted((a, b) => a - b))
  })
})
