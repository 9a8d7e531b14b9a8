import { Hand, type LucideIcon, Pause, Play, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import type { FleetRow } from '~/store/fleet'
import { ACTIONS, type Action, applicable, needsAsking, wordsFor } from '~/store/selection'
import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import css from './FleetScreen.module.css'
import type { Bulk } from './use-bulk'

const LOOKS: Record<Action, { icon: LucideIcon; word: string; effect: string }> = {
  pause: { icon: Pause, word: 'Pause', effect: 'Freezes every process in them. No data is lost.' },
  resume: { icon: Play, word: 'Resume', effect: 'Resumes every process in them.' },
  interrupt: { icon: Hand, word: 'Interrupt', effect: 'The agents stop their current action. Files stay.' },
  end: { icon: Trash2, word: 'End', effect: 'All processes end and the server deletes the files. Timelines stay.' },
}

interface Props {
  readonly rows: readonly FleetRow[]
  readonly bulk: Bulk
  readonly onClear: () => void
}

/** Actions on the selected sandboxes. */
export function BulkBar({ rows, bulk, onClear }: Props) {
  const [asked, ask] = useState<Action>()
  const run = (action: Action) => void bulk.run(action, applicable(action, rows))
  if (rows.length === 0) return null
  return (
    <section className={css.bulk} aria-label="Selected sandboxes">
      <p role="status">
        <strong>{rows.length}</strong> selected
        {bulk.failures.size > 0 && <span className={css.failed}> · {bulk.failures.size} refused</span>}
      </p>
      {ACTIONS.map((action) => {
        const count = applicable(action, rows).length
        const { icon, word, effect } = LOOKS[action]
        return (
          <Button
            key={action}
            look={action === 'end' ? 'danger' : 'plain'}
            icon={icon}
            disabled={count === 0 || bulk.isBusy}
            title={count === 0 ? 'Not possible for the selected sandboxes' : effect}
            onClick={() => (needsAsking(action, count) ? ask(action) : run(action))}
          >
            {word}
            {count > 0 && count < rows.length ? ` ${count}` : ''}
          </Button>
        )
      })}
      <Button look="quiet" icon={X} onClick={onClear} title="Esc">
        Clear
      </Button>
      {asked && (
        <Confirm
          action={asked}
          count={applicable(asked, rows).length}
          onClose={() => ask(undefined)}
          onYes={() => run(asked)}
        />
      )}
    </section>
  )
}

interface ConfirmProps {
  readonly action: Action
  readonly count: number
  readonly onClose: () => void
  readonly onYes: () => void
}

function Confirm({ action, count, onClose, onYes }: ConfirmProps) {
  const [typed, setTyped] = useState('')
  const { word, effect } = LOOKS[action]
  const wanted = wordsFor(action, count)
  const isMeant = wanted === undefined || typed.trim() === wanted
  return (
    <Dialog title={count === 1 ? `${word} one sandbox?` : `${word} ${count} sandboxes?`} onClose={onClose}>
      <form
        method="dialog"
        className={css.confirm}
        onSubmit={(event) => {
          if (isMeant) onYes()
          else event.preventDefault()
        }}
      >
        <p>{effect}</p>
        {wanted !== undefined && (
          <label className={css.typed}>
            <span>
              Type <code>{wanted}</code> to continue
            </span>
            <input value={typed} autoComplete="off" onChange={(event) => setTyped(event.target.value)} />
          </label>
        )}
        <div className={css.answers}>
          <Button onClick={(event) => event.currentTarget.closest('dialog')?.close()}>Cancel</Button>
          <Button type="submit" look="danger" disabled={!isMeant}>
            {count === 1 ? `${word} it` : `${word} ${count}`}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
