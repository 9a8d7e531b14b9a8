import { describe, expect, it } from 'vitest'
import type { Run } from '~/api/types'
import { Counters } from '~/store/counters'
import { event } from './events'

const call = (seq: number, cost: number | string) =>
  event(seq, 'agent.model_call', { cost_usd: cost, input_tokens: 100, output_tokens: 10, cache_read_tokens: 5 })
const tool = (seq: number, name: string) => event(seq, 'agent.tool_use', { tool_name: name })

function run(costUsd: number, toolCalls: number): Run {
  return {
    run_id: 'run1',
    runtime: 'claude',
    status: 'running',
    cost_usd: costUsd,
    tokens: 0,
    tool_calls: toolCalls,
    usage: { input_tokens: 1000, output_tokens: 100, cache_read_tokens: 50, cache_write_tokens: 5 },
    started_at: '2026-01-01T10:00:00Z',
  }
}

describe('Counters', () => {
  it('counts event by event', () => {
    const counters = new Counters()
    for (const one of [tool(1, 'Bash'), call(2, 0.25), tool(3, 'Bash'), tool(4, 'Read'), call(5, '0.5')]) {
      counters.append(one)
    }
    expect(counters.spent).toEqual({ costUsd: 0.75, inputTokens: 200, outputTokens: 20, cacheTokens: 10, toolCalls: 3 })
    expect([...counters.tools]).toEqual([
      ['Bash', 2],
      ['Read', 1],
    ])
    expect(counters.series.points.map((point) => point.costUsd)).toEqual([0.25, 0.75])
  })

  it('adds only events that the count of the server lacks', () => {
    const counters = new Counters()
    counters.settle(run(2, 7), 10)
    for (const one of [call(9, 1), tool(10, 'Bash'), call(11, 0.5), tool(12, 'Bash')]) counters.append(one)
    expect(counters.spent).toMatchObject({ costUsd: 2.5, inputTokens: 1100, cacheTokens: 60, toolCalls: 8 })
  })

  it('ignores an older count of the server', () => {
    const counters = new Counters()
    counters.settle(run(2, 7), 10)
    counters.append(call(11, 1))
    counters.settle(run(2, 7), 10)
    expect(counters.spent.costUsd).toBe(3)
  })

  it('does not count older events twice when they are loaded', () => {
    const counters = new Counters()
    counters.settle(run(2, 7), 10)
    counters.rebuild([tool(8, 'Bash'), call(9, 1)])
    expect(counters.spent).toMatchObject({ costUsd: 2, toolCalls: 7 })
    expect(counters.tools.get('Bash')).toBe(1)
  })

  it('returns the usage at a moment even if the start is not loaded', () => {
    const counters = new Counters()
    counters.settle(run(2, 7), 10)
    counters.rebuild([tool(8, 'Bash'), call(9, 0.5), tool(10, 'Read')])
    counters.append(call(11, 0.25))
    expect(counters.spentAt(11)).toEqual(counters.spent)
    expect(counters.spentAt(10)).toMatchObject({ costUsd: 2, inputTokens: 1000, toolCalls: 7 })
    expect(counters.spentAt(9)).toMatchObject({ costUsd: 2, toolCalls: 6 })
    expect(counters.spentAt(8)).toMatchObject({ costUsd: 1.5, inputTokens: 900, toolCalls: 6 })
    expect(counters.spentAt(7)).toMatchObject({ costUsd: 1.5, toolCalls: 5 })
  })
})
