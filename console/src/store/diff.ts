/** Line of a diff. An unchanged line has both numbers, an added or removed line has one. */
export interface DiffLine {
  readonly kind: 'same' | 'plus' | 'minus'
  readonly text: string
  readonly before: number | undefined
  readonly after: number | undefined
  /** The part that differs from the replaced line. */
  readonly differs: readonly [number, number] | undefined
}

export interface Hunk {
  readonly header: string
  readonly lines: readonly DiffLine[]
}

/** Two lines side by side. A side is undefined if the other has more lines. */
export interface Pair {
  readonly left: DiffLine | undefined
  readonly right: DiffLine | undefined
}

const HEADER = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** Parses the output of `diff -u`. Skips unknown lines. */
export function parseDiff(text: string): readonly Hunk[] {
  const hunks: { header: string; lines: DiffLine[] }[] = []
  let before = 0
  let after = 0
  for (const line of text.split('\n')) {
    const header = HEADER.exec(line)
    const lines = hunks.at(-1)?.lines
    if (header !== null) {
      before = Number(header[1])
      after = Number(header[2])
      hunks.push({ header: header[0], lines: [] })
    } else if (lines !== undefined && line.startsWith('+')) {
      lines.push({ kind: 'plus', text: line.slice(1), before: undefined, after: after++, differs: undefined })
    } else if (lines !== undefined && line.startsWith('-')) {
      lines.push({ kind: 'minus', text: line.slice(1), before: before++, after: undefined, differs: undefined })
    } else if (lines !== undefined && line.startsWith(' ')) {
      lines.push({ kind: 'same', text: line.slice(1), before: before++, after: after++, differs: undefined })
    }
  }
  return hunks.map(({ header, lines }) => ({ header, lines: refine(lines) }))
}

export function countLines(hunks: readonly Hunk[]): { readonly plus: number; readonly minus: number } {
  const of = (kind: DiffLine['kind']) =>
    hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.kind === kind).length, 0)
  return { plus: of('plus'), minus: of('minus') }
}

/** Lines of a hunk in two columns: removed lines beside added ones. */
export function pairs(lines: readonly DiffLine[]): readonly Pair[] {
  const pairs: Pair[] = []
  for (const { minus, plus, same } of runs(lines)) {
    for (let i = 0; i < Math.max(minus.length, plus.length); i++) pairs.push({ left: minus[i], right: plus[i] })
    if (same !== undefined) pairs.push({ left: same, right: same })
  }
  return pairs
}

interface Run {
  readonly minus: readonly DiffLine[]
  readonly plus: readonly DiffLine[]
  readonly same: DiffLine | undefined
}

/** Splits after every unchanged line, so that each group has the removed and added lines before it. */
function runs(lines: readonly DiffLine[]): readonly Run[] {
  const runs: Run[] = []
  let minus: DiffLine[] = []
  let plus: DiffLine[] = []
  const cut = (same?: DiffLine) => {
    runs.push({ minus, plus, same })
    minus = []
    plus = []
  }
  for (const line of lines) {
    if (line.kind === 'same') cut(line)
    else if (line.kind === 'plus') plus.push(line)
    else {
      if (plus.length > 0) cut()
      minus.push(line)
    }
  }
  cut()
  return runs
}

/** Marks the differing parts of replaced lines, if as many were added as removed. */
function refine(lines: readonly DiffLine[]): readonly DiffLine[] {
  const refined = new Map<DiffLine, DiffLine>()
  for (const { minus, plus } of runs(lines)) {
    if (minus.length !== plus.length) continue
    minus.forEach((left, index) => {
      const right = plus[index]
      if (right === undefined) return
      const [start, ends] = differing(left.text, right.text)
      if (start === 0 && ends === 0) return
      refined.set(left, { ...left, differs: [start, left.text.length - ends] })
      refined.set(right, { ...right, differs: [start, right.text.length - ends] })
    })
  }
  return lines.map((line) => refined.get(line) ?? line)
}

/** Lengths of the common prefix and suffix of two lines. */
function differing(left: string, right: string): readonly [number, number] {
  const shorter = Math.min(left.length, right.length)
  let start = 0
  while (start < shorter && left[start] === right[start]) start++
  let end = 0
  while (end < shorter - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end++
  return [start, end]
}
