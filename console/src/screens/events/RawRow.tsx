import { CircleX } from 'lucide-react'
import { memo } from 'react'
import type { LogEvent } from '~/api/types'
import { isFailed, previewOf, sizeOf } from '~/store/log-events'
import { bytes, clock, plain } from '~/ui/format'
import css from './EventsPanel.module.css'

interface Props {
  readonly event: LogEvent
  readonly position: number
  readonly total: number
  readonly isSelected: boolean
  readonly isFound: boolean
  readonly onSelect: (seq: number) => void
}

/** One event in one line. The list handles its keys. */
export const RawRow = memo(function RawRow({ event, position, total, isSelected, isFound, onSelect }: Props) {
  const hasFailed = isFailed(event)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the focus and the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and names the row that is meant
    <div
      id={`raw-${event.seq}`}
      className={css.row}
      role="option"
      aria-selected={isSelected}
      aria-setsize={total}
      aria-posinset={position}
      data-failed={hasFailed || undefined}
      data-found={isFound || undefined}
      onClick={() => onSelect(event.seq)}
    >
      <span className={css.seq}>{event.seq}</span>
      <time className={css.time} dateTime={event.created_at}>
        {clock(event.created_at)}
      </time>
      <span className={css.type}>
        {hasFailed && <CircleX size={13} aria-label="failed" />}
        {plain(event.event_type)}
      </span>
      <span className={css.preview}>{plain(previewOf(event))}</span>
      <span className={css.size}>{bytes(sizeOf(event))}</span>
    </div>
  )
})
