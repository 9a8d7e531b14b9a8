import type { Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useEffect, useRef, useState } from 'react'

export type List = Virtualizer<HTMLElement, Element>

export const AT_END_PX = 40
/** So long after a hand moved, scrolling is the hand's. */
const HAND_MS = 400

/**
 * Whether the end is followed. Only a hand that scrolls away from the end stops it: rows that turn out larger than they
 * were thought to be, or a composer that grows, scroll too, and the end then stays in sight. A window on the past has no
 * end to follow.
 */
export function useFollow(scroller: RefObject<HTMLElement | null>, list: List, startsAtEnd: boolean, isLive: boolean) {
  const [isFollowing, setFollowing] = useState(startsAtEnd && isLive)
  // Known at once, not with the next drawing: a row may be measured in between.
  const latest = useRef(startsAtEnd && isLive)
  const movedAt = useRef(Number.NEGATIVE_INFINITY)
  const follow = (isWanted: boolean) => {
    latest.current = isWanted && isLive
    setFollowing(isWanted && isLive)
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
    follow,
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
