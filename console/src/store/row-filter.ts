import { isFloodHidden } from './floods'
import { Matches } from './matches'
import { isError, isUnfinished, KINDS, type Kind, kindOf, wordsOf } from './row-kinds'
import type { Row } from './rows'

export interface RowChoice {
  /** Empty selects all. */
  readonly kinds: readonly Kind[]
  readonly onlyErrors: boolean
  /** Search text. Other rows stay visible. */
  readonly word: string
  /** Which files are hidden; undefined hides none. */
  readonly hides?: (path: string) => boolean
}

/**
 * Filter of the rows of a timeline, and matches of the search. Counts include all rows, so that the user sees every
 * choice.
 */
export class RowFilter {
  readonly #choice: RowChoice
  readonly #counts = new Map<Kind, number>()
  readonly #errors = new Matches<Row>({ test: isError, isOpen: isUnfinished })
  readonly #shown: Matches<Row>
  readonly #found: Matches<Row>
  #rows: readonly Row[] = []
  #counted = 0

  constructor(choice: RowChoice) {
    this.#choice = choice
    const isShown = (row: Row) =>
      !isHidden(row, choice.hides) &&
      (choice.kinds.length === 0 || choice.kinds.includes(kindOf(row))) &&
      (!choice.onlyErrors || isError(row))
    const word = choice.word.toLowerCase()
    this.#shown = new Matches({ test: isShown, isOpen: isUnfinished })
    this.#found = new Matches({
      test: (row) => isShown(row) && wordsOf(row).toLowerCase().includes(word),
      isOpen: isUnfinished,
    })
  }

  /** Whether the filter hides rows. */
  get isNarrow(): boolean {
    return this.#choice.kinds.length > 0 || this.#choice.onlyErrors
  }

  /** The shown rows; undefined for all. */
  get shown(): readonly number[] | undefined {
    return this.isNarrow || this.#choice.hides !== undefined ? this.#shown.found : undefined
  }

  /** Matches; undefined without a search. */
  get found(): Matches<Row> | undefined {
    return this.#choice.word === '' ? undefined : this.#found
  }

  get errors(): number {
    return this.#errors.found.length
  }

  count(kind: Kind): number {
    return this.#counts.get(kind) ?? 0
  }

  update(rows: readonly Row[]): this {
    if (rows !== this.#rows || rows.length < this.#counted) {
      this.#rows = rows
      this.#counted = 0
      for (const kind of KINDS) this.#counts.set(kind, 0)
    }
    for (; this.#counted < rows.length; this.#counted++) {
      const kind = kindOf(rows[this.#counted] as Row)
      this.#counts.set(kind, this.count(kind) + 1)
    }
    this.#errors.update(rows)
    if (this.isNarrow || this.#choice.hides !== undefined) this.#shown.update(rows)
    if (this.#choice.word !== '') this.#found.update(rows)
    return this
  }
}

/** Whether every file of a row is hidden. */
function isHidden(row: Row, hides: RowChoice['hides']): boolean {
  if (row.kind !== 'files' || hides === undefined) return false
  return row.changes.every((change) => hides(change.path)) && row.floods.every((flood) => isFloodHidden(flood, hides))
}
