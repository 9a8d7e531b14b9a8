/**
 * Tells an echo from news. The address of the page is changed from here and by others, and the page hears of both some
 * time after: what was named here has been left behind by then, and must not be gone back to.
 */
export class Echoes<T> {
  readonly #named = new Set<T>()
  #last: T | undefined

  /** This is what is named now. */
  name(value: T): void {
    this.#named.add(value)
    this.#last = value
  }

  /** Whether what is heard was named here. After the last of those, or something else, it would be news. */
  hears(value: T): boolean {
    const isEcho = this.#named.has(value)
    if (!isEcho || value === this.#last) this.#named.clear()
    return isEcho
  }
}
