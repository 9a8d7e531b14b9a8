import { api, body } from '~/api/client'
import type { components } from '~/api/schema'
import type { Socket } from '~/live/shell-link'
import type { Participant } from '~/live/shell-messages'
import { Notifier, type Soon } from './notifier'
import { ShellSession, type ShellSessionParts } from './shell-session'
import { TypedShells } from './typed-shells'

export type Shell = components['schemas']['Shell']

type SessionParts = Pick<ShellSessionParts, 'id' | 'onEnd' | 'onSignedOut'>

/** Requests about the shells of one sandbox. */
export interface ShellRegistry {
  list(): Promise<readonly Shell[]>
  open(): Promise<Shell>
  end(id: string): Promise<void>
  session(parts: SessionParts): ShellSession
}

/**
 * Shells of a sandbox as tabs: running ones of all users, and those that ended while the page was open. A shell is
 * connected when it is first shown, until its tab is closed.
 */
export class Shells {
  readonly notifier: Notifier
  readonly #registry: ShellRegistry
  readonly #sessions = new Map<string, ShellSession>()
  readonly #typed = new TypedShells()
  /** In the order of their first appearance. */
  readonly #numbers = new Map<string, number>()
  #all: readonly Shell[] = []
  #isLoaded = false
  #failure: unknown
  #refreshing: Promise<void> | undefined
  #isStale = false
  #isPaused = false
  #isClosed = false

  constructor(registry: ShellRegistry, soon?: Soon) {
    this.#registry = registry
    this.notifier = new Notifier(soon)
  }

  /** Whether the list is loaded. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** Why the list is not loaded. */
  get failure(): unknown {
    return this.#failure
  }

  get tabs(): readonly Shell[] {
    return this.#all.filter((shell) => shell.running || this.#sessions.has(shell.session_id))
  }

  find(id: string): Shell | undefined {
    return this.#all.find((shell) => shell.session_id === id)
  }

  /** Connection to a shell, created on first use. */
  session(id: string): ShellSession {
    const known = this.#sessions.get(id)
    if (known !== undefined) return known
    const made = this.#registry.session({
      id,
      onEnd: (code) => this.ended(id, code),
      // An ordinary request reports an expired session in the ordinary way, and the page shows the sign-in.
      onSignedOut: () => void this.refresh(),
    })
    // A typist sets the size of the terminal; shells of other users open in watch mode.
    if (!this.#typed.has(id)) made.watchOnly(true)
    made.setPaused(this.#isPaused)
    made.notifier.subscribe(() => this.notifier.changed())
    this.#sessions.set(id, made)
    this.notifier.changed()
    return made
  }

  /** Participants of a shell: from its connection, or from the last list. */
  peopleOf(shell: Shell): readonly Participant[] {
    const session = this.#sessions.get(shell.session_id)
    return session !== undefined && this.isIn(shell.session_id) ? session.people : shell.people
  }

  /** Whether the user participates. */
  isIn(id: string): boolean {
    return this.#sessions.get(id)?.state.kind === 'live'
  }

  /** The shells shown so far. */
  get shown(): readonly ShellSession[] {
    return [...this.#sessions.values()]
  }

  /** Title of its tab. */
  nameOf(id: string): string {
    return this.#typed.nameOf(id) ?? `Shell ${this.#numbers.get(id) ?? ''}`.trim()
  }

  rename(id: string, name: string): void {
    this.#typed.rename(id, name)
    this.notifier.changed()
  }

  /** The newest running shell in which the user types, if any; restored after a reload. */
  get own(): string | undefined {
    return this.#all.findLast((shell) => shell.running && this.#typed.has(shell.session_id))?.session_id
  }

  /** Sets whether the user types or watches; kept over a reload. */
  watchOnly(id: string, isOn: boolean): void {
    if (isOn) this.#typed.remove(id)
    else this.#typed.add(id)
    this.session(id).watchOnly(isOn)
  }

  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused
    for (const session of this.#sessions.values()) session.setPaused(isPaused)
  }

  /** Marks a shell as ended. Sends no request, because the sandbox may have ended as well. */
  ended(id: string, code: number | undefined): void {
    this.#all = this.#all.map((shell) =>
      shell.session_id === id && shell.running ? { ...shell, running: false, exit_code: code } : shell,
    )
    this.notifier.changed()
  }

  /** Loads the list. A call during a load causes another load. */
  refresh(): Promise<void> {
    if (this.#refreshing !== undefined) {
      this.#isStale = true
      return this.#refreshing
    }
    this.#refreshing = this.#load().finally(() => {
      this.#refreshing = undefined
      if (!this.#isStale) return
      this.#isStale = false
      void this.refresh()
    })
    return this.#refreshing
  }

  /** Starts a shell and returns its name. Throws the refusal of the server. */
  async open(): Promise<string> {
    const shell = await this.#registry.open()
    this.#typed.add(shell.session_id)
    this.#know([...this.#all.filter((other) => other.session_id !== shell.session_id), shell])
    this.notifier.changed()
    return shell.session_id
  }

  /** Kills the shell. Throws the refusal of the server. */
  async end(id: string): Promise<void> {
    await this.#registry.end(id)
  }

  /** Closes the tab of an ended shell. */
  dismiss(id: string): void {
    this.#sessions.get(id)?.close()
    this.#sessions.delete(id)
    this.notifier.changed()
  }

  close(): void {
    this.#isClosed = true
    for (const session of this.#sessions.values()) session.close()
    this.#sessions.clear()
  }

  #know(shells: readonly Shell[]): void {
    this.#all = shells
    for (const { session_id: id } of shells) {
      if (!this.#numbers.has(id)) this.#numbers.set(id, this.#numbers.size + 1)
    }
  }

  async #load(): Promise<void> {
    try {
      this.#know(await this.#registry.list())
      this.#failure = undefined
      this.#isLoaded = true
    } catch (error) {
      this.#failure = error
    }
    if (!this.#isClosed) this.notifier.changed()
  }
}

/** The shells of a sandbox, from the server. */
export function registryOf(sandboxId: string): ShellRegistry {
  const path = { sandbox_id: sandboxId }
  return {
    list: async () => (await body(api.GET('/sandboxes/{sandbox_id}/shells', { params: { path } }))).shells,
    open: () => body(api.POST('/sandboxes/{sandbox_id}/shells', { params: { path }, body: {} })),
    end: async (id) => {
      const params = { path: { ...path, session_id: id } }
      await api.DELETE('/sandboxes/{sandbox_id}/shells/{session_id}', { params })
    },
    session: (parts) => new ShellSession({ ...parts, connect: () => new WebSocket(addressOf(sandboxId)) as Socket }),
  }
}

function addressOf(sandboxId: string): string {
  const url = new URL(`/sandboxes/${encodeURIComponent(sandboxId)}/shell`, location.origin)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return url.href
}
