import type { LogEvent, Run } from '~/api/types'
import { Counters } from './counters'
import { Notifier, type Soon } from './notifier'
import type { GapReason } from './rows'
import { Timeline } from './timeline'

const PAGE = 200
const LARGE_PAGE = 1000
/** Maximum number of events in memory. A tenth is removed at a time, so that this is rare. */
const CAP = 20_000
const SLACK = 2_000
const RETRY_MS = 2_000

/** Pages of a log in ascending order. */
export interface History {
  newest(limit: number): Promise<Page>
  /** The newest events before this number. */
  before(seq: number, limit: number): Promise<Page>
  /** The oldest events after this number. */
  after(seq: number, limit: number): Promise<Page>
}

export interface Page {
  readonly events: readonly LogEvent[]
  /** Number of the oldest event of the log; zero if the log is empty. */
  readonly firstSeq: number
  readonly headSeq: number
}

/**
 * Events of one sandbox, ordered and without duplicates, for any order of arrival. The newest are loaded first, older
 * ones on demand. A gap is fetched before later events are shown. Listeners get one notification per frame.
 */
export class EventStore {
  readonly notifier: Notifier
  readonly timeline = new Timeline()
  readonly counters = new Counters()
  readonly #history: History
  readonly #cap: number
  #events: LogEvent[] = []
  #ahead = new Map<number, LogEvent>()
  #filling: Promise<void> | undefined
  #older: Promise<void> | undefined
  #newer: Promise<void> | undefined
  #lastSeq = 0
  #oldestKept = 0
  #headSeq = 0
  #isOpen = false
  #hasEnded = false
  #retry: ReturnType<typeof setTimeout> | undefined

  constructor(history: History, options: { soon?: Soon; cap?: number } = {}) {
    this.#history = history
    this.#cap = options.cap ?? CAP
    this.notifier = new Notifier(options.soon)
  }

