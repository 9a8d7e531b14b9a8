import { Search } from 'lucide-react'
import type { Ref } from 'react'
import type { Status } from '~/api/types'
import { type FleetFilter, SORTS, type Sort } from '~/store/fleet-view'
import css from './FleetScreen.module.css'

const STATUSES: readonly { value: Status; word: string }[] = [
  { value: 'running', word: 'Running' },
  { value: 'paused', word: 'Paused' },
  { value: 'hibernated', word: 'Hibernated' },
  { value: 'failed', word: 'Failed' },
  { value: 'completed', word: 'Completed' },
  { value: 'terminated', word: 'Ended' },
]

const SORT_WORDS: Record<Sort, string> = {
  activity: 'Last activity',
  age: 'Newest',
  cost: 'Cost',
  title: 'Title',
  status: 'Status',
}

interface Props {
  readonly ref: Ref<HTMLInputElement>
  readonly choice: FleetFilter & { readonly ended: boolean }
  readonly onChange: (part: { q?: string; status?: Status; sort?: Sort; ended?: true }) => void
}

export function FleetTools({ ref, choice: { q, status, sort, ended }, onChange }: Props) {
  return (
    <search className={css.tools} data-pane>
      <label className={css.filter}>
        <Search size={16} aria-hidden />
        <span className="visually-hidden">Filter by title, thread, owner, runtime or id</span>
        <input
          ref={ref}
          type="search"
          value={q}
          placeholder="Filter by title, thread, owner…"
          onChange={(event) => onChange({ q: event.target.value || undefined })}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        />
      </label>
      <fieldset className={css.chips}>
        <legend className="visually-hidden">Status</legend>
        {STATUSES.map(({ value, word }) => (
          <button
            key={value}
            type="button"
            className={css.chip}
            aria-pressed={status === value}
            onClick={() => onChange({ status: status === value ? undefined : value })}
          >
            {word}
          </button>
        ))}
      </fieldset>
      <label className={css.ended}>
        <input
          type="checkbox"
          checked={ended}
          onChange={(event) => onChange({ ended: event.target.checked || undefined })}
        />
        Also ended
      </label>
      <label className={css.sort}>
        Order
        <select value={sort} onChange={(event) => onChange({ sort: SORTS.find((one) => one === event.target.value) })}>
          {SORTS.map((one) => (
            <option key={one} value={one}>
              {SORT_WORDS[one]}
            </option>
          ))}
        </select>
      </label>
    </search>
  )
}
