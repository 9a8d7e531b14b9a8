import { ChevronDown, ChevronUp, X } from 'lucide-react'
import { type KeyboardEvent, type RefObject, useEffect, useState } from 'react'
import { Button } from '~/ui/Button'
import { marksAt } from './colours'
import css from './SearchBar.module.css'
import type { ShellScreen } from './shell-screen'
import type { Results } from './use-screen'

interface Props {
  readonly screen: ShellScreen
  readonly place: RefObject<HTMLElement | null>
  readonly results: Results
  readonly onClose: () => void
}

/** Search in the output of the terminal. */
export function SearchBar({ screen, place, results, onClose }: Props) {
  const [words, setWords] = useState('')
  const find = (direction: 'next' | 'previous', wanted = words, incremental = false) => {
    if (place.current === null) return
    const { found, current } = marksAt(place.current)
    const decorations = {
      matchBackground: found,
      matchOverviewRuler: found,
      activeMatchBackground: current,
      activeMatchColorOverviewRuler: current,
    }
    screen.find(wanted, direction, { incremental, decorations })
  }
  useEffect(() => () => screen.stopSearch(), [screen])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose()
    else if (event.key === 'Enter') find(event.shiftKey ? 'next' : 'previous')
    else return
    event.preventDefault()
  }
  return (
    <search className={css.bar}>
      <input
        className={css.words}
        value={words}
        // biome-ignore lint/a11y/noAutofocus: it was asked for
        autoFocus
        placeholder="Search in this terminal"
        aria-label="Search in this terminal"
        onChange={(event) => {
          setWords(event.target.value)
          find('previous', event.target.value, true)
        }}
        onKeyDown={onKeyDown}
      />
      <span role="status" className={css.count}>
        {words !== '' && (results.count === 0 ? 'Not found' : `${results.index + 1} of ${results.count}`)}
      </span>
      <Button look="quiet" icon={ChevronUp} compact title="Older (Enter)" onClick={() => find('previous')}>
        Older
      </Button>
      <Button look="quiet" icon={ChevronDown} compact title="Newer (Shift Enter)" onClick={() => find('next')}>
        Newer
      </Button>
      <Button look="quiet" icon={X} compact title="Close (Escape)" onClick={onClose}>
        Close the search
      </Button>
    </search>
  )
}
