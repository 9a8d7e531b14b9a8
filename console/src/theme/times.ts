import { useSyncExternalStore } from 'react'

/** How moments are written: as so long ago, or as date and time. */
export type Times = 'relative' | 'absolute'

const KEY = 'viv.times'
const listeners = new Set<() => void>()

let current: Times = localStorage.getItem(KEY) === 'absolute' ? 'absolute' : 'relative'

export function setTimes(times: Times): void {
  current = times
  localStorage.setItem(KEY, times)
  for (const listener of listeners) listener()
}

export function useTimes(): Times {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
}
