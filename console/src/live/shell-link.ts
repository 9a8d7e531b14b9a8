import { backoff } from './backoff'
import type { ShellMessage, ShellRequest } from './shell-messages'

const ENTER_WITHIN_MS = 10_000
const PING_EVERY_MS = 20_000
const SILENCE_MS = 45_000
/** Close code 4000 with a reason that contains the HTTP status of the failure. */
const OURS = 4000
/** Close code for input from an observer. */
const POLICY = 1008
const TOO_LARGE = 1009
const TOO_MANY = 4429
/**
 * Close code after five seconds without authentication. A wrong credential is reported at once; a busy page may be
 * late.
 */
const UNKNOWN = 4401
const SPEAK_WITHIN_MS = 4_000
const TRIES = 3

/** State of the connection to a shell. */
export type LinkState =
  | { readonly kind: 'idle' }
  /** `isAgain`: whether it is a reconnect. */
  | { readonly kind: 'connecting'; readonly isAgain: boolean }
  | { readonly kind: 'live' }
  | { readonly kind: 'reconnecting'; readonly at: number }
  | { readonly kind: 'offline'; readonly since: number }
  | { readonly kind: 'exited'; readonly code: number; readonly cause: string }
  | { readonly kind: 'refused'; readonly status: number; readonly why: string }

/** The part of `WebSocket` that this module uses. */
export interface Socket {
  onopen: (() => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
  send(text: string): void
  close(): void
}

export interface ShellLinkParts {
  readonly connect: () => Socket
  /** Returns the first message; called for each connection. */
  readonly first: () => ShellRequest
  readonly onMessage: (message: ShellMessage) => void
  readonly onState: (state: LinkState) => void
  /** Whether to reconnect after a lost connection; called each time. */
  readonly mayReturn: () => boolean
  readonly random?: () => number
}

/**
 * WebSocket to a shell that reconnects until the shell ends or the server refuses for good. The shell runs in the
 * sandbox, so a lost connection loses nothing.
 */
export class ShellLink {
  readonly #parts: ShellLinkParts
  #state: LinkState = { kind: 'idle' }
  #socket: Socket | undefined
  #attempt = 0
  #begunAt = 0
  #complaint = ''
  #retry: ReturnType<typeof setTimeout> | undefined
  #watchdog: ReturnType<typeof setTimeout> | undefined
  #pings: ReturnType<typeof setInterval> | undefined

  constructor(parts: ShellLinkParts) {
    this.#parts = parts
    window.addEventListener('online', this.#returned)
    window.addEventListener('offline', this.#lost)
    document.addEventListener('visibilitychange', this.#returned)
  }

  get state(): LinkState {
    return this.#state
  }

  /** Connects, and replaces an existing connection. */
  open(): void {
    this.#drop()
    this.#attempt = 0
    this.#connect()
  }

  /** Retries at once, if a retry is scheduled. */
  retryNow(): void {
    if (this.#retry === undefined) return
    this.#drop()
    this.#connect()
  }

  /** Stops retrying until the next `open`. Keeps an open connection. */
  rest(): void {
    if (this.#state.kind === 'live') return
    this.#drop()
    if (this.#state.kind !== 'exited' && this.#state.kind !== 'refused') this.#change({ kind: 'idle' })
  }

  /** Closes the connection until the next `open`. */
  leave(): void {
    this.#drop()
    this.#change({ kind: 'idle' })
  }

  /** Sends a message, if the socket is open. */
  send(request: ShellRequest): boolean {
    if (this.#state.kind !== 'live') return false
    this.#socket?.send(JSON.stringify(request))
    return true
  }

  close(): void {
    window.removeEventListener('online', this.#returned)
    window.removeEventListener('offline', this.#lost)
    document.removeEventListener('visibilitychange', this.#returned)
    this.#drop()
  }

  readonly #returned = () => {
    if (document.visibilityState === 'visible') this.retryNow()
  }

  readonly #lost = () => {
    // If the browser reports that it is offline, the watchdog is not needed.
    if (this.#socket !== undefined) this.#cut()
  }

  #connect(): void {
    this.#change({ kind: 'connecting', isAgain: this.#attempt > 0 })
    this.#complaint = ''
    this.#begunAt = Date.now()
    const socket = this.#parts.connect()
    this.#socket = socket
    this.#watch(ENTER_WITHIN_MS)
    socket.onopen = () => socket.send(JSON.stringify(this.#parts.first()))
    socket.onmessage = ({ data }) => this.#hear(String(data))
    socket.onclose = ({ code, reason }) => this.#closed(code, reason)
  }

  #hear(text: string): void {
    this.#watch(this.#state.kind === 'connecting' ? ENTER_WITHIN_MS : SILENCE_MS)
    const message: ShellMessage = JSON.parse(text)
    if (message.type === 'auth_ok') this.#entered()
    else if (message.type === 'exit') this.#change({ kind: 'exited', code: message.code, cause: message.cause })
    else if (message.type === 'error') this.#complaint = message.message
    this.#parts.onMessage(message)
  }

  #entered(): void {
    this.#attempt = 0
    this.#watch(SILENCE_MS)
    this.#pings = setInterval(() => this.send({ type: 'ping' }), PING_EVERY_MS)
    this.#change({ kind: 'live' })
  }

  #closed(code: number, reason: string): void {
    this.#drop()
    if (this.#state.kind === 'exited') return
    if (isFinal(code) && !this.#spokeTooLate(code)) {
      const status = code > OURS ? code - OURS : code
      this.#change({ kind: 'refused', status, why: this.#complaint || reason })
      return
    }
    this.#waitToReturn()
  }

  #spokeTooLate(code: number): boolean {
    const isLate = this.#state.kind === 'connecting' && Date.now() - this.#begunAt > SPEAK_WITHIN_MS
    return code === UNKNOWN && isLate && this.#attempt < TRIES
  }

  /** Closes an unusable connection and reconnects. */
  #cut(): void {
    this.#drop()
    if (this.#state.kind !== 'exited') this.#waitToReturn()
  }

  #waitToReturn(): void {
    if (!this.#parts.mayReturn()) {
      this.#change({ kind: 'idle' })
      return
    }
    const wait = backoff(this.#attempt++, this.#parts.random)
    const now = Date.now()
    this.#change(
      navigator.onLine === false ? { kind: 'offline', since: now } : { kind: 'reconnecting', at: now + wait },
    )
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.#connect()
    }, wait)
  }

  #watch(within: number): void {
    clearTimeout(this.#watchdog)
    this.#watchdog = setTimeout(() => this.#cut(), within)
  }

  #drop(): void {
    clearTimeout(this.#retry)
    this.#retry = undefined
    clearTimeout(this.#watchdog)
    clearInterval(this.#pings)
    const socket = this.#socket
    this.#socket = undefined
    if (socket === undefined) return
    socket.onopen = null
    socket.onmessage = null
    socket.onclose = null
    socket.close()
  }

  #change(state: LinkState): void {
    this.#state = state
    this.#parts.onState(state)
  }
}

/** Close codes after which a retry cannot succeed. A full or failing server may recover. */
function isFinal(code: number): boolean {
  return code === POLICY || code === TOO_LARGE || (code > OURS && code < OURS + 500 && code !== TOO_MANY)
}
