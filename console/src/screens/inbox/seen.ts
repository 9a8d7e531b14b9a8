import { useState } from 'react'

const KEY = 'viv.inbox.seen'
/** Maximum number of stored entries, more than a day produces. */
const MOST = 500

function read(): string[] {
  try {
    const given: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(given) ? given.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** Dismissed items, stored in this browser. */
export function useSeen(): readonly [ReadonlySet<string>, (key: string) => void] {
  const [seen, setSeen] = useState<ReadonlySet<string>>(() => new Set(read()))
  const add = (key: string) => {
    const next = [...read().filter((one) => one !== key), key].slice(-MOST)
    localStorage.setItem(KEY, JSON.stringify(next))
    setSeen(new Set(next))
  }
  return [seen, add]
}
