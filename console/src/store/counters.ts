import { number, text } from '~/api/data'
import type { LogEvent, Run } from '~/api/types'
import { CostSeries } from './cost-series'
import { after } from './matches'

export interface Spent {
  readonly costUsd: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheTokens: number
  readonly toolCalls: number
}

const NOTHING: Spent = { costUsd: 0, inputTokens: 0, outputTokens: 0, cacheTokens: 0, toolCalls: 0 }

/**
 * Usage of a run, counted by event. The count of the server is exact up to the event with which it was read; later
 * events are added.
 */
export class Counters {
  #spent: Spent = NOTHING
  #countedUntil = 0
  readonly #tools = new Map<string, number>()
  /** Numbers of the events of tool calls. */
  #calledAt: number[] = []
  /** Cost and tokens over time, from the loaded events. */
  readonly series = new CostSeries()

  get spent(): Spent {
    return this.#spent
  }

  /** Number of calls of each tool, from the loaded events. */
  get tools(): ReadonlyMap<string, number> {
    return this.#tools
  }

  /** Usage at the time of an event: the total minus the later usage. */
  spentAt(seq: number): Spent {
    const last = this.series.until(Number.MAX_SAFE_INTEGER)
    const then = this.series.until(seq)
    const less = (all: number, later: number) => Math.max(0, all - later)
    const { costUsd, inputTokens, outputTokens, cacheTokens, toolCalls } = this.#spent
    return {
      costUsd: less(costUsd, last.costUsd - then.costUsd),
      inputTokens: less(inputTokens, last.inputTokens - then.inputTokens),
      outputTokens: less(outputTokens, last.outputTokens - then.outputTokens),
      cacheTokens: less(cacheTokens, last.cacheTokens - then.cacheTokens),
      toolCalls: less(toolCalls, this.#calledAt.length - after(this.#calledAt, seq)),
    }
  }

  /** Sets the count of the server, which includes all events up to this number. */
  settle(run: Run, seq: number): void {
    if (seq < this.#countedUntil) return
    this.#countedUntil = seq
    this.#spent = {
      costUsd: run.cost_usd,
      inputTokens: run.usage.input_tokens,
      outputTokens: run.usage.output_tokens,
      cacheTokens: run.usage.cache_read_tokens + run.usage.cache_write_tokens,
      toolCalls: run.tool_calls,
    }
  }

  /** Adds a new event at the end. */
  append(event: LogEvent): void {
    this.#note(event)
    if (event.seq <= this.#countedUntil) return
    this.#countedUntil = event.seq
    if (event.event_type === 'agent.tool_use') {
      this.#spent = { ...this.#spent, toolCalls: this.#spent.toolCalls + 1 }
    } else if (event.event_type === 'agent.model_call') {
      this.#spent = plus(this.#spent, event)
    }
  }

  /** After older events were loaded or removed, recounts the values that come only from loaded events. */
  rebuild(events: Iterable<LogEvent>): void {
    this.#tools.clear()
    this.#calledAt = []
    this.series.rebuild([])
    for (const event of events) this.#note(event)
  }

  #note(event: LogEvent): void {
    this.series.append(event)
    if (event.event_type !== 'agent.tool_use') return
    const name = text(event.event_data, 'tool_name') ?? 'tool'
    this.#tools.set(name, (this.#tools.get(name) ?? 0) + 1)
    this.#calledAt.push(event.seq)
  }
}

function plus(spent: Spent, call: LogEvent): Spent {
  const of = (name: string) => number(call.event_data, name) ?? 0
  return {
    ...spent,
    costUsd: spent.costUsd + of('cost_usd'),
    inputTokens: spent.inputTokens + of('input_tokens'),
    outputTokens: spent.outputTokens + of('output_tokens'),
    cacheTokens: spent.cacheTokens + of('cache_read_tokens') + of('cache_write_tokens'),
  }
}
