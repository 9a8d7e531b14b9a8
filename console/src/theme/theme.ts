import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'viv.theme'
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }
const listeners = new Set<() => void>()

let current: Theme = read()

function read(): Theme {
  const kept = localStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

function show(): void {
  if (current === 'system') {
    delete document.documentElement.dataset.theme
  } else {
    document.documentElement.dataset.theme = current
  }
}

/** Called once, before the first paint. */
export function startTheme(): void {
  show()
}

export function nextTheme(): void {
  setTheme(NEXT[current])
}

export function setTheme(theme: Theme): void {
  current = theme
  localStorage.setItem(KEY, current)
  show()
  for (const listener of listeners) listener()
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
}
