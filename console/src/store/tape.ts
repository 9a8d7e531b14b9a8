import type { LogEvent } from '~/api/types'
import { indexUntil, type Mark, markOf } from './log-events'
import { after } from './matches'

/** Longer than this nobody waits for the next event: what is longer is played as this. */
const LONGEST_GAP_MS = 2_000

export interface Marked {
  readonly index: number
  readonly mark: Mark
}

/**
 * Where each event lies on a line that can be played: as far apart as they were in time, but no further than a person
 * would wait. Brought up to date by what is new alone, unless the list is another.
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

  /** How long it takes to play all of it. */
  get length(): number {
    return this.#places.at(-1) ?? 0
  }

  /** Whether the list was another one before. */
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

  /** The last event that is not after this place; the first if there is none. */
  indexAt(place: number): number {
    return Math.max(0, after(this.#places, place) - 1)
  }

  /** The last event whose number is not greater; the first if there is none. */
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
