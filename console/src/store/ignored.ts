/** Version control and caches, which no person changes. */
const ALWAYS = `.git/
.hg/
.svn/
node_modules/
__pycache__/
*.pyc
.venv/
.pytest_cache/
.mypy_cache/
.ruff_cache/
.tox/
.cache/
.npm/
.gradle/
.DS_Store
`

/** Agents write these files: no more of one is read. */
const MOST_RULES = 1_000
const LONGEST_RULE = 1_000

type Segment = readonly string[]

const ANY: Segment = ['**']

interface Rule {
  /** Names of the pattern as their characters, sets and stars; `ANY` stands for any number of names. */
  readonly segments: readonly Segment[]
  readonly isNegated: boolean
  readonly isForDirectories: boolean
}

/** Which files are hidden: by their names, or by the `.gitignore` files of a workspace. Immutable. */
export class IgnoreRules {
  readonly #rules: ReadonlyMap<string, readonly Rule[]>
  readonly #directories = new Map<string, boolean>()

  /** The texts of the `.gitignore` files by their directories; the root is the empty string. */
  constructor(files: ReadonlyMap<string, string> = new Map()) {
    const rules = new Map([...files].map(([directory, text]) => [directory, parse(text)]))
    this.#rules = rules.set('', [...parse(ALWAYS), ...(rules.get('') ?? [])])
  }

  /** Whether a file is hidden. */
  hides(path: string): boolean {
    const slash = path.lastIndexOf('/')
    return (slash >= 0 && this.#hidesDirectory(path.slice(0, slash))) || this.#decides(path, false)
  }

  #hidesDirectory(path: string): boolean {
    const known = this.#directories.get(path)
    if (known !== undefined) return known
    const slash = path.lastIndexOf('/')
    const isHidden = (slash >= 0 && this.#hidesDirectory(path.slice(0, slash))) || this.#decides(path, true)
    this.#directories.set(path, isHidden)
    return isHidden
  }

  /** The last rule that matches decides, from the root down. */
  #decides(path: string, isDirectory: boolean): boolean {
    const names = path.split('/')
    let isHidden = false
    for (let depth = 0; depth < names.length; depth++) {
      const rules = this.#rules.get(names.slice(0, depth).join('/'))
      if (rules === undefined) continue
      const below = names.slice(depth)
      for (const rule of rules) {
        if (rule.isNegated !== isHidden || (rule.isForDirectories && !isDirectory)) continue
        if (matches(rule.segments, below)) isHidden = !rule.isNegated
      }
    }
    return isHidden
  }
}

function parse(text: string): Rule[] {
  return text
    .split('\n', MOST_RULES)
    .map((line) => line.replace(/\r$/, '').replace(/(?<!\\)[ \t]+$/, ''))
    .filter((line) => line !== '' && !line.startsWith('#') && line.length <= LONGEST_RULE)
    .flatMap(ruleOf)
}

function ruleOf(line: string): Rule[] {
  const isNegated = line.startsWith('!')
  const pattern = isNegated ? line.slice(1) : line
  const isForDirectories = pattern.endsWith('/')
  const segments = pattern.split('/').flatMap((segment) => (segment === '' ? [] : [segmentOf(segment)]))
  if (segments.length === 0) return []
  const isAnchored = pattern.slice(0, -1).includes('/')
  return [{ segments: isAnchored ? segments : [ANY, ...segments], isNegated, isForDirectories }]
}

function segmentOf(text: string): Segment {
  return text === '**' ? ANY : (text.match(/\\.|\[!?\]?[^\]]*\]|./gsu) ?? [])
}

/** Whether the names match the segments. Greedy with one way back, so that no pattern is slow. */
function matches(segments: readonly Segment[], names: readonly string[]): boolean {
  return glob(segments.length, names.length, {
    isStar: (at) => segments[at] === ANY,
    fits: (at, of) => matchesName(segments[at] ?? [], names[of] ?? ''),
  })
}

function matchesName(segment: Segment, name: string): boolean {
  return glob(segment.length, name.length, {
    isStar: (at) => segment[at] === '*',
    fits: (at, of) => matchesCharacter(segment[at] ?? '', name[of] ?? ''),
  })
}

function matchesCharacter(token: string, character: string): boolean {
  if (token === '?') return true
  if (token.startsWith('\\')) return token[1] === character
  if (!token.startsWith('[') || token.length < 3) return token === character
  const isInverted = token[1] === '!' || token[1] === '^'
  const set = token.slice(isInverted ? 2 : 1, -1)
  return isIn(set, character) !== isInverted
}

function isIn(set: string, character: string): boolean {
  for (let at = 0; at < set.length; at++) {
    const last = set[at + 1] === '-' ? set[at + 2] : undefined
    const from = set[at] ?? ''
    if (last === undefined ? from === character : from <= character && character <= last) return true
    if (last !== undefined) at += 2
  }
  return false
}

interface Parts {
  readonly isStar: (pattern: number) => boolean
  readonly fits: (pattern: number, item: number) => boolean
}

/** Matches a pattern with stars against items. After a mismatch only the last star takes more. */
function glob(patterns: number, items: number, { isStar, fits }: Parts): boolean {
  let pattern = 0
  let star = -1
  let taken = 0
  for (let item = 0; item < items; ) {
    if (pattern < patterns && isStar(pattern)) {
      star = pattern++
      taken = item
    } else if (pattern < patterns && fits(pattern, item)) {
      pattern++
      item++
    } else if (star >= 0) {
      pattern = star + 1
      item = ++taken
    } else {
      return false
    }
  }
  while (pattern < patterns && isStar(pattern)) pattern++
  return pattern === patterns
}
