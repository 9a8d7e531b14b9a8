/** Runs a task soon, once however often it is asked: with the next frame, or, in a tab that draws none, after a while. */
export type Soon = (task: () => void) => void

const HIDDEN_MS = 250

export const nextFrame: Soon = (task) => {
  if (document.visibilityState === 'hidden') setTimeout(task, HIDDEN_MS)
  else requestAnimationFrame(task)
}

/** Tells listeners of changes, at most once a frame: a thousand events cost one drawing. */
export class Notifier {
  readonly #soon: Soon
  readonly #listeners = new Set<() => void>()
  #version = 0
  #waiting = false

  constructor(soon: Soon = nextFrame) {
    this.#soon = soon
  }

  /** A number that is another after each notification: what `useSyncExternalStore` compares. */
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
