/** A part of a list, and where it begins and ends on the screen. */
export interface Part {
  readonly from: number
  readonly until: number
}

/** Which rows of one height are in sight, with some more on both sides. Arithmetic alone: it costs the same for any list. */
export function partInSight(scrollTop: number, height: number, rowPx: number, count: number, more: number): Part {
  const from = Math.max(0, Math.min(Math.floor(scrollTop / rowPx) - more, count))
  const until = Math.min(count, Math.ceil((scrollTop + height) / rowPx) + more)
  return { from, until: Math.max(from, until) }
}
