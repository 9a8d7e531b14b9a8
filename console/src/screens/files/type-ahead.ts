const PAUSE_MS = 700

/** Typed letters select the next name that begins with them. */
export class TypeAhead {
  #typed = ''
  #at = Number.NEGATIVE_INFINITY

  find(letter: string, names: readonly string[], from: number, now = performance.now()): number | undefined {
    const isNew = now - this.#at > PAUSE_MS
    this.#typed = isNew ? letter : this.#typed + letter
    this.#at = now
    // The same letter repeated selects the next name each time.
    const isRepeated = [...this.#typed].every((each) => each === letter)
    const wanted = (isRepeated ? letter : this.#typed).toLowerCase()
    const start = isRepeated ? from + 1 : from
    for (let step = 0; step < names.length; step++) {
      const index = (start + step) % names.length
      if (names[index]?.toLowerCase().startsWith(wanted)) return index
    }
    return undefined
  }
}
