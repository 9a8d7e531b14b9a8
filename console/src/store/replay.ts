import type { LogEvent } from '~/api/types'
import { Counters, type Spent } from './counters'
import type { EventStore } from './event-store'
import { Notifier, type Soon } from './notifier'
import { Tape } from './tape'
import { Timeline } from './timeline'

export const SPEEDS = [1, 4, 16] as const

export type Speed = (typeof SPEEDS)[number]

/**
 * The run at a moment, and a clock that continues from there. It plays the loaded events, including those that are
 * loaded meanwhile. The moment is an event and not an index, so older pages do not move it.
 */
export class Replay {
  readonly notifier: Notifier
  readonly timeline = new Timeline()
  readonly tape = new Tape()
  readonly #source: EventStore
  readonly #counters = new Counters()
  #seq: number
  /** Number of events in the timeline. */
  #shown = 0
  #place = 0
  #speed: Speed = 1
  #playedAt: number | undefined

  constructor(source: EventStore, seq: number, soon?: Soon) {
    this.notifier = new Notifier(soon)
    this.#source = source
    this.#seq = seq
    this.sync()
  }

  /** The event of the moment; the nearest loaded one. */
  get event(): LogEvent | undefined {
    return this.tape.events[this.index]
  }

  get index(): number {
    return this.tape.indexOf(this.#seq)
  }

  /** The requested event, which may not be loaded yet. */
  get seq(): number {
    return this.#seq
  }

  /** Position on the tape, between two events during playback. */
  get place(): number {
    return this.#place
  }

  get isPlaying(): boolean {
    return this.#playedAt !== undefined
  }

  get isAtEnd(): boolean {
    return this.index >= this.tape.events.length - 1
  }

  get speed(): Speed {
    return this.#speed
  }

  /** Number of calls of each tool so far. */
  get tools(): ReadonlyMap<string, number> {
    return this.#counters.tools
  }

  get spent(): Spent {
    return this.#source.counters.spentAt(this.event?.seq ?? 0)
  }

  /** Called after a change of the store. */
  sync(): void {
    const isOther = this.tape.update(this.#source.events)
    if (isOther) {
      this.#shown = 0
      this.#place = this.tape.placeOf(this.index)
    }
    this.#tell()
  }

  /** Seeks to an event. */
  seek(seq: number): void {
    this.#seq = seq
    this.#place = this.tape.placeOf(this.index)
    this.#tell()
  }

  seekPlace(place: number): void {
    this.#place = Math.max(0, Math.min(place, this.tape.length))
    this.#seq = this.tape.events[this.tape.indexAt(this.#place)]?.seq ?? this.#seq
    this.#tell()
  }

  /** Seeks by a number of events. */
  step(events: number): void {
    const last = this.tape.events.length - 1
    const target = this.tape.events[Math.max(0, Math.min(this.index + events, last))]
    if (target !== undefined) this.seek(target.seq)
  }

  setSpeed(speed: Speed): void {
    this.#speed = speed
    this.notifier.changed()
  }

  /** Plays, from the beginning if at the end. `now` is a monotonic clock in milliseconds. */
  play(now: number): void {
    if (this.isAtEnd) this.seekPlace(0)
    this.#playedAt = now
    this.notifier.changed()
  }

  pause(): void {
    this.#playedAt = undefined
    this.notifier.changed()
  }

  /** Advances by the elapsed time. Stops at the end. */
  tick(now: number): void {
    if (this.#playedAt === undefined) return
    const passed = Math.max(0, now - this.#playedAt)
    this.#playedAt = now
    this.seekPlace(this.#place + passed * this.#speed)
    if (this.#place >= this.tape.length) this.pause()
  }

  /** Moves the timeline to the moment: forwards by adding events, backwards by rebuilding. */
  #tell(): void {
    const { events } = this.tape
    const wanted = events.length === 0 ? 0 : this.index + 1
    if (wanted < this.#shown || this.#shown === 0) {
      const shown = events.slice(0, wanted)
      this.timeline.rebuild(shown)
      this.#counters.rebuild(shown)
    } else {
      for (const event of events.slice(this.#shown, wanted)) {
        this.timeline.append(event)
        this.#counters.append(event)
      }
    }
    this.#shown = wanted
    this.notifier.changed()
  }
}
