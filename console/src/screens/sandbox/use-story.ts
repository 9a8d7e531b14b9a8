import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { EventStore } from '~/store/event-store'
import { findEvent } from '~/store/find-event'
import type { Watch } from '~/store/watch'

/** Result of the search for the event of the address. */
export type Finding = 'none' | 'looking' | 'here' | 'removed' | 'missing' | 'failed'

export interface Story {
  /** The newest events, live, or a page of older ones. */
  readonly events: EventStore
  readonly isLive: boolean
  readonly finding: Finding
}

/** The events to show: the newest, unless the address names an older one. */
export function useStory(watch: Watch, at: number | undefined): Story {
  const live = watch.events
  const [state, setState] = useState<{ events: EventStore; finding: Finding }>({ events: live, finding: 'none' })
  const shown = useRef(state.events)
  shown.current = state.events

  useEffect(() => {
    if (at === undefined) {
      setState({ events: live, finding: 'none' })
      return
    }
    if (shown.current.timeline.indexOf(at) !== undefined) {
      setState({ events: shown.current, finding: 'here' })
      return
    }
    let isCurrent = true
    setState({ events: shown.current, finding: 'looking' })
    findEvent(live, watch.history, at)
      .then(
        (found) => (found.kind === 'here' ? found.store : found.kind),
        () => 'failed' as const,
      )
      .then((found) => {
        if (!isCurrent) return
        setState(
          typeof found === 'string' ? { events: live, finding: found } : { events: found, finding: 'here' as const },
        )
      })
    return () => {
      isCurrent = false
    }
  }, [watch, live, at])

  useSyncExternalStore(state.events.notifier.subscribe, state.events.notifier.version)
  return { ...state, isLive: state.events === live }
}
