import { ask } from '~/api/client'
import { ApiError } from '~/api/problem'
import type { LogEvent } from '~/api/types'
import { backoff } from '~/live/backoff'
import { connections } from '~/live/connections'
import { CONNECTING, type LiveState } from '~/live/state'
import { LiveStream } from '~/live/stream'
import { EventStore, type History } from './event-store'

/** Watched sandbox: its events, and the connection for new ones. */
export class Watch {
  readonly events: EventStore
  /** The log, for pages of older events. */
  readonly history: History
  readonly #stream: LiveStream
  readonly #onEvent: (event: LogEvent) => void
  #state: LiveState = CONNECTING
  #failure: ApiError | undefined
  #hasStreamed = false
  #hadEndedAtOpen = false
  #isKnownToHaveEnded = false
  #isClosed = false
  #retry: ReturnType<typeof setTimeout> | undefined

  constructor(sandboxId: string, history: History, onEvent: (event: LogEvent) => void) {
    this.events = new EventStore(history)
    this.history = history
    this.#onEvent = onEvent
    this.#stream = new LiveStream({
      url: () => `/api/v1/sandboxes/${encodeURIComponent(sandboxId)}/events?after_seq=${this.events.lastSeq}`,
      fetch: ask,
      onMessage: (message) => {
        if (message.event === 'event') this.#receive(JSON.parse(message.data))
      },
      onOpen: () => this.#opened(),
      onState: (state) => this.#changed(state),
      // The server ends a stream with the end of the sandbox. The next stream contains later events.
      isOver: () => this.#hadEndedAtOpen,
    })
  }

  get state(): LiveState {
    const behind = this.events.behind
    return this.#state.kind === 'live' && behind > 0 ? { kind: 'catching-up', behind } : this.#state
  }

  /** Why nothing can be shown; undefined otherwise. */
  get failure(): ApiError | undefined {
    return this.#failure
  }

  start(): void {
    connections.put(this, { state: CONNECTING, retryNow: () => this.#stream.retryNow() })
    void this.#open(0)
  }

  /** The description of the server has an end; some sandboxes end without a last event. */
  ended(): void {
    this.#isKnownToHaveEnded = true
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
    this.#stream.close()
    this.events.close()
    connections.remove(this)
  }

  async #open(attempt: number): Promise<void> {
    try {
      await this.events.open()
      if (!this.#isClosed) this.#stream.start()
    } catch (error) {
      if (this.#isClosed) return
      const problem = error instanceof ApiError ? error : undefined
      this.#failure = problem
      this.events.notifier.changed()
      if (problem === undefined || problem.isPassing) {
        this.#retry = setTimeout(() => void this.#open(attempt + 1), backoff(attempt))
      }
      return
    }
    this.#failure = undefined
  }

  #opened(): void {
    // The first stream continues from the loaded page; a later one catches up.
    if (this.#hasStreamed) void this.events.lookAhead().catch(() => undefined)
    this.#hasStreamed = true
    this.#hadEndedAtOpen = this.events.hasEnded || this.#isKnownToHaveEnded
  }

  #receive(event: LogEvent): void {
    this.events.receive(event)
    this.#onEvent(event)
  }

  #changed(state: LiveState): void {
    this.#state = state
    connections.put(this, { state, retryNow: () => this.#stream.retryNow() })
    this.events.notifier.changed()
  }
}
