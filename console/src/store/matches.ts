/** Search in a growing list. */
export interface Sought<T> {
  readonly test: (item: T) => boolean
  /** Whether an item may still be replaced. Only such items are tested again. The last item may have its own rule. */
  readonly isOpen?: (item: T, isLast: boolean) => boolean
}

/**
 * Sorted indexes of the matching items. Items that cannot change are tested once, so an update costs only the new
 * items. A rebuilt list is another array.
 */
export class Matches<T> {
  readonly #sought: Sought<T>
  #items: readonly T[] = []
  #tested = 0
  #found: number[] = []
  #open: number[] = []

  constructor(sought: Sought<T>) {
    this.#sought = sought
  }

  /** Indexes of the matches. The same array until something changes. */
  get found(): readonly number[] {
    return this.#found
  }

  update(items: readonly T[]): this {
    if (items !== this.#items || items.length < this.#tested) {
      this.#items = items
      this.#tested = 0
      this.#found = []
      this.#open = []
    }
    const open = this.#open.filter((index) => this.#testAgain(index))
    const added: number[] = []
    for (; this.#tested < items.length; this.#tested++) {
      const item = items[this.#tested] as T
      if (this.#sought.test(item)) added.push(this.#tested)
      if (this.#sought.isOpen?.(item, this.#tested === items.length - 1)) open.push(this.#tested)
    }
    if (added.length > 0) this.#found = this.#found.concat(added)
    this.#open = open
    return this
  }

  has(index: number): boolean {
    return this.#found[after(this.#found, index) - 1] === index
  }

  /** Number of matches up to this index. */
  countUntil(index: number): number {
    return after(this.#found, index)
  }

  /** The nearest match after or before this index; wraps around. */
  next(index: number, step: 1 | -1): number | undefined {
    const found = this.#found
    if (step > 0) return found[after(found, index)] ?? found[0]
    return found[after(found, index - 1) - 1] ?? found.at(-1)
  }

  /** Tests an item again. Returns whether it can still change. */
  #testAgain(index: number): boolean {
    const item = this.#items[index] as T
    const place = after(this.#found, index)
    const isFound = this.#found[place - 1] === index
    const isMatch = this.#sought.test(item)
    if (isMatch && !isFound) this.#found = this.#found.toSpliced(place, 0, index)
    else if (!isMatch && isFound) this.#found = this.#found.toSpliced(place - 1, 1)
    return this.#sought.isOpen?.(item, index === this.#items.length - 1) ?? false
  }
}

/** Number of elements of an ascending list that are not greater. */
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
