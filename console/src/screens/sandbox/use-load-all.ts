import { useEffect, useRef } from 'react'
import type { EventStore } from '~/store/event-store'

/** Loads all the older events that there is room for, for as long as the caller is on the screen. */
export function useLoadAll(events: EventStore): () => void {
  const loading = useRef<AbortController>(undefined)
  useEffect(() => () => loading.current?.abort(), [])
  return () => {
    loading.current?.abort()
    loading.current = new AbortController()
    void events.loadAll(loading.current.signal).catch(() => undefined)
  }
}