  get events(): readonly LogEvent[] {
    return this.#events
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Whether the sandbox has ended. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Number of the last shown event, from which a stream continues. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Number of events of the log that are not loaded. */
  get behind(): number {
    return Math.max(0, this.#headSeq - this.#lastSeq)
  }

  get hasOlder(): boolean {
    const first = this.#events[0]
    return first !== undefined && first.seq > this.#oldestKept && this.#events.length < this.#cap
  }

  get isLoadingOlder(): boolean {
    return this.#older !== undefined
  }

  /** Number of the first loaded event; zero without one. */
  get firstSeq(): number {
    return this.#events[0]?.seq ?? 0
  }

  /** Number of the oldest known event of the log. */
  get oldestKept(): number {
    return this.#oldestKept
  }

  /** Number of the newest known event of the log. */
  get headSeq(): number {
    return this.#headSeq
  }

  /** Loads the newest page. */
  async open(): Promise<void> {
    this.#show(await this.#history.newest(PAGE))
  }

  /** Loads the page around an event instead. This page is not live. */
  async openAt(seq: number): Promise<void> {
    this.#show(await this.#history.after(Math.max(0, seq - PAGE / 2 - 1), PAGE))
  }

  #show(page: Page): void {
    this.#oldestKept = page.firstSeq
    this.#headSeq = Math.max(this.#headSeq, page.headSeq)
    this.#lastSeq = page.events.length > 0 ? 0 : page.headSeq
    for (const event of page.events) this.#append(event)
    if (this.#gapBefore() !== undefined) this.#rebuild()
    this.#isOpen = true
    this.#drain()
    this.notifier.changed()
  }

  /** After a lost connection, reads the newest number of the log, to show the number of missed events. */
  async lookAhead(): Promise<void> {
    const page = await this.#history.newest(1)
    this.#headSeq = Math.max(this.#headSeq, page.headSeq)
    this.notifier.changed()
  }

  /** Adds an event from a stream. Drops duplicates. */
  receive(event: LogEvent): void {
    if (event.seq <= this.#lastSeq) return
    this.#ahead.set(event.seq, event)
    this.#headSeq = Math.max(this.#headSeq, event.seq)
    if (this.#isOpen) this.#drain()
  }

  /** Sets the usage that the server counted. */
  settle(run: Run, seq: number): void {
    this.counters.settle(run, seq)
    this.notifier.changed()
  }

  /** Loads the page before the first event. Concurrent calls share one request. */
  loadOlder(limit = PAGE): Promise<void> {
    const first = this.#events[0]
    if (first === undefined || !this.hasOlder) return Promise.resolve()
    this.#older ??= this.#prepend(first.seq, Math.min(limit, this.#cap - this.#events.length)).finally(() => {
      this.#older = undefined
      this.notifier.changed()
    })
    this.notifier.changed()
    return this.#older
  }

  /** Loads the page after the last event of a page of older ones. */
  async loadNewer(): Promise<void> {
    if (this.behind === 0 || this.#newer !== undefined) return this.#newer
    this.#newer = this.#extend().finally(() => {
      this.#newer = undefined
    })
    return this.#newer
  }

  /** Loads older pages while there are any and memory permits. The signal stops it. */
  async loadAll(signal: AbortSignal): Promise<void> {
    while (this.hasOlder && !signal.aborted) {
      const first = this.firstSeq
      await this.loadOlder(LARGE_PAGE)
      if (this.firstSeq === first) return
    }
  }

  /** Loads older pages until the event with this number is loaded. Returns whether it is. */
  async reach(seq: number): Promise<boolean> {
    for (
      let first = this.#events[0];
      first !== undefined && first.seq > seq && this.hasOlder;
      first = this.#events[0]
    ) {
      await this.loadOlder(LARGE_PAGE)
      if (this.#events[0] === first) break
    }
    return this.timeline.indexOf(seq) !== undefined
  }

  close(): void {
    clearTimeout(this.#retry)
    this.#ahead.clear()
  }

  async #prepend(before: number, limit: number): Promise<void> {
    const page = await this.#history.before(before, limit)
    const older = page.events.filter((event) => event.seq < before)
    this.#oldestKept = older.length === 0 ? before : page.firstSeq
    this.#events = [...older, ...this.#events]
    this.#rebuild()
  }

  async #extend(): Promise<void> {
    const page = await this.#history.after(this.#lastSeq, PAGE)
    this.#headSeq = page.events.length === 0 ? this.#lastSeq : Math.max(this.#headSeq, page.headSeq)
    for (const event of page.events) if (event.seq > this.#lastSeq) this.#append(event)
    this.notifier.changed()
  }

  /** Shows events up to the first gap, and fetches the gap. */
  #drain(): void {
    for (let next = this.#ahead.get(this.#lastSeq + 1); next !== undefined; next = this.#ahead.get(this.#lastSeq + 1)) {
      this.#ahead.delete(next.seq)
      this.#append(next)
    }
    if (this.#ahead.size > 0) {
      this.#filling ??= this.#fill().finally(() => {
        this.#filling = undefined
      })
    }
    this.notifier.changed()
  }

  async #fill(): Promise<void> {
    while (this.#ahead.size > 0) {
      const page = await this.#history.after(this.#lastSeq, LARGE_PAGE).catch(() => undefined)
      if (page === undefined) return this.#fillLater()
      for (const event of page.events) if (event.seq > this.#lastSeq) this.#append(event)
      if (page.events.length === 0) this.#skipHole()
      for (const seq of this.#ahead.keys()) if (seq <= this.#lastSeq) this.#ahead.delete(seq)
      this.#drain()
    }
  }

  /** The log has no events in the gap: retention removed them. */
  #skipHole(): void {
    const next = this.#ahead.get(Math.min(...this.#ahead.keys()))
    if (next !== undefined) this.#append(next)
  }

  #fillLater(): void {
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => this.#drain(), RETRY_MS)
  }

  #append(event: LogEvent): void {
    this.#events.push(event)
    this.#lastSeq = event.seq
    this.#headSeq = Math.max(this.#headSeq, event.seq)
    this.#hasEnded ||= event.event_type === 'sandbox.terminated'
    this.timeline.append(event)
    this.counters.append(event)
    if (this.#events.length > this.#cap + Math.min(SLACK, this.#cap)) this.#trim()
  }

  #trim(): void {
    this.#events = this.#events.slice(-this.#cap)
    this.#rebuild()
  }

  #rebuild(): void {
    this.timeline.rebuild(this.#events, this.#gapBefore())
    this.counters.rebuild(this.#events)
    this.notifier.changed()
  }

  /** Why there are no events before the first one, if there were some. */
  #gapBefore(): GapReason | undefined {
    if (this.firstSeq <= 1 || this.hasOlder) return undefined
    return this.firstSeq <= this.#oldestKept ? 'removed' : 'unloaded'
  }
}
