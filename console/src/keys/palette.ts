/** Entry of the command palette. */
export interface Entry {
  readonly id: string
  readonly name: string
  /** Further search text, shown beside the name. */
  readonly hint: string
  readonly keys?: string
  readonly run: () => void
}

const MOST = 50

/**
 * Returns the entries that contain all words. Names that begin with the words come first; otherwise the order is kept.
 */
export function found(entries: readonly Entry[], typed: string): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  return entries
    .map((entry) => ({ entry, rank: rank(entry, words) }))
    .filter(({ rank: one }) => one !== undefined)
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
    .slice(0, MOST)
    .map(({ entry }) => entry)
}

function rank(entry: Entry, words: readonly string[]): number | undefined {
  const name = entry.name.toLowerCase()
  const all = `${name} ${entry.hint.toLowerCase()} ${entry.id.toLowerCase()}`
  if (!words.every((word) => all.includes(word))) return undefined
  const first = words[0]
  if (first === undefined || name.startsWith(first)) return 0
  return words.every((word) => name.includes(word)) ? 1 : 2
}
