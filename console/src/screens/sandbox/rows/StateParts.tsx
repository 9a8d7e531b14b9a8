import { Link } from '@tanstack/react-router'
import { text } from '~/api/data'
import { forensicsUrl } from '~/api/forensics'
import type { GapRow, NoteRow, StateRow } from '~/store/rows'
import { Clamp } from '~/ui/Clamp'
import { plain, whole } from '~/ui/format'
import { Terminal } from '~/ui/Terminal'
import { Fold } from './Fold'
import css from './rows.module.css'

const MOST_OF_A_LINE = 240

/** Text of a failure as the program wrote it, clamped to its first lines. */
export function StatePart({ row }: { row: StateRow }) {
  if (row.mood === 'bad' && row.detail !== '') {
    return (
      <div className={css.failure}>
        <p className={css.state} data-mood="bad">
          <strong>{row.title}</strong>
        </p>
        <Clamp lines={6} of="failure" isCode>
          {plain(row.detail.trim())}
        </Clamp>
      </div>
    )
  }
  return (
    <p className={css.state} data-mood={row.mood}>
      <strong>{row.title}</strong>
      {row.detail && <span>{plain(row.detail)}</span>}
      {row.next !== undefined && (
        <Link to="/console/sandboxes/$sandboxId" params={{ sandboxId: row.next }}>
          Open the next run
        </Link>
      )}
      {row.forensicsOf !== undefined && (
        <a href={forensicsUrl(row.forensicsOf)} download>
          Download
        </a>
      )}
    </p>
  )
}

/** Text is shown as prose, other values as JSON. */
export function NotePart({ row }: { row: NoteRow }) {
  const words = text(row.data, 'text')
  const all = JSON.stringify(row.data)
  const first = words?.trim().split('\n', 1)[0] ?? (all === '{}' ? '' : all)
  const line = (
    <>
      <span className={css.name}>{row.type}</span>
      <code className={css.cut}>{plain(first.slice(0, MOST_OF_A_LINE))}</code>
    </>
  )
  return (
    <Fold line={line}>
      {words === undefined ? (
        <pre className={`scrolls ${css.input}`}>{plain(JSON.stringify(row.data, null, 2))}</pre>
      ) : (
        <Terminal>{words}</Terminal>
      )}
    </Fold>
  )
}

export function GapPart({ row }: { row: GapRow }) {
  const events = row.until - row.seq + 1
  return (
    <p className={css.gap}>
      {events === 1 ? 'One event' : `${whole(events)} events`} here, {whole(row.seq)} to {whole(row.until)}:{' '}
      {row.why === 'removed'
        ? 'deleted by the server'
        : 'not loaded, because a page holds at most 20,000. The time of this row is a link to them'}
    </p>
  )
}
