import { ApiError } from '~/api/problem'
import { backoff } from './backoff'
import { type Message, MessageReader } from './sse'
import { CONNECTING, LIVE, type LiveState } from './state'

const CONNECT_WITHIN_MS = 10_000
const SILENCE_MS = 40_000

export interface LiveStreamParts {
  /** Returns the URL; called for each connection, because it contains the last received number. */
  readonly url: () => string
  readonly onMessage: (message: Message) => void
  /** Called after a connection or reconnect. */
  readonly onOpen?: () => void
  readonly onState: (state: LiveState) => void
  /** Whether an end of the stream is final, so that the client does not reconnect. */
  readonly isOver?: () => boolean
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly random?: () => number
}

/**
 * Stream of server-sent events with reconnects. Uses `fetch`, because `EventSource` has no connect timeout and no
 * watchdog, and hides the reason of a failure.
 */
export class LiveStream {
  readonly #parts: LiveStreamParts
  #attempt = 0
  #aborter: AbortController | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #watchdog: ReturnType<typeof setTimeout> | undefined
  #closed = false

  constructor(parts: LiveStreamParts) {
    this.#parts = parts
  }

  start(): void {
    window.addEventListener('online', this.#returned)
    window.addEventListener('offline', this.#lost)
    document.addEventListener('visibilitychange', this.#returned)
    this.#parts.onState(CONNECTING)
    void this.#connect()
  }

  /** Retries at once, if a retry is scheduled. */
  retryNow(): void {
    if (this.#retry !== undefined) {
      clearTimeout(this.#retry)
      this.#retry = undefined
      void this.#connect()
    }
  }

  close(): void {
    this.#closed = true
    window.removeEventListener('online', this.#returned)
    window.removeEventListener('offline', this.#lost)
    document.removeEventListener('visibilitychange', this.#returned)
    clearTimeout(this.#retry)
    clearTimeout(this.#watchdog)
    this.#aborter?.abort()
  }

  readonly #returned = () => {
    if (document.visibilityState === 'visible') this.retryNow()
  }

  readonly #lost = () => {
    // If the browser reports that it is offline, the watchdog is not needed.
    this.#aborter?.abort()
  }

  async #connect(): Promise<void> {
    const aborter = new AbortController()
    this.#aborter = aborter
    this.#watch(CONNECT_WITHIN_MS)
    try {
      const init = { signal: aborter.signal, headers: { Accept: 'text/event-stream' }, cache: 'no-store' } as const
      const response = await this.#parts.fetch(this.#parts.url(), init)
      if (this.#closed) return
      this.#opened()
      await this.#read(response)
      if (this.#parts.isOver?.()) {
        this.#end('The stream has ended.')
        return
      }
    } catch (error) {
      if (isFinal(error)) {
        this.#end(error.message)
        return
      }
    } finally {
      clearTimeout(this.#watchdog)
    }
    this.#waitToReturn()
  }

  #opened(): void {
    this.#attempt = 0
    this.#parts.onState(LIVE)
    this.#parts.onOpen?.()
  }

  async #read(response: Response): Promise<void> {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    if (reader === undefined) return
    const messages = new MessageReader()
    for (;;) {
      this.#watch(SILENCE_MS)
      const { done, value } = await reader.read()
      if (done || this.#closed) return
      for (const message of messages.read(value)) this.#parts.onMessage(message)
    }
  }

  #watch(within: number): void {
    clearTimeout(this.#watchdog)
    this.#watchdog = setTimeout(() => this.#aborter?.abort(), within)
  }

  #waitToReturn(): void {
    if (this.#closed) return
    const wait = backoff(this.#attempt++, this.#parts.random)
    const now = Date.now()
    this.#parts.onState(
      navigator.onLine === false ? { kind: 'offline', since: now } : { kind: 'reconnecting', at: now + wait },
    )
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      void this.#connect()
    }, wait)
  }

  #end(why: string): void {
    if (this.#closed) return
    this.close()
    this.#parts.onState({ kind: 'ended', why })
  }
}

/** Statuses after which a retry cannot succeed: not signed in, not allowed, not found. */
function isFinal(error: unknown): error is ApiError {
  return error instanceof ApiError && !error.isPassing
}
