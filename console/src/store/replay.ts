import type { LogEvent } from '~/api/types'
import { Counters, type Spent } from './counters'
import type { EventStore } from './event-store'
import { Notifier, type Soon } from './notifier'
import { Tape } from './tape'
import { Timeline } from './timeline'

export const SPEEDS = [1, 4, 16] as const

export type Speed = (typeof SPEEDS)[number]

/**
 * A run as it was at a moment, and a clock that goes on from there. It plays what the store has loaded and heeds what is
 * loaded meanwhile: the moment is an event, not a place, so that older pages do not move it.
 */
export class Replay {
  readonly notifier: Notifier
  readonly timeline = new Timeline()
  readonly tape = new Tape()
  readonly #source: EventStore
  readonly #counters = new Counters()
  #seq: number
  /** How many events the timeline has been told. */
  #told = 0
  #place = 0
  #speed: Speed = 1
  #playedAt: number | undefined

  constructor(source: EventStore, seq: number, soon?: Soon) {
    this.notifier = new Notifier(soon)
    this.#source = source
    this.#seq = seq
    this.sync()
  }

  /** The event that is the moment; the nearest that is loaded. */
  get event(): LogEvent | undefined {
    return this.tape.events[this.index]
  }

  get index(): number {
    return this.tape.indexOf(this.#seq)
  }

  /** The event that was asked for, which may not be loaded yet. */
  get seq(): number {
    return this.#seq
  }

  /** Where on the tape it stands: between two events, while it plays. */
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

  /** How often each tool had been called. */
  get tools(): ReadonlyMap<string, number> {
    return this.#counters.tools
  }

  get spent(): Spent {
    return this.#source.counters.spentAt(this.event?.seq ?? 0)
  }

  /** The store has changed. */
  sync(): void {
    const isOther = this.tape.update(this.#source.events)
    if (isOther) {
      this.#told = 0
      this.#place = this.tape.placeOf(this.index)
    }
    this.#tell()
  }

  /** Goes to an event. */
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

  /** To the event so many before or after. */
  step(events: number): void {
    const last = this.tape.events.length - 1
    const target = this.tape.events[Math.max(0, Math.min(this.index + events, last))]
    if (target !== undefined) this.seek(target.seq)
  }

  setSpeed(speed: Speed): void {
    this.#speed = speed
    this.notifier.changed()
  }

  /** From the beginning, if it was at the end. `now` is a clock that never goes back, in milliseconds. */
  play(now: number): void {
    if (this.isAtEnd) this.seekPlace(0)
    this.#playedAt = now
    this.notifier.changed()
  }

  pause(): void {
    this.#playedAt = undefined
    this.notifier.changed()
  }

  /** Goes on by the time that has passed. It stops at the end. */
  tick(now: number): void {
    if (this.#playedAt === undefined) return
    const passed = Math.max(0, now - this.#playedAt)
    this.#playedAt = now
    this.seekPlace(this.#place + passed * this.#speed)
    if (this.#place >= this.tape.length) this.pause()
  }

  /** Brings the timeline to the moment: on by what is between, back by beginning anew. */
  #tell(): void {
    const { events } = this.tape
    const wanted = events.length === 0 ? 0 : this.index + 1
    if (wanted < this.#told || this.#told === 0) {
      const told = events.slice(0, wanted)
      this.timeline.rebuild(told)
      this.#counters.rebuild(told)
    } else {
      for (const event of events.slice(this.#told, wanted)) {
        this.timeline.append(event)
        this.#counters.append(event)
      }
    }
    this.#told = wanted
    this.notifier.changed()
  }
}
