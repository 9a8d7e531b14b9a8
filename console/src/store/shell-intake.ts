/** Target of output: a terminal that consumes it asynchronously and reports that. */
export interface Screen {
  write(data: string, taken: () => void): void
  /** Clears the screen before a replay. */
  reset(): void
}

/** Maximum number of characters in transit between the server and the screen. */
export const WINDOW = 128 * 1024
/**
 * Number of characters after which consumption is acknowledged. An acknowledgement for each message would be too many.
 */
const SAY_EVERY = 32 * 1024
/** Output kept for a hidden screen, as much as the server keeps. */
const HELD_MOST = 256 * 1024

/**
 * Output of a shell on its way to a screen. The server sends at most a window; acknowledged output makes room. So fast
 * output slows the process and not the page.
 *
 * In a hidden page, timers are throttled, and a build must not wait for them. Then all output is acknowledged at once,
 * and the newest is kept for the next display.
 */
export class ShellIntake {
  readonly #say: (characters: number) => void
  #screen: Screen | undefined
  #isSeen = true
  #unsaid = 0
  #held: string[] = []
  #heldSize = 0

  constructor(say: (characters: number) => void) {
    this.#say = say
  }

  /** Sets the screen. */
  attach(screen: Screen | undefined): void {
    this.#screen = screen
    this.#flush()
  }

  setSeen(isSeen: boolean): void {
    this.#isSeen = isSeen
    this.#flush()
  }

  /** Starts again: a reconnect replays the output. */
  restart(): void {
    this.#held = []
    this.#heldSize = 0
    this.#unsaid = 0
    this.#screen?.reset()
  }

  put(data: string): void {
    if (this.#isSeen && this.#screen !== undefined) {
      this.#screen.write(data, () => this.#taken(data.length))
      return
    }
    this.#hold(data)
    this.#taken(data.length)
  }

  #hold(data: string): void {
    this.#held.push(data)
    this.#heldSize += data.length
    while (this.#heldSize > HELD_MOST && this.#held.length > 1) {
      this.#heldSize -= this.#held.shift()?.length ?? 0
    }
  }

  #flush(): void {
    if (!this.#isSeen || this.#screen === undefined) return
    for (const data of this.#held) this.#screen.write(data, () => undefined)
    this.#held = []
    this.#heldSize = 0
  }

  #taken(characters: number): void {
    this.#unsaid += characters
    if (this.#unsaid < SAY_EVERY) return
    this.#say(this.#unsaid)
    this.#unsaid = 0
  }
}
