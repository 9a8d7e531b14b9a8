import { useSyncExternalStore } from 'react'

/** Settings of terminals. */
export interface TerminalSettings {
  readonly fontSize: number
  /** Screen reader mode of the terminal. Off by default, because it costs time. */
  readonly isForReaders: boolean
}

const KEY = 'viv.terminal'
const SMALLEST = 8
const LARGEST = 28
const USUAL: TerminalSettings = { fontSize: 13, isForReaders: false }
const listeners = new Set<() => void>()

let current = read()

function read(): TerminalSettings {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<TerminalSettings>
    return {
      fontSize: withinBounds(typeof kept.fontSize === 'number' ? kept.fontSize : USUAL.fontSize),
      isForReaders: kept.isForReaders === true,
    }
  } catch {
    return USUAL
  }
}

function withinBounds(size: number): number {
  return Math.min(LARGEST, Math.max(SMALLEST, Math.round(size)))
}

export function changeTerminalSettings(change: Partial<TerminalSettings>): void {
  const wanted = { ...current, ...change }
  current = { ...wanted, fontSize: withinBounds(wanted.fontSize) }
  localStorage.setItem(KEY, JSON.stringify(current))
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const USUAL_FONT_SIZE = USUAL.fontSize

export function useTerminalSettings(): TerminalSettings {
  return useSyncExternalStore(subscribe, () => current)
}
