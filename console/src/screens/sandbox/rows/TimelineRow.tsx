import { Link } from '@tanstack/react-router'
import { Link2 } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import type { Row } from '~/store/rows'
import { clock, moment } from '~/ui/format'
import { CommandPart } from './CommandPart'
import { FilesPart } from './FilesPart'
import { GuardPart } from './GuardPart'
import { ReviewPart } from './ReviewPart'
import css from './rows.module.css'
import { MessagePart, SaidPart, ThinkingPart } from './SpeechParts'
import { GapPart, NotePart, StatePart } from './StateParts'
import { ToolPart } from './ToolPart'

interface Props {
  readonly row: Row
  readonly isMarked: boolean
  /** Whether the row contains the search text. */
  readonly isFound: boolean
}

/** One row: time, content and address. Rendered again only if the row changes. */
export const TimelineRow = memo(function TimelineRow({ row, isMarked, isFound }: Props) {
  return (
    <article
      className={css.row}
      data-kind={row.kind}
      data-seq={row.seq}
      data-marked={isMarked || undefined}
      data-found={isFound || undefined}
    >
      <Link
        from="/console/sandboxes/$sandboxId"
        to="."
        search={(before) => ({ ...before, at: row.kind === 'gap' ? row.until : row.seq })}
        replace
        className={css.when}
        title={`Event ${row.seq}, ${moment(row.at)}: link to it (c copies it)`}
        aria-current={isMarked || undefined}
      >
        <time dateTime={row.at}>{clock(row.at)}</time>
        <Link2 className={css.link} size={13} aria-hidden />
      </Link>
      <div className={css.what}>{part(row)}</div>
    </article>
  )
})

export function part(row: Row): ReactNode {
  switch (row.kind) {
    case 'message':
      return <MessagePart row={row} />
    case 'thinking':
      return <ThinkingPart row={row} />
    case 'said':
      return <SaidPart row={row} />
    case 'tool':
      return <ToolPart row={row} />
    case 'command':
      return <CommandPart row={row} />
    case 'files':
      return <FilesPart row={row} />
    case 'review':
      return <ReviewPart row={row} />
    case 'state':
      return <StatePart row={row} />
    case 'guard':
      return <GuardPart row={row} />
    case 'note':
      return <NotePart row={row} />
    case 'gap':
      return <GapPart row={row} />
  }
}
