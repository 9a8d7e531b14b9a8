import { Notifier, type Soon } from './notifier'

/** Unsaved edit: the text, and the version of the file on which it is based. */
export interface Draft {
  readonly text: string
  readonly tag: string
}

/** Unsaved edits of this page. Another tab, file or sandbox keeps them. Closing the page asks for confirmation. */
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

  /** Removes the edits below a deleted file or directory. */
  remove(sandboxId: string, path: string): void {
    this.#forget(this.#at(sandboxId, path))
  }

  /** Moves the edits below a renamed file or directory. */
  move(sandboxId: string, path: string, to: string): void {
    const from = keyOf(sandboxId, path)
    const moved = this.#at(sandboxId, path)
    for (const key of moved) {
      const draft = this.#drafts.get(key)
      if (draft !== undefined) this.#drafts.set(keyOf(sandboxId, to) + key.slice(from.length), draft)
    }
    this.#forget(moved)
  }

  /** Deletes all edits at sign-out. */
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
