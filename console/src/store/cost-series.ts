import { number } from '~/api/data'
import type { LogEvent } from '~/api/types'
import { after } from './matches'

/** Usage up to a moment, from the loaded events. */
export interface UsagePoint {
  readonly seq: number
  readonly at: number
  readonly costUsd: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheTokens: number
}

/** Points for a chart or a table. */
const MOST_DRAWN = 240

const START: UsagePoint = { seq: 0, at: 0, costUsd: 0, inputTokens: 0, outputTokens: 0, cacheTokens: 0 }

/**
 * Cost and tokens over time, one point for each use. The gateway reports each call; an agent without the gateway
 * reports its sum. If both report, the gateway's figures are used.
 */
export class CostSeries {
  #calls: UsagePoint[] = []
  #reports: UsagePoint[] = []
  #isPriced = false

  get points(): readonly UsagePoint[] {
    return this.#calls.length > 0 ? this.#calls : this.#reports
  }

  /** Whether a cost is known. Tokens without a price are not free. */
  get isPriced(): boolean {
    return this.#isPriced
  }

  append(event: LogEvent): void {
    if (event.event_type === 'agent.model_call') this.#calls.push(this.#point(event, this.#calls.at(-1) ?? START))
    // Cached tokens of an agent's report are omitted, as in the sum of the server.
    else if (event.event_type === 'agent.usage') this.#reports.push({ ...this.#point(event, START), cacheTokens: 0 })
  }

  rebuild(events: Iterable<LogEvent>): void {
    this.#calls = []
    this.#reports = []
    this.#isPriced = false
    for (const event of events) this.append(event)
  }

  /** The last point that is not later than the event with this number. */
  until(seq: number): UsagePoint {
    const { points } = this
    let low = 0
    let high = points.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((points[middle] as UsagePoint).seq <= seq) low = middle + 1
      else high = middle
    }
    return points[low - 1] ?? START
  }

  #point(event: LogEvent, before: UsagePoint): UsagePoint {
    const of = (name: string) => number(event.event_data, name) ?? 0
    if (number(event.event_data, 'cost_usd') !== undefined) this.#isPriced = true
    return {
      seq: event.seq,
      at: Date.parse(event.created_at),
      costUsd: before.costUsd + of('cost_usd'),
      inputTokens: before.inputTokens + of('input_tokens'),
      outputTokens: before.outputTokens + of('output_tokens'),
      cacheTokens: before.cacheTokens + of('cache_read_tokens') + of('cache_write_tokens'),
    }
  }
}

/** At most this many points, evenly distributed in time, always with the first and the last. */
export function thinned(points: readonly UsagePoint[], most = MOST_DRAWN): readonly UsagePoint[] {
  if (points.length <= most) return points
  const first = points[0] as UsagePoint
  const last = points.at(-1) as UsagePoint
  const times = points.map((point) => point.at)
  const kept = new Set<UsagePoint>([first])
  for (let step = 1; step < most - 1; step++) {
    const at = first.at + ((last.at - first.at) * step) / (most - 1)
    kept.add(points[Math.max(0, after(times, at) - 1)] as UsagePoint)
  }
  return [...kept.add(last)]
}
