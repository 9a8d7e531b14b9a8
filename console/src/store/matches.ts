/** What is looked for in a list that grows. */
export interface Sought<T> {
  readonly test: (item: T) => boolean
  /** Whether an item may yet be replaced by another: only those are looked at again. The last may have its own rule. */
  readonly isOpen?: (item: T, isLast: boolean) => boolean
}

/**
 * Where the items are that match, in order. Nothing is looked at twice that cannot change: what it costs to bring it up
 * to date depends on what is new, not on how much there is. A list that was made anew is another array.
 */
export class Matches<T> {
  readonly #sought: Sought<T>
  #items: readonly T[] = []
  #looked = 0
  #found: number[] = []
  #open: number[] = []

  constructor(sought: Sought<T>) {
    this.#sought = sought
  }

  /** The places of those that match. The same array as long as nothing has changed. */
  get found(): readonly number[] {
    return this.#found
  }

  update(items: readonly T[]): this {
    if (items !== this.#items || items.length < this.#looked) {
      this.#items = items
      this.#looked = 0
      this.#found = []
      this.#open = []
    }
    const open = this.#open.filter((index) => this.#look(index))
    const added: number[] = []
    for (; this.#looked < items.length; this.#looked++) {
      const item = items[this.#looked] as T
      if (this.#sought.test(item)) added.push(this.#looked)
      if (this.#sought.isOpen?.(item, this.#looked === items.length - 1)) open.push(this.#looked)
    }
    if (added.length > 0) this.#found = this.#found.concat(added)
    this.#open = open
    return this
  }

  has(index: number): boolean {
    return this.#found[after(this.#found, index) - 1] === index
  }

  /** How many matches there are at this place and before it. */
  countUntil(index: number): number {
    return after(this.#found, index)
  }

  /** The nearest match after this place, or before it; from the other end if there is none. */
  next(index: number, step: 1 | -1): number | undefined {
    const found = this.#found
    if (step > 0) return found[after(found, index)] ?? found[0]
    return found[after(found, index - 1) - 1] ?? found.at(-1)
  }

  /** Looks at one again. Returns whether it is still open. */
  #look(index: number): boolean {
    const item = this.#items[index] as T
    const place = after(this.#found, index)
    const isFound = this.#found[place - 1] === index
    const isMatch = this.#sought.test(item)
    if (isMatch && !isFound) this.#found = this.#found.toSpliced(place, 0, index)
    else if (!isMatch && isFound) this.#found = this.#found.toSpliced(place - 1, 1)
    return this.#sought.isOpen?.(item, index === this.#items.length - 1) ?? false
  }
}

/** In an ascending list, how many are not greater than this. */
export function after(sorted: ArrayLike<number>, value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as number) <= value) low = middle + 1
    else high = middle
  }
  return low
}
