/** Runs a task once for many requests: in the next frame, or after a delay in a hidden tab. */
export type Soon = (task: () => void) => void

const HIDDEN_MS = 250

export const nextFrame: Soon = (task) => {
  if (document.visibilityState === 'hidden') setTimeout(task, HIDDEN_MS)
  else requestAnimationFrame(task)
}

/** Notifies listeners of changes, at most once per frame, so that a thousand events cost one render. */
export class Notifier {
  readonly #soon: Soon
  readonly #listeners = new Set<() => void>()
  #version = 0
  #waiting = false

  constructor(soon: Soon = nextFrame) {
    this.#soon = soon
  }

  /** Version number, which `useSyncExternalStore` compares. */
  readonly version = (): number => this.#version

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  changed(): void {
    if (this.#waiting) return
    this.#waiting = true
    this.#soon(() => {
      this.#waiting = false
      this.#version++
      for (const listener of this.#listeners) listener()
    })
  }
}
