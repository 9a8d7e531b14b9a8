import type { Virtualizer } from '@tanstack/react-virtual'
import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react'

export type List = Virtualizer<HTMLElement, Element>

export const AT_END_PX = 40
/** Time and frames after a user input in which a scroll event counts as the user's. A busy page renders late. */
const HAND_MS = 400
const HAND_FRAMES = 12

/**
 * Whether the end is followed. Only a hand that scrolls away from the end stops it: rows that turn out larger than they
 * were thought to be, or a composer that grows, scroll too, and the end then stays in sight. A window on the past has no
 * end to follow.
 *
 * While a row is pressed nothing moves: it would slip away from under the pointer, and the click would be lost.
 */
export function useFollow(scroller: RefObject<HTMLElement | null>, list: List, startsAtEnd: boolean, isLive: boolean) {
  const [isFollowing, setFollowing] = useState(startsAtEnd && isLive)
  // Known before the next render, because a row can be measured in between.
  const latest = useRef(startsAtEnd && isLive)
  const hand = useHand()
  const follow = (isWanted: boolean) => {
    latest.current = isWanted && isLive
    setFollowing(isWanted && isLive)
  }

  useEffect(() => {
    const pin = () => {
      if (latest.current && !hand.isMoving()) list.scrollToEnd()
    }
    const observer = new ResizeObserver(pin)
    if (scroller.current) {
      observer.observe(scroller.current)
      if (scroller.current.firstElementChild) observer.observe(scroller.current.firstElementChild)
    }
    pin()
    return () => observer.disconnect()
  }, [scroller, list, hand])

  return {
    isFollowing,
    follow,
    moved: hand.moved,
    isPressed: hand.isPressed,
    pressed: (event: PointerEvent) => {
      hand.moved()
      // The scroll bar belongs to the list.
      if (event.target === event.currentTarget) return
      const { count } = list.options
      hand.pressed(() => {
        if (latest.current && list.options.count > count) list.scrollToEnd()
      })
    },
    scrolled: () => {
      if (isAtEnd(scroller.current)) follow(true)
      else if (hand.isMoving()) follow(false)
    },
  }
}

/** Whether the user has just scrolled, or presses a pointer button in the list. */
function useHand() {
  return useState(() => {
    let at = Number.NEGATIVE_INFINITY
    let frames = 0
    let isDown = false
    const drawn = () => {
      frames--
      if (frames > 0) requestAnimationFrame(drawn)
    }
    return {
      moved: () => {
        at = performance.now()
        if (frames === 0) requestAnimationFrame(drawn)
        frames = HAND_FRAMES
      },
      /** Lasts until the release, anywhere; `onRelease` runs after the click. */
      pressed: (onRelease: () => void) => {
        isDown = true
        const released = new AbortController()
        const up = () => {
          isDown = false
          released.abort()
          requestAnimationFrame(onRelease)
        }
        for (const type of ['pointerup', 'pointercancel']) addEventListener(type, up, { signal: released.signal })
      },
      isPressed: () => isDown,
      isMoving: () => isDown || frames > 0 || performance.now() - at < HAND_MS,
    }
  })[0]
}

function isAtEnd(box: HTMLElement | null): boolean {
  return box !== null && box.scrollHeight - box.scrollTop - box.clientHeight <= AT_END_PX
}
