/**
 * Separates own changes of the page address from others. The page gets both later: by then an own change may be
 * outdated and must not be applied again.
 */
export class Echoes<T> {
  readonly #named = new Set<T>()
  #last: T | undefined

  /** Records the value that was set. */
  name(value: T): void {
    this.#named.add(value)
    this.#last = value
  }

  /** Whether the received value was set here. After the last own value, or another value, it is a new one. */
  hears(value: T): boolean {
    const isEcho = this.#named.has(value)
    if (!isEcho || value === this.#last) this.#named.clear()
    return isEcho
  }
}
