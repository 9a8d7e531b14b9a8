import { useState } from 'react'
import { unsent } from '~/store/words'

/** Like `useState` for what is typed at a place, but it is still there for whoever comes back. */
export function useWords(place: string): readonly [string, (words: string) => void] {
  const [words, setWords] = useState(() => unsent.at(place))
  const keep = (next: string) => {
    unsent.put(place, next)
    setWords(next)
  }
  return [words, keep]
}
