import { api, body } from '~/api/client'
import type { components } from '~/api/schema'
import type { Socket } from '~/live/shell-link'
import type { Participant } from '~/live/shell-messages'
import { Notifier, type Soon } from './notifier'
import { ShellSession, type ShellSessionParts } from './shell-session'
import { TypedShells } from './typed-shells'

export type Shell = components['schemas']['Shell']

type SessionParts = Pick<ShellSessionParts, 'id' | 'onEnd' | 'onSignedOut'>

/** What the server is asked about the shells of one sandbox. */
export interface ShellRegistry {
  list(): Promise<readonly Shell[]>
  open(): Promise<Shell>
  end(id: string): Promise<void>
  session(parts: SessionParts): ShellSession
}

/**
 * The shells of a sandbox, as tabs: those that run, whoever opened them, and those that ended while somebody looked. A
 * shell is connected to when it is first shown, and stays so until it is put away.
 */
export class Shells {
  readonly notifier: Notifier
  readonly #registry: ShellRegistry
  readonly #sessions = new Map<string, ShellSession>()
  readonly #typed = new TypedShells()
  /** In the order in which they were first heard of. */
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

  /** Whether the server has said what there is. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** Why it did not say, if it did not. */
  get failure(): unknown {
    return this.#failure
  }

  get tabs(): readonly Shell[] {
    return this.#all.filter((shell) => shell.running || this.#sessions.has(shell.session_id))
  }

  find(id: string): Shell | undefined {
    return this.#all.find((shell) => shell.session_id === id)
  }

  /** The connection to a shell; made when it is first asked for. */
  session(id: string): ShellSession {
    const known = this.#sessions.get(id)
    if (known !== undefined) return known
    const made = this.#registry.session({
      id,
      onEnd: (code) => this.ended(id, code),
      // Asked in the ordinary way it says so in the ordinary way, and the page asks for the key.
      onSignedOut: () => void this.refresh(),
    })
    // Whoever comes to type takes the size of the terminal with them; to others' shells one comes to watch.
    if (!this.#typed.has(id)) made.watchOnly(true)
    made.setPaused(this.#isPaused)
    made.notifier.subscribe(() => this.notifier.changed())
    this.#sessions.set(id, made)
    this.notifier.changed()
    return made
  }

  /** Who is in a shell: as its own connection says, or else as the server last said. */
  peopleOf(shell: Shell): readonly Participant[] {
    const session = this.#sessions.get(shell.session_id)
    return session !== undefined && this.isIn(shell.session_id) ? session.people : shell.people
  }

  /** Whether this person is in it now. */
  isIn(id: string): boolean {
    return this.#sessions.get(id)?.state.kind === 'live'
  }

  /** Those that were shown so far. */
  get shown(): readonly ShellSession[] {
    return [...this.#sessions.values()]
  }

  /** What its tab is called. */
  nameOf(id: string): string {
    return this.#typed.nameOf(id) ?? `Shell ${this.#numbers.get(id) ?? ''}`.trim()
  }

  rename(id: string, name: string): void {
    this.#typed.rename(id, name)
    this.notifier.changed()
  }

  /** The newest that runs and in which this person types, if there is one: where they were before a reload. */
  get own(): string | undefined {
    return this.#all.findLast((shell) => shell.running && this.#typed.has(shell.session_id))?.session_id
  }

  /** Types in a shell, or only watches it; after a reload too. */
  watchOnly(id: string, isOn: boolean): void {
    if (isOn) this.#typed.remove(id)
    else this.#typed.add(id)
    this.session(id).watchOnly(isOn)
  }

  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused
    for (const session of this.#sessions.values()) session.setPaused(isPaused)
  }

  /** A shell has ended. The server is not asked: its sandbox may have ended too, and with it the list. */
  ended(id: string, code: number | undefined): void {
    this.#all = this.#all.map((shell) =>
      shell.session_id === id && shell.running ? { ...shell, running: false, exit_code: code } : shell,
    )
    this.notifier.changed()
  }

  /** Asks what there is. Asked again meanwhile, it asks once more afterwards. */
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

  /** Starts a shell; its name. Throws what the server refuses. */
  async open(): Promise<string> {
    const shell = await this.#registry.open()
    this.#typed.add(shell.session_id)
    this.#know([...this.#all.filter((other) => other.session_id !== shell.session_id), shell])
    this.notifier.changed()
    return shell.session_id
  }

  /** Kills what runs there. Throws what the server refuses. */
  async end(id: string): Promise<void> {
    await this.#registry.end(id)
  }

  /** Puts away what has ended. */
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

/** The shells of a sandbox, asked of the server. */
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
