/** Unsent texts by place. A change of tab loses nothing. */
export class Words {
  readonly #words = new Map<string, string>()

  at(place: string): string {
    return this.#words.get(place) ?? ''
  }

  put(place: string, words: string): void {
    if (words === '') this.#words.delete(place)
    else this.#words.set(place, words)
  }

  clear(): void {
    this.#words.clear()
  }
}

export const unsent = new Words()
