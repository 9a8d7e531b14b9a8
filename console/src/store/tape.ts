import type { LogEvent } from '~/api/types'
import { indexUntil, type Mark, markOf } from './log-events'
import { after } from './matches'

/** Maximum delay between two events during playback. Longer pauses are shortened. */
const LONGEST_GAP_MS = 2_000

export interface Marked {
  readonly index: number
  readonly mark: Mark
}

/**
 * Positions of events on a timeline for playback: distances in time, with shortened pauses. An update costs only the
 * new events, unless the list is another one.
 */
export class Tape {
  #events: readonly LogEvent[] = []
  #places: number[] = []
  #marks: Marked[] = []

  get events(): readonly LogEvent[] {
    return this.#events
  }

  get marks(): readonly Marked[] {
    return this.#marks
  }

  /** Duration of the playback. */
  get length(): number {
    return this.#places.at(-1) ?? 0
  }

  /** Whether the previous list was another one. */
  update(events: readonly LogEvent[]): boolean {
    const isOther = events !== this.#events || events.length < this.#places.length
    if (isOther) {
      this.#events = events
      this.#places = []
      this.#marks = []
    }
    for (let index = this.#places.length; index < events.length; index++) this.#add(index)
    return isOther
  }

  placeOf(index: number): number {
    return this.#places[Math.max(0, Math.min(index, this.#places.length - 1))] ?? 0
  }

  /** The last event up to this position, or the first. */
  indexAt(place: number): number {
    return Math.max(0, after(this.#places, place) - 1)
  }

  /** The last event up to this number, or the first. */
  indexOf(seq: number): number {
    return Math.max(0, indexUntil(this.#events, seq))
  }

  #add(index: number): void {
    const event = this.#events[index] as LogEvent
    const before = this.#events[index - 1]
    const gap = before === undefined ? 0 : Date.parse(event.created_at) - Date.parse(before.created_at)
    this.#places.push(this.length + Math.min(LONGEST_GAP_MS, Math.max(0, gap)))
    const mark = markOf(event)
    if (mark !== undefined) this.#marks.push({ index, mark })
  }
}
