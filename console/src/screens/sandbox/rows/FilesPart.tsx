import { Link } from '@tanstack/react-router'
import { FileDiff } from 'lucide-react'
import { type Flood, isFloodHidden } from '~/store/floods'
import type { FileChange, FilesRow } from '~/store/rows'
import { count, plain } from '~/ui/format'
import { useHides } from '../../files/use-ignored'
import { Fold } from './Fold'
import css from './rows.module.css'

const SIGNS = { created: 'A', modified: 'M', deleted: 'D' } as const

export function FilesPart({ row }: { row: FilesRow }) {
  const hides = useHides()
  const changes = hides ? row.changes.filter((change) => !hides(change.path)) : row.changes
  const floods = hides ? row.floods.filter((flood) => !isFloodHidden(flood, hides)) : row.floods
  const counted = sum(floods)
  const hidden = row.changes.length - changes.length + sum(row.floods) - counted
  const total = changes.length + counted
  const paths = [...new Set(changes.map((change) => change.path))]
  const isDirectory = (path: string) => path.endsWith('/')
  // Files are more informative than the directories that were created for them.
  const names = [...paths.filter((path) => !isDirectory(path)), ...paths.filter(isDirectory)].slice(0, 3)
  const rest = paths.length - names.length + counted
  const line = (
    <>
      <FileDiff size={15} aria-hidden className={css.icon} />
      <span className={css.name}>{total === 1 ? '1 change' : `${count(total)} changes`}</span>
      <code className={css.cut}>{plain(names.join(', '))}</code>
      {names.length > 0 && rest > 0 && <span className={css.outcome}>and {count(rest)} more</span>}
    </>
  )
  return (
    <Fold line={line}>
      <ul className={css.files}>
        {changes.map((change) => (
          <li key={change.seq}>
            <File change={change} />
          </li>
        ))}
      </ul>
      {hidden > 0 && <p className={css.aside}>{count(hidden)} changes of ignored files are hidden</p>}
      {counted > 0 && <p className={css.aside}>{count(counted)} more were only counted</p>}
    </Fold>
  )
}

function sum(floods: readonly Flood[]): number {
  return floods.reduce((total, flood) => total + flood.count, 0)
}

function File({ change }: { change: FileChange }) {
  const line = (
    <>
      <abbr title={change.how} className={css.sign} data-how={change.how}>
        {SIGNS[change.how]}
      </abbr>
      <code className={css.cut}>{plain(change.path)}</code>
    </>
  )
  return change.diff ? (
    <Fold line={line}>
      <Diff text={change.diff} />
      <Places change={change} />
    </Fold>
  ) : (
    <span className={css.bare}>{line}</span>
  )
}

/** Links to the current file and to its history up to the event. */
function Places({ change: { path, seq, how } }: { change: FileChange }) {
  return (
    <p className={css.aside}>
      {how !== 'deleted' && (
        <>
          <Link from="/console/sandboxes/$sandboxId" search={{ tab: 'files', path }}>
            Open it
          </Link>{' '}
          ·{' '}
        </>
      )}
      <Link from="/console/sandboxes/$sandboxId" search={{ tab: 'changes', path, to: seq }}>
        All changes up to this event
      </Link>
    </p>
  )
}

function Diff({ text }: { text: string }) {
  return (
    <pre className={`scrolls ${css.diff}`}>
      {text.split('\n').map((line, index) => (
        <span key={index} data-sign={signOf(line)}>
          {plain(line)}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}

function signOf(line: string): string | undefined {
  if (line.startsWith('+++') || line.startsWith('---') || line.startsWith('@@')) return '@'
  return line[0] === '+' || line[0] === '-' ? line[0] : undefined
}
