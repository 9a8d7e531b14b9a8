/** Where output goes: a terminal, which takes it in its own time and says when it has. */
export interface Screen {
  write(data: string, taken: () => void): void
  /** Begins anew, because everything comes again. */
  reset(): void
}

/** So much may be under way between the server and the screen. */
export const WINDOW = 128 * 1024
/** A word to the server for every so many characters: one for each message would be a storm. */
const SAY_EVERY = 32 * 1024
/** What is kept for a screen that nobody sees; the server remembers as much. */
const HELD_MOST = 256 * 1024

/**
 * What a shell shows, on its way to a screen. The server sends no more than a window; what the screen has taken is told,
 * and makes room. So a flood makes the process wait and not the page.
 *
 * A page that is out of sight is different: its timers hardly run, and a build must not wait for that. Then all is taken
 * at once, and the newest of it is kept for when somebody looks.
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

  /** Shows on this screen from now on. */
  attach(screen: Screen | undefined): void {
    this.#screen = screen
    this.#flush()
  }

  setSeen(isSeen: boolean): void {
    this.#isSeen = isSeen
    this.#flush()
  }

  /** Everything begins anew: a connection that was made again replays what was shown. */
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
