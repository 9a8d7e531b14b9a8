import type { GapRow, NoteRow, StateRow } from '~/store/rows'
import { plain, whole } from '~/ui/format'
import { Fold } from './Fold'
import css from './rows.module.css'

export function StatePart({ row }: { row: StateRow }) {
  return (
    <p className={css.state} data-mood={row.mood}>
      <strong>{row.title}</strong>
      {row.detail && <span>{plain(row.detail)}</span>}
    </p>
  )
}

export function NotePart({ row }: { row: NoteRow }) {
  const text = JSON.stringify(row.data)
  const line = (
    <>
      <span className={css.name}>{row.type}</span>
      <code className={css.cut}>{text === '{}' ? '' : plain(text.slice(0, 240))}</code>
    </>
  )
  return (
    <Fold line={line}>
      <pre className={css.input}>{plain(JSON.stringify(row.data, null, 2))}</pre>
    </Fold>
  )
}

export function GapPart({ row }: { row: GapRow }) {
  const events = row.until - row.seq + 1
  return (
    <p className={css.gap}>
      {events === 1 ? 'One event' : `${whole(events)} events`} here, {whole(row.seq)} to {whole(row.until)}:{' '}
      {row.why === 'removed'
        ? 'no longer kept by the server'
        : 'not loaded, as a page keeps no more than 20,000. The time of this row leads there'}
    </p>
  )
}
