import { useSearch } from '@tanstack/react-router'
import { useId, useMemo, useState } from 'react'
import type { LogEvent } from '~/api/types'
import { type Moment, moments } from '~/store/moments'
import { clock, plain } from '~/ui/format'
import { useGoTo } from './ChangesPanel'
import css from './ChangesPanel.module.css'

interface Props {
  readonly which: 'from' | 'to'
  readonly events: readonly LogEvent[]
  readonly visit: number | undefined
}

const ANOTHER = 'another'
const END = 'end'

/** Selector of a moment: the start, now, the last visit, a notable event, or an event by number. */
export function MomentPicker({ which, events, visit }: Props) {
  const chosen = useSearch({ from: '/frame/console/sandboxes/$sandboxId', select: (search) => search[which] })
  const goTo = useGoTo()
  const [isNumbered, setNumbered] = useState(false)
  const id = useId()
  // The list is built when the screen opens, so that it does not move while a user chooses.
  const [known] = useState(() => moments(events))
  const isKnown = typeof chosen === 'number' && known.some((moment) => moment.seq === chosen)
  const value = isNumbered || (typeof chosen === 'number' && !isKnown) ? ANOTHER : String(chosen ?? END)

  const choose = (picked: string) => {
    setNumbered(picked === ANOTHER)
    if (picked === ANOTHER) return
    const moment = picked === END ? undefined : picked === 'visit' ? 'visit' : Number(picked)
    goTo(which === 'from' ? { from: moment } : { to: typeof moment === 'number' ? moment : undefined })
  }
  return (
    <div className={css.moment}>
      <label htmlFor={id}>{which === 'from' ? 'From' : 'To'}</label>
      <select id={id} className={css.select} value={value} onChange={(event) => choose(event.target.value)}>
        <option value={END}>{which === 'from' ? 'the start' : 'now'}</option>
        {(visit !== undefined || chosen === 'visit') && <option value="visit">my last visit</option>}
        <option value={ANOTHER}>event by number…</option>
        <Remembered known={known} />
      </select>
      {value === ANOTHER && (
        <input
          type="number"
          className={css.number}
          min={1}
          aria-label={which === 'from' ? 'From the event' : 'To the event'}
          placeholder="event"
          defaultValue={typeof chosen === 'number' ? chosen : undefined}
          onChange={(event) => {
            const seq = event.target.valueAsNumber
            if (Number.isSafeInteger(seq) && seq > 0) goTo(which === 'from' ? { from: seq } : { to: seq })
          }}
        />
      )}
    </div>
  )
}

function Remembered({ known }: { known: readonly Moment[] }) {
  const options = useMemo(
    () =>
      known.map((moment) => (
        <option key={moment.seq} value={moment.seq}>
          {`#${moment.seq} ${clock(moment.at)} ${plain(moment.words)}`}
        </option>
      )),
    [known],
  )
  return options.length > 0 ? <optgroup label="After the event">{options}</optgroup> : null
}
