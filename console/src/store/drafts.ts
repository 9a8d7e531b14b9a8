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
    if (!this.#drafts.delete(keyOf(sandboxId, path))) return
    if (this.#drafts.size === 0) window.removeEventListener('beforeunload', askFirst)
    this.notifier.changed()
  }

  /** A file got another name, and its edit goes with it. */
  move(sandboxId: string, path: string, to: string): void {
    const draft = this.get(sandboxId, path)
    if (draft === undefined) return
    this.put(sandboxId, to, draft)
    this.drop(sandboxId, path)
  }
}

function askFirst(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

function keyOf(sandboxId: string, path: string): string {
  return `${sandboxId}/${path}`
}

export const drafts = new Drafts()
