import { useState } from 'react'
import { unsent } from '~/store/words'

/** Like `useState` for text typed at a place. The text survives a remount. */
export function useWords(place: string): readonly [string, (words: string) => void] {
  const [words, setWords] = useState(() => unsent.at(place))
  const keep = (next: string) => {
    unsent.put(place, next)
    setWords(next)
  }
  return [words, keep]
}
