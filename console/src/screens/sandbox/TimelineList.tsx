import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import type { EventStore } from '~/store/event-store'
import { after, type Matches } from '~/store/matches'
import type { Row } from '~/store/rows'
import type { Timeline } from '~/store/timeline'
import { useSaid } from '~/ui/said'
import { ToEnd } from '~/ui/ToEnd'
import { TimelineRow } from './rows/TimelineRow'
import css from './TimelineList.module.css'
import { AT_END_PX, type List, useFollow } from './use-follow'
import { useTimelineKeys } from './use-timeline-keys'

const ROW_PX = 44
const OVERSCAN = 10
const PADDING_PX = 10
/** Distance from an end at which the next page is loaded. */
const LOAD_PX = 600
/**
 * Number of frames in which the scroll to a row is repeated, because the measured heights of its neighbours differ from
 * the estimate.
 */
const FRAMES = 4

/** A row to scroll to. A new object is a new request, also for the same row. */
export interface Target {
  readonly seq: number
  readonly takesFocus: boolean
}

interface Props {
  readonly events: EventStore
  readonly timeline: Timeline
  /** The shown rows; all if undefined. */
  readonly shown: readonly number[] | undefined
  /** Whether the list grows at its end, so that it can be followed. */
  readonly isLive: boolean
  readonly target: Target | undefined
  readonly marked: number | undefined
  readonly found: Matches<Row> | undefined
  readonly onEnd: () => void
  /** Goes to the first event of the log; if absent, to the first loaded event. */
  readonly onStart: (() => void) | undefined
}

/** The timeline. At its end it follows new events; scrolling up stops that. */
export function TimelineList({ events, timeline, shown, isLive, target, marked, found, onEnd, onStart }: Props) {
  const { rows } = timeline
  const placeOf = (index: number) => (shown === undefined ? index : (shown[index] ?? -1))
  const rowAt = (index: number) => rows[placeOf(index)]
  const scroller = useRef<HTMLElement>(null)
  const mayFollow = useRef(() => isLive)
  const list = useVirtualizer<HTMLElement, Element>({
    count: shown?.length ?? rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => rowAt(index)?.seq ?? index,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    anchorTo: 'end',
    followOnAppend: mayFollow.current(),
    scrollEndThreshold: AT_END_PX,
    paddingStart: PADDING_PX,
    paddingEnd: PADDING_PX,
  })
  const { isFollowing, follow, ...hand } = useFollow(scroller, list, target === undefined, isLive)
  mayFollow.current = () => isFollowing && !hand.isPressed()
  const unseen = useUnseen(timeline, events.lastSeq, isFollowing)
  const toEnd = () => {
    onEnd()
    follow(true)
    list.scrollToEnd()
  }
  useTarget({ scroller, list, timeline, shown, target, onGo: () => follow(false) })
  const [said, say] = useSaid()
  const toggle = () => (isFollowing ? follow(false) : toEnd())
  useTimelineKeys({ scroller, list, moved: hand.moved, marked, toStart: onStart, toEnd, toggle, onCopied: say })

  const onScroll = () => {
    hand.scrolled()
    const box = scroller.current
    if (box === null) return
    if (box.scrollTop < LOAD_PX) void events.loadOlder().catch(() => undefined)
    const isNearEnd = box.scrollHeight - box.scrollTop - box.clientHeight < LOAD_PX
    if (!isLive && isNearEnd) void events.loadNewer().catch(() => undefined)
  }
  const markedRow = marked === undefined ? undefined : timeline.indexOf(marked)
  const count = list.options.count
  return (
    <div className={css.box}>
      <section
        ref={scroller}
        className={css.scroller}
        onScroll={onScroll}
        onWheel={hand.moved}
        onTouchMove={hand.moved}
        onPointerDown={hand.pressed}
        onKeyDown={hand.moved}
        aria-label="Timeline"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
        tabIndex={0}
      >
        <ol className={css.list} style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((item) => {
            const row = rowAt(item.index)
            return (
              row && (
                <li
                  key={item.key}
                  ref={list.measureElement}
                  data-index={item.index}
                  className={css.item}
                  style={{ transform: `translateY(${item.start}px)` }}
                  aria-setsize={count}
                  aria-posinset={item.index + 1}
                >
                  <TimelineRow
                    row={row}
                    isMarked={markedRow === placeOf(item.index)}
                    isFound={found?.has(placeOf(item.index)) ?? false}
                  />
                </li>
              )
            )
          })}
        </ol>
      </section>
      {events.isLoadingOlder && <p className={css.loading}>Loading older events…</p>}
      <p role="status" className={said ? css.loading : 'visually-hidden'}>
        {said}
      </p>
      {isLive && !isFollowing && <ToEnd news={unseen} onClick={toEnd} />}
    </div>
  )
}

/** Number of new rows since the end was last visible. */
function useUnseen(timeline: Timeline, lastSeq: number, isFollowing: boolean): number {
  const seen = useRef(lastSeq)
  if (isFollowing) seen.current = lastSeq
  return timeline.rows.length - 1 - (timeline.indexOf(seen.current) ?? timeline.rows.length - 1)
}

interface Wish {
  readonly scroller: React.RefObject<HTMLElement | null>
  readonly list: List
  readonly timeline: Timeline
  readonly shown: readonly number[] | undefined
  readonly target: Target | undefined
  readonly onGo: () => void
}

/** Scrolls to the requested row, or to the nearest shown one, and stops following the end. */
function useTarget(wish: Wish): void {
  const latest = useRef(wish)
  latest.current = wish
  const { target } = wish
  useEffect(() => {
    if (target === undefined) return
    let frame = 0
    const go = (tries: number) => {
      const { scroller, list, timeline, shown } = latest.current
      const row = timeline.indexOf(target.seq)
      if (row === undefined) return
      const index = shown === undefined ? row : Math.max(0, after(shown, row) - 1)
      list.scrollToIndex(index, { align: 'center' })
      // Rows of a new page are rendered and measured in the next frames, so their positions can change.
      if (tries > 0) frame = requestAnimationFrame(() => go(tries - 1))
      else if (target.takesFocus) focusRow(scroller.current, index)
    }
    latest.current.onGo()
    frame = requestAnimationFrame(() => go(FRAMES))
    return () => cancelAnimationFrame(frame)
  }, [target])
}

function focusRow(box: HTMLElement | null, index: number): void {
  box?.querySelector<HTMLElement>(`[data-index="${index}"] a`)?.focus({ preventScroll: true })
}
