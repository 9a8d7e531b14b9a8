import { backoff } from './backoff'
import type { ShellMessage, ShellRequest } from './shell-messages'

const ENTER_WITHIN_MS = 10_000
const PING_EVERY_MS = 20_000
const SILENCE_MS = 45_000
/** Closed with 4000 and a status, as the same failure has over HTTP. */
const OURS = 4000
/** Who may only watch went on typing. */
const POLICY = 1008
const TOO_LARGE = 1009
const TOO_MANY = 4429
/** Nobody said who comes within five seconds. Of a wrong word it is told at once; a page may have been too busy to speak. */
const UNKNOWN = 4401
const SPEAK_WITHIN_MS = 4_000
const TRIES = 3

/** How the connection to a shell stands. */
export type LinkState =
  | { readonly kind: 'idle' }
  /** `isAgain`: after a loss. */
  | { readonly kind: 'connecting'; readonly isAgain: boolean }
  | { readonly kind: 'live' }
  | { readonly kind: 'reconnecting'; readonly at: number }
  | { readonly kind: 'offline'; readonly since: number }
  | { readonly kind: 'exited'; readonly code: number; readonly cause: string }
  | { readonly kind: 'refused'; readonly status: number; readonly why: string }

/** As much of a `WebSocket` as is used here. */
export interface Socket {
  onopen: (() => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
  send(text: string): void
  close(): void
}

export interface ShellLinkParts {
  readonly connect: () => Socket
  /** The first message; asked anew each time. */
  readonly first: () => ShellRequest
  readonly onMessage: (message: ShellMessage) => void
  readonly onState: (state: LinkState) => void
  /** Whether to come back after a loss; asked each time. */
  readonly mayReturn: () => boolean
  readonly random?: () => number
}

/**
 * A socket to a shell that comes back until the shell has ended or the server refuses for good. The shell lives in the
 * sandbox: a lost connection costs nothing but time.
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

  /** Connects, or connects anew: whatever there was before is left. */
  open(): void {
    this.#drop()
    this.#attempt = 0
    this.#connect()
  }

  /** Tries at once, if it is waiting to. */
  retryNow(): void {
    if (this.#retry === undefined) return
    this.#drop()
    this.#connect()
  }

  /** Stops trying, until it is opened again. A connection that stands is kept. */
  rest(): void {
    if (this.#state.kind === 'live') return
    this.#drop()
    if (this.#state.kind !== 'exited' && this.#state.kind !== 'refused') this.#change({ kind: 'idle' })
  }

  /** Leaves whatever there is, until it is opened again. */
  leave(): void {
    this.#drop()
    this.#change({ kind: 'idle' })
  }

  /** Says something, if anybody hears it. */
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
    // A browser that knows it is offline need not wait for the watchdog.
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

  /** Leaves a connection that is of no use any more, and comes back. */
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

/** What asking again would not change; a server that fails or is full may be better soon. */
function isFinal(code: number): boolean {
  return code === POLICY || code === TOO_LARGE || (code > OURS && code < OURS + 500 && code !== TOO_MANY)
}
