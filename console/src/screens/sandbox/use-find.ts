import { useState } from 'react'
import type { RowFilter } from '~/store/row-filter'
import type { Timeline } from '~/store/timeline'

/** The current match. It is identified by its event, so older pages do not move it. */
export function useFind(timeline: Timeline, filter: RowFilter, at: number | undefined, onGo: (seq: number) => void) {
  const [seq, setSeq] = useState<number>()
  const matches = filter.found
  const here = seq === undefined ? undefined : timeline.indexOf(seq)
  const isHere = here !== undefined && matches?.has(here) === true

  const go = (step: 1 | -1) => {
    const from = here ?? (at === undefined ? undefined : timeline.indexOf(at)) ?? (step > 0 ? -1 : timeline.rows.length)
    const next = matches?.next(from, step)
    const row = next === undefined ? undefined : timeline.rows[next]
    if (row === undefined) return
    setSeq(row.seq)
    onGo(row.seq)
  }
  return { matches, go, current: isHere ? matches.countUntil(here) : 0, currentSeq: isHere ? seq : undefined }
}
