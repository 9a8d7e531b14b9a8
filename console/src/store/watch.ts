import { ask } from '~/api/client'
import { ApiError } from '~/api/problem'
import type { LogEvent } from '~/api/types'
import { backoff } from '~/live/backoff'
import { connections } from '~/live/connections'
import { CONNECTING, type LiveState } from '~/live/state'
import { LiveStream } from '~/live/stream'
import { EventStore, type History } from './event-store'

/** A sandbox that somebody looks at: its events, and the connection that brings new ones. */
export class Watch {
  readonly events: EventStore
  /** The log itself, for windows on what is too far back. */
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
      // The server ends a stream with the end of the sandbox. What was told after that comes with the next one.
      isOver: () => this.#hadEndedAtOpen,
    })
  }

  get state(): LiveState {
    const behind = this.events.behind
    return this.#state.kind === 'live' && behind > 0 ? { kind: 'catching-up', behind } : this.#state
  }

  /** Why nothing can be shown, if nothing can. */
  get failure(): ApiError | undefined {
    return this.#failure
  }

  start(): void {
    connections.put(this, { state: CONNECTING, retryNow: () => this.#stream.retryNow() })
    void this.#open(0)
  }

  /** The server's description says that it has ended: some end without a last event to tell of it. */
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
    // The first stream goes on from the page just read; a later one has something to catch up with.
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
