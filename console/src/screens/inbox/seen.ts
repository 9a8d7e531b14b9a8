import { useState } from 'react'

const KEY = 'viv.inbox.seen'
/** More than a day brings, and little to keep. */
const MOST = 500

function read(): string[] {
  try {
    const given: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(given) ? given.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** What somebody has put away in this browser. */
export function useSeen(): readonly [ReadonlySet<string>, (key: string) => void] {
  const [seen, setSeen] = useState<ReadonlySet<string>>(() => new Set(read()))
  const add = (key: string) => {
    const next = [...read().filter((one) => one !== key), key].slice(-MOST)
    localStorage.setItem(KEY, JSON.stringify(next))
    setSeen(new Set(next))
  }
  return [seen, add]
}
