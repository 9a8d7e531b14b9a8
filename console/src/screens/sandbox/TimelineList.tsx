import { useNavigate, useSearch } from '@tanstack/react-router'
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useShortcuts } from '~/keys/shortcuts'
import type { EventStore } from '~/store/event-store'
import type { Watch } from '~/store/watch'
import { Empty } from '~/ui/States'
import { TimelineRow } from './rows/TimelineRow'
import css from './TimelineList.module.css'

const ROW_PX = 44
const OVERSCAN = 10
const AT_END_PX = 40
/** So near to the beginning, the page before it is loaded. */
const LOAD_OLDER_PX = 600

type List = Virtualizer<HTMLElement, Element>

/** The timeline: at its end it follows what comes; whoever scrolls up is left where they are. */
export function TimelineList({ watch }: { watch: Watch }) {
  const { events } = watch
  const { rows } = events.timeline
  const { at } = useSearch({ from: '/frame/console/sandboxes/$sandboxId' })
  const scroller = useRef<HTMLElement>(null)
  const [isFollowing, follow] = useState(at === undefined)
  const list = useVirtualizer<HTMLElement, Element>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => rows[index]?.seq ?? index,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: AT_END_PX,
  })
  const unseen = useUnseen(rows.length, isFollowing)
  useStayAtEnd(scroller, list, isFollowing)
  useDeepLink(events, list, at)
  useTimelineKeys(scroller, list)

  const onScroll = () => {
    follow(list.isAtEnd(AT_END_PX))
    if ((scroller.current?.scrollTop ?? 0) < LOAD_OLDER_PX) void events.loadOlder().catch(() => undefined)
  }
  if (rows.length === 0) return <Empty title="Nothing has happened yet" />
  return (
    <div className={css.box}>
      <section
        ref={scroller}
        className={css.scroller}
        onScroll={onScroll}
        aria-label="Timeline"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
        tabIndex={0}
      >
        {events.isLoadingOlder && <p className={css.loading}>Loading older events…</p>}
        <ol className={css.list} style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((item) => {
            const row = rows[item.index]
            return (
              row && (
                <li
                  key={item.key}
                  ref={list.measureElement}
                  data-index={item.index}
                  className={css.item}
                  style={{ transform: `translateY(${item.start}px)` }}
                  aria-setsize={rows.length}
                  aria-posinset={item.index + 1}
                >
                  <TimelineRow row={row} isMarked={at !== undefined && events.timeline.indexOf(at) === item.index} />
                </li>
              )
            )
          })}
        </ol>
      </section>
      {!isFollowing && (
        <button type="button" className={css.resume} onClick={() => list.scrollToEnd()}>
          <ArrowDown size={15} aria-hidden />
          {unseen > 0 ? `${unseen} new` : 'To the end'}
        </button>
      )}
    </div>
  )
}

/** How many rows came since the end was last in sight. */
function useUnseen(count: number, isFollowing: boolean): number {
  const seen = useRef(count)
  if (isFollowing) seen.current = count
  return Math.max(0, count - seen.current)
}

/** The end stays in sight when the box changes its height: the list hears of scrolling, not of a composer that grows. */
function useStayAtEnd(scroller: React.RefObject<HTMLElement | null>, list: List, isFollowing: boolean): void {
  const latest = useRef(isFollowing)
  latest.current = isFollowing
  useEffect(() => {
    if (latest.current) list.scrollToEnd()
    const observer = new ResizeObserver(() => {
      if (latest.current) list.scrollToEnd()
    })
    if (scroller.current) observer.observe(scroller.current)
    return () => observer.disconnect()
  }, [scroller, list])
}

/** Goes to the event that the address names, through older pages if need be. */
function useDeepLink(events: EventStore, list: List, at: number | undefined): void {
  useEffect(() => {
    if (at === undefined) return
    let isCurrent = true
    void events
      .reach(at)
      .catch(() => false)
      .then((isHere) => {
        const index = events.timeline.indexOf(at)
        if (isCurrent && isHere && index !== undefined) {
          // The rows of the pages just loaded are counted with the next frame.
          requestAnimationFrame(() => requestAnimationFrame(() => list.scrollToIndex(index, { align: 'center' })))
        }
      })
    return () => {
      isCurrent = false
    }
  }, [events, list, at])
}

function useTimelineKeys(scroller: React.RefObject<HTMLElement | null>, list: List): void {
  const navigate = useNavigate({ from: '/console/sandboxes/$sandboxId' })
  useShortcuts(
    'Timeline',
    useMemo(() => {
      const scroll = (pages: number) => scroller.current?.scrollBy({ top: pages * scroller.current.clientHeight })
      const toEnd = () => {
        void navigate({ search: {}, replace: true })
        list.scrollToEnd()
      }
      return [
        { keys: 'j', does: 'Down', run: () => scroll(0.3) },
        { keys: 'k', does: 'Up', run: () => scroll(-0.3) },
        { keys: 'End', does: 'Follow what comes', run: toEnd },
        { keys: 'Home', does: 'To the oldest loaded', run: () => list.scrollToIndex(0) },
      ]
    }, [scroller, list, navigate]),
  )
}
