/** Part of a list, and its pixel offsets. */
export interface Part {
  readonly from: number
  readonly until: number
}

/** Visible rows of equal height, with a margin on both sides. The cost does not depend on the length of the list. */
export function partInSight(scrollTop: number, height: number, rowPx: number, count: number, more: number): Part {
  const from = Math.max(0, Math.min(Math.floor(scrollTop / rowPx) - more, count))
  const until = Math.min(count, Math.ceil((scrollTop + height) / rowPx) + more)
  return { from, until: Math.max(from, until) }
}
