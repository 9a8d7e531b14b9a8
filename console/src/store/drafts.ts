import { Notifier, type Soon } from './notifier'

/** An edit that is not saved: the text, and the version of the file that it began with. */
export interface Draft {
  readonly text: string
  readonly tag: string
}

/**
 * What was typed and not saved, for as long as the page lives: another tab, another file or another sandbox loses
 * nothing. Whoever closes the page is asked first.
 */
export class Drafts {
  readonly notifier: Notifier
  readonly #drafts = new Map<string, Draft>()

  constructor(soon?: Soon) {
    this.notifier = new Notifier(soon)
  }

  get(sandboxId: string, path: string): Draft | undefined {
    return this.#drafts.get(keyOf(sandboxId, path))
  }

  put(sandboxId: string, path: string, draft: Draft): void {
    if (this.#drafts.size === 0) window.addEventListener('beforeunload', askFirst)
    this.#drafts.set(keyOf(sandboxId, path), draft)
    this.notifier.changed()
  }

  drop(sandboxId: string, path: string): void {
    this.#forget([keyOf(sandboxId, path)])
  }

  /** A file or a directory is gone, and the edits of what was in it. */
  remove(sandboxId: string, path: string): void {
    this.#forget(this.#at(sandboxId, path))
  }

  /** A file or a directory got another name, and the edits go with it. */
  move(sandboxId: string, path: string, to: string): void {
    const from = keyOf(sandboxId, path)
    const moved = this.#at(sandboxId, path)
    for (const key of moved) {
      const draft = this.#drafts.get(key)
      if (draft !== undefined) this.#drafts.set(keyOf(sandboxId, to) + key.slice(from.length), draft)
    }
    this.#forget(moved)
  }

  /** Whoever signs out leaves nothing behind. */
  clear(): void {
    this.#forget([...this.#drafts.keys()])
  }

  #at(sandboxId: string, path: string): readonly string[] {
    const from = keyOf(sandboxId, path)
    return [...this.#drafts.keys()].filter((key) => key === from || key.startsWith(`${from}/`))
  }

  #forget(keys: readonly string[]): void {
    const before = this.#drafts.size
    for (const key of keys) this.#drafts.delete(key)
    if (this.#drafts.size === before) return
    if (this.#drafts.size === 0) window.removeEventListener('beforeunload', askFirst)
    this.notifier.changed()
  }
}

function askFirst(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

function keyOf(sandboxId: string, path: string): string {
  return `${sandboxId}/${path}`
}

export const drafts = new Drafts()
