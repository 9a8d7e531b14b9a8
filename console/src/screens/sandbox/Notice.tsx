import { whole } from '~/ui/format'
import css from './Notice.module.css'
import type { Story } from './use-story'

interface Props {
  readonly story: Story
  readonly at: number | undefined
  /** The filter hides the row of the event. */
  readonly isHidden: boolean
  /** A filter is active, so unloaded events may match it. */
  readonly isNarrow: boolean
  readonly onLoad: () => void
  readonly onShow: () => void
  readonly onLive: () => void
}

/** Shows the position in the log if it is not the end, and the result for the event that the address names. */
export function Notice({ story, at, isHidden, isNarrow, onLoad, onShow, onLive }: Props) {
  const words = at === undefined ? undefined : said(story, at)
  if (words !== undefined) {
    return (
      <p className={css.notice} role="status" data-tone={story.finding === 'looking' ? undefined : 'warn'}>
        {words}
        {story.finding !== 'looking' && <Act onClick={onLive}>Go to the newest events</Act>}
      </p>
    )
  }
  if (isHidden && at !== undefined) {
    return (
      <p className={css.notice} role="status">
        Event {whole(at)} is hidden by the filter. <Act onClick={onShow}>Show all</Act>
      </p>
    )
  }
  const { events, firstSeq, lastSeq, headSeq, oldestKept, hasOlder, isLoadingOlder } = story.events
  if (story.isLive && isNarrow && hasOlder) {
    return (
      <p className={css.notice} role="status">
        Among the last {whole(events.length)} of {whole(headSeq - oldestKept + 1)} events.{' '}
        {isLoadingOlder ? 'Loading more…' : <Act onClick={onLoad}>Search all events</Act>}
      </p>
    )
  }
  if (story.isLive) return null
  return (
    <p className={css.notice} role="status">
      These are events {whole(firstSeq)} to {whole(lastSeq)} of {whole(headSeq)}.{' '}
      <Act onClick={onLive}>Go to the newest events</Act>
    </p>
  )
}

function said({ finding, events }: Story, at: number): string | undefined {
  switch (finding) {
    case 'looking':
      return `Looking for event ${whole(at)}…`
    case 'removed':
      return `Event ${whole(at)} has been deleted: the log starts with ${whole(events.oldestKept)}.`
    case 'missing':
      return `The log has no event ${whole(at)}: the last is ${whole(events.headSeq)}.`
    case 'failed':
      return `Event ${whole(at)} could not be loaded.`
    default:
      return undefined
  }
}

function Act({ onClick, children }: { onClick: () => void; children: string }) {
  return (
    <button type="button" className={css.act} onClick={onClick}>
      {children}
    </button>
  )
}
