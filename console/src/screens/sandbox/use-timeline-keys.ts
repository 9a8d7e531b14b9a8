import { type RefObject, useMemo, useRef } from 'react'
import { sentence } from '~/api/problem'
import { useShortcuts } from '~/keys/shortcuts'
import { copy } from '~/ui/copy'
import type { List } from './use-follow'

interface Parts {
  readonly scroller: RefObject<HTMLElement | null>
  readonly list: List
  /** Reports that the user scrolls. */
  readonly moved: () => void
  readonly marked: number | undefined
  readonly toStart: (() => void) | undefined
  readonly toEnd: () => void
  /** Starts or stops following the end. */
  readonly toggle: () => void
  readonly onCopied: (words: string) => void
}

/** Shortcuts of the timeline. */
export function useTimelineKeys(parts: Parts): void {
  const latest = useRef(parts)
  latest.current = parts
  useShortcuts(
    'Timeline',
    useMemo(() => {
      const scroll = (pages: number) => {
        const { scroller, moved } = latest.current
        moved()
        scroller.current?.scrollBy({ top: pages * scroller.current.clientHeight })
      }
      const toStart = () => {
        latest.current.moved()
        if (latest.current.toStart) latest.current.toStart()
        else latest.current.list.scrollToIndex(0)
      }
      return [
        { keys: 'j', does: 'Down', run: () => scroll(0.3) },
        { keys: 'k', does: 'Up', run: () => scroll(-0.3) },
        { keys: 'End', does: 'Follow new events', run: () => latest.current.toEnd() },
        { keys: 'f', does: 'Follow new events, or stop', run: () => latest.current.toggle() },
        { keys: 'Home', does: 'First event', run: toStart },
        { keys: 'c', does: 'Copy a link to the event', run: () => copyLink(latest.current) },
      ]
    }, []),
  )
}

/** Address of the focused or marked event. */
function copyLink({ marked, onCopied }: Parts): void {
  const row = document.activeElement?.closest<HTMLElement>('[data-seq]')
  const seq = row?.dataset.seq ?? marked
  if (seq === undefined) {
    onCopied('Select an event first')
    return
  }
  copy(linkTo(Number(seq))).then(
    () => onCopied(`Link to event ${seq} copied`),
    (error: unknown) => onCopied(sentence(error)),
  )
}

/** Address of an event on this screen, without the filter. */
export function linkTo(seq: number): string {
  const url = new URL(location.href)
  const tab = url.searchParams.get('tab')
  url.search = ''
  if (tab !== null) url.searchParams.set('tab', tab)
  url.searchParams.set('at', String(seq))
  return url.href
}
