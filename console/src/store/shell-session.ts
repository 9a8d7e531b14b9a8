import { type LinkState, ShellLink, type Socket } from '~/live/shell-link'
import type { Participant, Role, ShellMessage, Size } from '~/live/shell-messages'
import { Notifier, type Soon } from './notifier'
import { type Screen, ShellIntake, WINDOW } from './shell-intake'
import { pieces } from './terminal-input'

/** Maximum number of characters in one message; the server accepts 512 KiB. */
const PIECE = 64 * 1024
const NOTICE_MS = 10_000

/** Why a key had no effect. */
export type Deaf = 'watching' | 'paused' | 'away'

/** Notice of the terminal to its user. */
export interface Notice {
  readonly text: string
  /** A repeated notice with the same text is a new object. */
  readonly number: number
}

export interface ShellSessionParts {
  readonly id: string
  readonly connect: () => Socket
  readonly onEnd?: (code: number) => void
  /** The server rejected the session. */
  readonly onSignedOut?: () => void
  readonly random?: () => number
  readonly soon?: Soon
}

/** Open shell: its connection, participants and size, and whether it accepts input. */
export class ShellSession {
  readonly id: string
  readonly notifier: Notifier
  readonly #link: ShellLink
  readonly #intake: ShellIntake
  readonly #onEnd: (code: number) => void
  readonly #onSignedOut: () => void
  #role: Role | undefined
  #wantsToWatch = false
  #isPaused = false
  #people: readonly Participant[] = []
  #size: Size | undefined
  #room: Size | undefined
  #notice: Notice | undefined
  #hasTyped = false

  constructor(parts: ShellSessionParts) {
    this.id = parts.id
    this.notifier = new Notifier(parts.soon)
    this.#onEnd = parts.onEnd ?? (() => undefined)
    this.#onSignedOut = parts.onSignedOut ?? (() => undefined)
    this.#intake = new ShellIntake((characters) => this.#link.send({ type: 'seen', characters }))
    this.#link = new ShellLink({
      connect: parts.connect,
      random: parts.random,
      first: () => ({
        type: 'auth',
        session_id: this.id,
        window: WINDOW,
        ...(this.#wantsToWatch && { observe: true }),
        ...this.#room,
      }),
      onMessage: (message) => this.#hear(message),
      onState: (state) => this.#changed(state),
      mayReturn: () => !this.#isPaused,
    })
    document.addEventListener('visibilitychange', this.#seen)
    this.#seen()
  }

  get state(): LinkState {
    return this.#link.state
  }

  /** Role that the server granted; undefined before that. */
  get role(): Role | undefined {
    return this.#role
  }

  /** Whether the user chose to watch, though typing is permitted. */
  get wantsToWatch(): boolean {
    return this.#wantsToWatch
  }

  get people(): readonly Participant[] {
    return this.#people
  }

  /** Size of the terminal from the server: that of the last typist. */
  get size(): Size | undefined {
    return this.#size
  }

  get notice(): Notice | undefined {
    return this.#notice
  }

  /** Why input is not accepted; undefined if it is. */
  get deaf(): Deaf | undefined {
    if (this.state.kind !== 'live') return 'away'
    if (this.#role !== 'typist') return 'watching'
    return this.#isPaused ? 'paused' : undefined
  }

  /** Connects, if not connected. Does not connect to a paused sandbox, because that would resume it. */
  open(): void {
    if (!this.#isPaused && this.state.kind === 'idle') this.#link.open()
  }

  /** Reconnects now; to a paused sandbox after it resumes. */
  reconnect(): void {
    this.#notice = undefined
    if (this.#isPaused) this.#link.leave()
    else this.#link.open()
  }

  retryNow(): void {
    this.#link.retryNow()
  }

  attach(screen: Screen | undefined): void {
    this.#intake.attach(screen)
  }

  /** Switches between watching and typing. The server admits a participant in one role. */
  watchOnly(isOn: boolean): void {
    this.#wantsToWatch = isOn
    if (this.state.kind === 'live' || this.state.kind === 'refused') this.reconnect()
    this.notifier.changed()
  }

  setPaused(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return
    this.#isPaused = isPaused
    if (isPaused) this.#link.rest()
    else this.open()
    this.notifier.changed()
  }

  /** Sends input of the user. Input that cannot be sent is dropped, because the screen may have changed later. */
  type(data: string): Deaf | undefined {
    const deaf = this.deaf
    if (deaf === undefined) {
      this.#hasTyped = true
      for (const piece of pieces(data, PIECE)) this.#link.send({ type: 'stdin', data: piece })
    }
    return deaf
  }

  /** Sends the terminal's reply to a program. Of several terminals, one replies. */
  reply(data: string): void {
    const typists = this.#people.filter((who) => who.role === 'typist').length
    if (this.deaf === undefined && (typists <= 1 || this.#hasTyped)) this.#link.send({ type: 'stdin', data })
  }

  /** Sends the size of the window. */
  resize(room: Size): void {
    if (this.#room?.cols === room.cols && this.#room.rows === room.rows) return
    this.#room = room
    if (this.#role === 'typist') this.#link.send({ type: 'resize', ...room })
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.#seen)
    this.#link.close()
  }

  readonly #seen = () => this.#intake.setSeen(document.visibilityState === 'visible')

  #hear(message: ShellMessage): void {
    switch (message.type) {
      case 'auth_ok':
        this.#role = message.role
        this.#hasTyped = false
        this.#intake.restart()
        this.#grow(message)
        break
      case 'stdout':
        this.#intake.put(message.data)
        return
      case 'size':
        this.#grow(message)
        break
      case 'presence':
        this.#arrived(message.people)
        break
      case 'missed':
        this.#say('Some output is missing, because this page was too slow.')
        break
      case 'error':
        this.#say(`${message.message[0]?.toUpperCase() ?? ''}${message.message.slice(1)}.`)
        break
      case 'exit':
        this.#people = []
        this.#onEnd(message.code)
        break
    }
    this.notifier.changed()
  }

  #grow({ cols, rows }: Size): void {
    this.#size = { cols, rows }
  }

  #arrived(people: readonly Participant[]): void {
    if (people.length > this.#people.length) this.#hasTyped = false
    this.#people = people
  }

  #say(text: string): void {
    const notice = { text, number: (this.#notice?.number ?? 0) + 1 }
    this.#notice = notice
    setTimeout(() => {
      if (this.#notice !== notice) return
      this.#notice = undefined
      this.notifier.changed()
    }, NOTICE_MS)
  }

  #changed(state: LinkState): void {
    if (state.kind !== 'live') this.#people = []
    if (state.kind === 'refused' && state.status === 401) this.#onSignedOut()
    this.notifier.changed()
  }
}
