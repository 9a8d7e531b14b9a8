import { useSyncExternalStore } from 'react'

/** Format of times: relative, or date and time. */
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
