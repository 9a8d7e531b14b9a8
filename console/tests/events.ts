import type { EventData, LogEvent } from '~/api/types'
import type { History, Page } from '~/store/event-store'

const START = Date.parse('2026-01-01T10:00:00Z')

/** An event with that number, one second after the previous one. */
export function event(seq: number, type = 'agent.message', data: EventData = { text: `message ${seq}` }): LogEvent {
  return {
    id: `e${seq}`,
    seq,
    sandbox_id: 'sbx1',
    event_type: type,
    event_data: data,
    source: 'agent',
    created_at: new Date(START + seq * 1000).toISOString(),
  }
}

/** The events of a range, inclusive. */
export function range(from: number, to: number): LogEvent[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => event(from + index))
}

/** Log of a server. It records its requests, and can be unreachable. */
export class MemoryLog implements History {
  readonly asked: string[] = []
  isReachable = true
  events: LogEvent[]

  constructor(events: LogEvent[]) {
    this.events = events
  }

  newest(limit: number): Promise<Page> {
    return this.#answer(`newest ${limit}`, () => this.events.slice(-limit))
  }

  before(seq: number, limit: number): Promise<Page> {
    return this.#answer(`before ${seq}`, () => this.events.filter((one) => one.seq < seq).slice(-limit))
  }

  after(seq: number, limit: number): Promise<Page> {
    return this.#answer(`after ${seq}`, () => this.events.filter((one) => one.seq > seq).slice(0, limit))
  }

  async #answer(question: string, page: () => LogEvent[]): Promise<Page> {
    this.asked.push(question)
    if (!this.isReachable) throw new Error('out of reach')
    return { events: page(), firstSeq: this.events[0]?.seq ?? 0, headSeq: this.events.at(-1)?.seq ?? 0 }
  }
}
