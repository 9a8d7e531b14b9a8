import { Link } from '@tanstack/react-router'
import { Shield, Users } from 'lucide-react'
import type { GuardAct, GuardRow } from '~/store/rows'
import { plain, whole } from '~/ui/format'
import css from './rows.module.css'

const MOST_LINKS = 5

const WORDS: Readonly<Record<GuardAct, string>> = {
  observed: 'Guardian observed',
  nudged: 'Guardian sent a message',
  paused: 'Guardian paused the run',
  stopped: 'Guardian stopped the run',
  judged: 'Judgement of a model',
  report: 'Report of the conductor',
}

/** A note of the guardian or the conductor, with links to the events that show the pattern. */
export function GuardPart({ row }: { row: GuardRow }) {
  const Icon = row.by === 'conductor' ? Users : Shield
  return (
    <div className={css.guard} data-act={row.act}>
      <p className={css.by}>
        <Icon size={14} aria-hidden />
        {WORDS[row.act]}
        {row.rule && <span className={css.tag}>{plain(row.rule)}</span>}
      </p>
      {row.text && <p className={css.guardText}>{plain(row.text)}</p>}
      <Evidence of={row.evidence} />
      {row.outcome && (
        <p className={css.aside}>{row.outcome.hasEnded ? 'The pattern ended.' : 'The pattern continued.'}</p>
      )}
    </div>
  )
}

function Evidence({ of }: { of: readonly number[] }) {
  if (of.length === 0) return null
  return (
    <p className={css.aside}>
      {of.length === 1 ? 'Event' : 'Events'}{' '}
      {of.slice(-MOST_LINKS).map((seq, index) => (
        <span key={seq}>
          {index > 0 && ', '}
          <Link
            from="/console/sandboxes/$sandboxId"
            to="."
            search={(before) => ({ ...before, at: seq })}
            title={`Event ${whole(seq)}`}
          >
            {whole(seq)}
          </Link>
        </span>
      ))}
      {of.length > MOST_LINKS && ` and ${whole(of.length - MOST_LINKS)} before them`}
    </p>
  )
}
