import { ArrowUpToLine, ChevronDown, ChevronUp, History } from 'lucide-react'
import { useRef } from 'react'
import { KINDS, type Kind } from '~/store/row-kinds'
import { Button } from '~/ui/Button'
import { count, whole } from '~/ui/format'
import { SearchBox, useSearchKeys } from './SearchBox'
import css from './TimelineTools.module.css'
import type { FilterChoice } from './use-filter'

const WORDS: Readonly<Record<Kind, string>> = {
  thinking: 'Thinking',
  messages: 'Messages',
  tools: 'Tools',
  commands: 'Commands',
  files: 'Files',
  reviews: 'Reviews',
  guardian: 'Guardian',
  state: 'State',
}

interface Props {
  readonly choice: FilterChoice
  /** Number of the current match, from one. Zero without a match. */
  readonly current: number
  readonly onGo: (step: 1 | -1) => void
  /** Numbers of searched events and of all events. */
  readonly searched: { readonly loaded: number; readonly all: number; readonly onLoad: (() => void) | undefined }
  readonly onReplay: (() => void) | undefined
  /** Goes to the first event of the log. */
  readonly onStart: (() => void) | undefined
}

/** Filter of the timeline, and the search. */
export function TimelineTools({ choice, current, onGo, searched, onReplay, onStart }: Props) {
  const { filter, kinds, onlyErrors, word, hides, choose } = choice
  const box = useRef<HTMLInputElement>(null)
  useSearchKeys(box, onGo)
  const toggle = (kind: Kind) => {
    const next = kinds.includes(kind) ? kinds.filter((one) => one !== kind) : [...kinds, kind]
    choose({ show: next.length === 0 || next.length === KINDS.length ? undefined : next.join(',') })
  }
  return (
    <search className={css.tools} aria-label="Filter the timeline">
      <fieldset className={css.chips}>
        <legend className="visually-hidden">Kinds of events</legend>
        {KINDS.map((kind) => (
          <Chip
            key={kind}
            isOn={kinds.includes(kind)}
            word={WORDS[kind]}
            total={filter.count(kind)}
            onClick={() => toggle(kind)}
          />
        ))}
        <Chip
          isOn={onlyErrors}
          isBad
          word="Errors only"
          total={filter.errors}
          onClick={() => choose({ errors: onlyErrors ? undefined : true })}
        />
        {filter.count('files') > 0 && (
          <button
            type="button"
            className={css.chip}
            aria-pressed={hides === undefined}
            title="Files of version control and caches, and files that .gitignore names"
            onClick={() => choose({ ignored: hides === undefined ? undefined : true })}
          >
            Ignored files
          </button>
        )}
      </fieldset>
      <SearchBox ref={box} word={word} onWord={(q) => choose({ q: q || undefined })} onGo={onGo} />
      {word !== '' && (
        <>
          <span className={css.found} role="status">
            {filter.found?.found.length === 0
              ? 'not found'
              : `${whole(current)} of ${whole(filter.found?.found.length ?? 0)}`}
            {searched.loaded < searched.all && ` in ${count(searched.loaded)} of ${count(searched.all)} events`}
          </span>
          <Button look="quiet" compact icon={ChevronUp} title="Previous match (N)" onClick={() => onGo(-1)}>
            Previous match
          </Button>
          <Button look="quiet" compact icon={ChevronDown} title="Next match (n)" onClick={() => onGo(1)}>
            Next match
          </Button>
          {searched.onLoad && <Button onClick={searched.onLoad}>Search all</Button>}
        </>
      )}
      <span className={css.jumps}>
        {onStart && (
          <Button compact icon={ArrowUpToLine} onClick={onStart} title="First event (Home)">
            First event
          </Button>
        )}
        {onReplay && (
          <Button icon={History} onClick={onReplay}>
            Replay
          </Button>
        )}
      </span>
    </search>
  )
}

interface ChipProps {
  readonly isOn: boolean
  readonly isBad?: boolean
  readonly word: string
  readonly total: number
  readonly onClick: () => void
}

function Chip({ isOn, isBad, word, total, onClick }: ChipProps) {
  if (total === 0 && !isOn) return null
  return (
    <button
      type="button"
      className={css.chip}
      aria-pressed={isOn}
      data-tone={isBad && total > 0 ? 'bad' : undefined}
      onClick={onClick}
    >
      {word} <span className={css.total}>{count(total)}</span>
    </button>
  )
}
