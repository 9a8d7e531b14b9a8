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
const PADDING_PX = 10
/** So long after a hand moved, scrolling is the hand's. */
const HAND_MS = 400
/** So near to the beginning, the page before it is loaded. */
const LOAD_OLDER_PX = 600

type List = Virtualizer<HTMLElement, Element>

/** The timeline: at its end it follows what comes; whoever scrolls up is left where they are. */
export function TimelineList({ watch }: { watch: Watch }) {
  const { events } = watch
  const { rows } = events.timeline
  const { at } = useSearch({ from: '/frame/console/sandboxes/$sandboxId' })
  const scroller = useRef<HTMLElement>(null)
  const list = useVirtualizer<HTMLElement, Element>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => rows[index]?.seq ?? index,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: AT_END_PX,
    paddingStart: PADDING_PX,
    paddingEnd: PADDING_PX,
  })
  const { isFollowing, moved, scrolled } = useFollow(scroller, list, at === undefined)
  const unseen = useUnseen(events, isFollowing)
  useDeepLink(events, list, at)
  useTimelineKeys(scroller, list, moved)

  const onScroll = () => {
    scrolled()
    if ((scroller.current?.scrollTop ?? 0) < LOAD_OLDER_PX) void events.loadOlder().catch(() => undefined)
  }
  if (rows.length === 0) return <Empty title="Nothing has happened yet" />
  return (
    <div className={css.box}>
      <section
        ref={scroller}
        className={css.scroller}
        onScroll={onScroll}
        onWheel={moved}
        onTouchMove={moved}
        onPointerDown={moved}
        onKeyDown={moved}
        aria-label="Timeline"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
        tabIndex={0}
      >
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
      {events.isLoadingOlder && <p className={css.loading}>Loading older events…</p>}
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
function useUnseen({ timeline, lastSeq }: EventStore, isFollowing: boolean): number {
  const seen = useRef(lastSeq)
  if (isFollowing) seen.current = lastSeq
  return timeline.rows.length - 1 - (timeline.indexOf(seen.current) ?? timeline.rows.length - 1)
}

/**
 * Whether the end is followed. Only a hand that scrolls away from the end stops it: rows that turn out larger than they
 * were thought to be, or a composer that grows, scroll too, and the end then stays in sight.
 */
function useFollow(scroller: React.RefObject<HTMLElement | null>, list: List, startsAtEnd: boolean) {
  const [isFollowing, setFollowing] = useState(startsAtEnd)
  // Known at once, not with the next drawing: a row may be measured in between.
  const latest = useRef(startsAtEnd)
  const movedAt = useRef(Number.NEGATIVE_INFINITY)
  const follow = (isWanted: boolean) => {
    latest.current = isWanted
    setFollowing(isWanted)
  }

  useEffect(() => {
    const pin = () => {
      if (latest.current && performance.now() - movedAt.current > HAND_MS) list.scrollToEnd()
    }
    const observer = new ResizeObserver(pin)
    if (scroller.current) {
      observer.observe(scroller.current)
      if (scroller.current.firstElementChild) observer.observe(scroller.current.firstElementChild)
    }
    pin()
    return () => observer.disconnect()
  }, [scroller, list])

  return {
    isFollowing,
    moved: () => {
      movedAt.current = performance.now()
    },
    scrolled: () => {
      if (isAtEnd(scroller.current)) follow(true)
      else if (performance.now() - movedAt.current < HAND_MS) follow(false)
    },
  }
}

function isAtEnd(box: HTMLElement | null): boolean {
  return box !== null && box.scrollHeight - box.scrollTop - box.clientHeight <= AT_END_PX
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

function useTimelineKeys(scroller: React.RefObject<HTMLElement | null>, list: List, moved: () => void): void {
  const hand = useRef(moved)
  hand.current = moved
  const navigate = useNavigate({ from: '/console/sandboxes/$sandboxId' })
  useShortcuts(
    'Timeline',
    useMemo(() => {
      const scroll = (pages: number) => {
        hand.current()
        scroller.current?.scrollBy({ top: pages * scroller.current.clientHeight })
      }
      const toOldest = () => {
        hand.current()
        list.scrollToIndex(0)
      }
      const toEnd = () => {
        void navigate({ search: {}, replace: true })
        list.scrollToEnd()
      }
      return [
        { keys: 'j', does: 'Down', run: () => scroll(0.3) },
        { keys: 'k', does: 'Up', run: () => scroll(-0.3) },
        { keys: 'End', does: 'Follow what comes', run: toEnd },
        { keys: 'Home', does: 'To the oldest loaded', run: toOldest },
      ]
    }, [scroller, list, navigate]),
  )
}
