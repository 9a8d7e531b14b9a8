import { Search } from 'lucide-react'
import { type KeyboardEvent, type Ref, type RefObject, useMemo, useRef } from 'react'
import { useShortcuts } from '~/keys/shortcuts'
import css from './TimelineTools.module.css'

interface Props {
  readonly ref: Ref<HTMLInputElement>
  readonly word: string
  readonly onWord: (word: string) => void
  readonly onGo: (step: 1 | -1) => void
}

/** Search box: Enter selects the next match, Shift+Enter the previous one. */
export function SearchBox({ ref, word, onWord, onGo }: Props) {
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') onGo(event.shiftKey ? -1 : 1)
    else if (event.key === 'Escape') event.currentTarget.blur()
    else return
    event.preventDefault()
  }
  return (
    <label className={css.search}>
      <Search size={15} aria-hidden />
      <span className="visually-hidden">Find in the events shown</span>
      <input
        ref={ref}
        type="search"
        value={word}
        placeholder="Find…"
        onChange={(event) => onWord(event.target.value)}
        onKeyDown={onKeyDown}
      />
    </label>
  )
}

/** Shortcuts of a search: focus the box, next and previous match. */
export function useSearchKeys(box: RefObject<HTMLInputElement | null>, onGo: (step: 1 | -1) => void): void {
  const go = useRef(onGo)
  go.current = onGo
  useShortcuts(
    'Find',
    useMemo(
      () => [
        { keys: '/', does: 'Find in the events', run: () => box.current?.focus() },
        { keys: 'n', does: 'Next match', run: () => go.current(1) },
        { keys: 'N', does: 'Previous match', run: () => go.current(-1) },
      ],
      [box],
    ),
  )
}
