import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, body } from '~/api/client'
import { sentence } from '~/api/problem'
import type { LogEvent } from '~/api/types'
import { Timeline } from '~/store/timeline'
import { clock } from '~/ui/format'
import { Skeleton } from '~/ui/States'
import { part } from '../sandbox/rows/TimelineRow'
import css from './InboxScreen.module.css'

const PAGE = 40
const MOST_ROWS = 10
const AFTER = 5

/** The last events of a sandbox, or the events around one event, as context for an answer. */
export function Around({ sandboxId, seq }: { sandboxId: string; seq: number | undefined }) {
  const { data, error } = useQuery({
    queryKey: ['sandbox', sandboxId, 'around', seq],
    queryFn: async () => {
      const place = seq === undefined ? { newest: true as const } : { before_seq: seq + AFTER }
      const params = { path: { sandbox_id: sandboxId }, query: { ...place, limit: PAGE } }
      const page = await body(api.GET('/api/v1/sandboxes/{sandbox_id}/events', { params }))
      return typeof page === 'string' ? [] : (page.events as LogEvent[])
    },
  })
  const rows = useMemo(() => {
    const timeline = new Timeline()
    timeline.rebuild(data ?? [])
    return timeline.rows.slice(-MOST_ROWS)
  }, [data])
  return (
    <section className={css.around} aria-label="Earlier events">
      <h3>Earlier events</h3>
      {error && <p className={css.from}>The log could not be loaded: {sentence(error)}</p>}
      {data === undefined && !error && <Skeleton rows={4} label="Loading the log" />}
      {data !== undefined && rows.length === 0 && <p className={css.from}>Nothing.</p>}
      <ol className={css.rows}>
        {rows.map((row) => (
          <li key={row.seq}>
            <time dateTime={row.at}>{clock(row.at)}</time>
            <div>{part(row)}</div>
          </li>
        ))}
      </ol>
    </section>
  )
}
