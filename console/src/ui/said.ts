import { useEffect, useState } from 'react'

const SHOWN_MS = 2_500

/** Short confirmation that is shown for a moment. */
export function useSaid(): readonly [string, (words: string) => void] {
  const [said, say] = useState('')
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => say(''), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [said])
  return [said, say]
}
