import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import type { LogEvent } from '~/api/types'
import type { EventStore } from '~/store/event-store'
import { indexUntil } from '~/store/log-events'
import { after, type Matches } from '~/store/matches'
import { partInSight } from '~/store/window'
import { ToEnd } from '~/ui/ToEnd'
import css from './EventsPanel.module.css'
import { RawRow } from './RawRow'

export const ROW_PX = 28
const OVERSCAN = 8
const AT_END_PX = 20
const LOAD_PX = 400

interface Props {
  readonly events: EventStore
  /** The shown events; all if undefined. */
  readonly shown: readonly number[] | undefined
  readonly found: Matches<LogEvent> | undefined
  readonly selected: number | undefined
  readonly onSelect: (seq: number) => void
  readonly isLive: boolean
  readonly isFollowing: boolean
  readonly onFollow: (isWanted: boolean) => void
}

/** The events of a log, one line each. All rows have the same height, so the visible rows follow from a division. */
export function RawList(props: Props) {
  const { events, shown, found, selected, onSelect, isLive, isFollowing, onFollow } = props
  const list = events.events
  const count = shown?.length ?? list.length
  const placeOf = (index: number) => (shown === undefined ? index : (shown[index] ?? -1))
  const { box, top, height, onScroll, isAtEnd } = useScroll(props, count, placeOf)
  const part = partInSight(top, height, ROW_PX, count, OVERSCAN)
  const place = selected === undefined ? -1 : indexUntil(list, selected)
  const index = shown === undefined ? place : after(shown, place) - 1
  useInSight(box, index, selected, events)

  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height / ROW_PX) - 1)
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }
    const step = event.key === 'Home' ? -count : event.key === 'End' ? count : steps[event.key]
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const target = list[placeOf(Math.max(0, Math.min(index + step, count - 1)))]
    if (target !== undefined) onSelect(target.seq)
    if (event.key === 'End' && isLive) onFollow(true)
  }
  return (
    <div className={css.listBox}>
      <div
        ref={box}
        className={css.list}
        role="listbox"
        aria-label="Events"
        aria-activedescendant={
          index >= part.from && index < part.until ? `raw-${list[placeOf(index)]?.seq}` : undefined
        }
        tabIndex={0}
        onScroll={() => {
          onScroll()
          if (isLive && isAtEnd() !== isFollowing) onFollow(!isFollowing)
        }}
        onKeyDown={onKeyDown}
      >
        <div className={css.all} style={{ height: count * ROW_PX }}>
          <div className={css.part} style={{ transform: `translateY(${part.from * ROW_PX}px)` }}>
            {Array.from({ length: part.until - part.from }, (_, offset) => {
              const row = part.from + offset
              const event = list[placeOf(row)]
              return (
                event && (
                  <RawRow
                    key={event.seq}
                    event={event}
                    position={row + 1}
                    total={count}
                    isSelected={event.seq === selected}
                    isFound={found?.has(placeOf(row)) ?? false}
                    onSelect={onSelect}
                  />
                )
              )
            })}
          </div>
        </div>
      </div>
      {isLive && !isFollowing && <SinceThen events={events} onClick={() => onFollow(true)} />}
    </div>
  )
}

/** Scroll position of the list. It keeps the visible rows when older events are prepended, and follows the end. */
function useScroll({ events, isLive, isFollowing }: Props, count: number, placeOf: (index: number) => number) {
  const box = useRef<HTMLDivElement>(null)
  const [{ top, height }, setSight] = useState({ top: 0, height: 600 })
  const anchor = useRef<{ seq: number; offset: number }>(undefined)
  const list = events.events

  const look = () => {
    const { current } = box
    if (current === null) return
    setSight({ top: current.scrollTop, height: current.clientHeight })
    const first = list[placeOf(Math.floor(current.scrollTop / ROW_PX))]
    anchor.current = first && { seq: first.seq, offset: current.scrollTop % ROW_PX }
  }
  const latest = useRef(look)
  latest.current = look

  // biome-ignore lint/correctness/useExhaustiveDependencies: another list is what it waits for
  useLayoutEffect(() => {
    const seen = anchor.current
    if (seen === undefined || box.current === null || isFollowing) return
    let low = 0
    let high = count
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((list[placeOf(middle)]?.seq ?? 0) < seen.seq) low = middle + 1
      else high = middle
    }
    box.current.scrollTop = low * ROW_PX + seen.offset
  }, [list])

  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows what is added
  useLayoutEffect(() => {
    if (isFollowing && isLive && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [isFollowing, isLive, count, height])

  useLayoutEffect(() => {
    latest.current()
    const observer = new ResizeObserver(() => latest.current())
    if (box.current) observer.observe(box.current)
    return () => observer.disconnect()
  }, [])

  const onScroll = () => {
    look()
    const { current } = box
    if (current === null) return
    if (current.scrollTop < LOAD_PX) void events.loadOlder().catch(() => undefined)
    const below = current.scrollHeight - current.scrollTop - current.clientHeight
    if (!isLive && below < LOAD_PX) void events.loadNewer().catch(() => undefined)
  }
  const isAtEnd = () => {
    const { current } = box
    return current !== null && current.scrollHeight - current.scrollTop - current.clientHeight <= AT_END_PX
  }
  return { box, top, height, onScroll, isAtEnd }
}

/** Scrolls to the selected row: a little if it is near, otherwise to the middle. A link also moves the focus there. */
function useInSight(
  box: React.RefObject<HTMLDivElement | null>,
  index: number,
  selected: number | undefined,
  events: EventStore,
): void {
  const latest = useRef(index)
  latest.current = index
  const isFirst = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: events that came from elsewhere are looked at anew
  useLayoutEffect(() => {
    const { current } = box
    if (selected === undefined || latest.current < 0 || current === null) return
    const top = latest.current * ROW_PX
    const from = current.scrollTop
    const until = from + current.clientHeight - ROW_PX
    if (top < from - 2 * ROW_PX || top > until + 2 * ROW_PX) current.scrollTop = top - current.clientHeight / 2
    else if (top < from) current.scrollTop = top
    else if (top > until) current.scrollTop = top - current.clientHeight + ROW_PX
    if (isFirst.current) current.focus({ preventScroll: true })
    isFirst.current = false
  }, [box, selected, events])
}

/** Counts the rows since the end was last visible. */
function SinceThen({ events, onClick }: { events: EventStore; onClick: () => void }) {
  const [seen] = useState(events.lastSeq)
  return <ToEnd news={events.lastSeq - seen} onClick={onClick} />
}
