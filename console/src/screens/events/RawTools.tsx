import { ChevronDown, ChevronUp, Download } from 'lucide-react'
import { type FormEvent, useRef } from 'react'
import { Button } from '~/ui/Button'
import { count, plain, whole } from '~/ui/format'
import { SearchBox, useSearchKeys } from '../sandbox/SearchBox'
import tools from '../sandbox/TimelineTools.module.css'
import css from './EventsPanel.module.css'
import type { RawFilterChoice } from './use-raw-filter'

interface Props {
  readonly choice: RawFilterChoice
  readonly current: number
  readonly onGo: (step: 1 | -1) => void
  readonly onJump: (seq: number) => void
  readonly onExport: () => void
  readonly headSeq: number
}

/** Filter of the log, search text, and the number to go to. */
export function RawTools({ choice, current, onGo, onJump, onExport, headSeq }: Props) {
  const { filter, onlyFailed, word, choose } = choice
  const box = useRef<HTMLInputElement>(null)
  useSearchKeys(box, onGo)
  const found = filter.found?.found.length ?? 0
  return (
    <search className={tools.tools} aria-label="Filter the events">
      <Types choice={choice} />
      <button
        type="button"
        className={tools.chip}
        aria-pressed={onlyFailed}
        data-tone={filter.failed.found.length > 0 ? 'bad' : undefined}
        onClick={() => choose({ errors: onlyFailed ? undefined : true })}
      >
        Failed only <span className={tools.total}>{count(filter.failed.found.length)}</span>
      </button>
      <SearchBox ref={box} word={word} onWord={(q) => choose({ q: q || undefined })} onGo={onGo} />
      {word !== '' && (
        <>
          <span className={tools.found} role="status">
            {found === 0 ? 'not found' : `${whole(current)} of ${whole(found)}`}
          </span>
          <Button look="quiet" compact icon={ChevronUp} title="Previous match (N)" onClick={() => onGo(-1)}>
            Previous match
          </Button>
          <Button look="quiet" compact icon={ChevronDown} title="Next match (n)" onClick={() => onGo(1)}>
            Next match
          </Button>
        </>
      )}
      <Jump headSeq={headSeq} onJump={onJump} />
      <Button compact icon={Download} onClick={onExport} title="Save the shown events as NDJSON, one event per line">
        Save as NDJSON
      </Button>
    </search>
  )
}

function Types({ choice: { filter, chosen, choose } }: { choice: RawFilterChoice }) {
  const types = new Map(filter.types)
  for (const type of chosen) if (!types.has(type)) types.set(type, 0)
  const toggle = (type: string) => {
    const next = chosen.includes(type) ? chosen.filter((one) => one !== type) : [...chosen, type]
    choose({ types: next.length === 0 ? undefined : next.join(',') })
  }
  return (
    <fieldset className={`${tools.chips} ${css.types}`}>
      <legend className="visually-hidden">Types of events</legend>
      {[...types]
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([type, total]) => (
          <button
            key={type}
            type="button"
            className={tools.chip}
            aria-pressed={chosen.includes(type)}
            onClick={() => toggle(type)}
          >
            {plain(type)} <span className={tools.total}>{count(total)}</span>
          </button>
        ))}
    </fieldset>
  )
}

function Jump({ headSeq, onJump }: { headSeq: number; onJump: (seq: number) => void }) {
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const seq = Number(new FormData(event.currentTarget).get('seq'))
    if (Number.isSafeInteger(seq) && seq > 0) onJump(seq)
  }
  return (
    <form className={css.jump} onSubmit={onSubmit}>
      <label>
        <span className="visually-hidden">Go to the event with this number</span>
        <input name="seq" type="number" min={1} placeholder={`# 1–${headSeq}`} />
      </label>
    </form>
  )
}
