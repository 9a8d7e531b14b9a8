import { useEffect, useRef } from 'react'
import type { EventStore } from '~/store/event-store'

/** Loads all older events that fit in memory, while the caller is mounted. */
export function useLoadAll(events: EventStore): () => void {
  const loading = useRef<AbortController>(undefined)
  useEffect(() => () => loading.current?.abort(), [])
  return () => {
    loading.current?.abort()
    loading.current = new AbortController()
    void events.loadAll(loading.current.signal).catch(() => undefined)
  }
}
