import { Link } from '@tanstack/react-router'
import { Ban, CircleCheck } from 'lucide-react'
import { deedOf, type Folded, isRefusal } from '~/store/audit'
import { plain } from '~/ui/format'
import { When } from '~/ui/When'
import css from './Admin.module.css'

/** Entries of the audit log, newest first. */
export function AuditList({ lines, isNarrow = false }: { lines: readonly Folded[]; isNarrow?: boolean }) {
  if (lines.length === 0) return null
  return (
    <ol className={css.list}>
      {lines.map((line) => (
        <AuditLine key={line.first.seq} line={line} isNarrow={isNarrow} />
      ))}
    </ol>
  )
}

function AuditLine({ line: { entry, times }, isNarrow }: { line: Folded; isNarrow: boolean }) {
  const isRefused = isRefusal(entry)
  const Icon = isRefused ? Ban : CircleCheck
  return (
    <li className={css.entry} data-refused={isRefused || undefined}>
      <span className={css.mark} title={`Answered with ${entry.outcome}`}>
        <Icon size={15} aria-hidden />
        {isRefused ? entry.outcome : <span className="visually-hidden">done</span>}
      </span>
      <strong className={css.who}>{plain(entry.sub ?? 'a stranger')}</strong>
      <span>{deedOf(entry)}</span>
      {times > 1 && <span className={css.times}>{times} times</span>}
      <span className={css.when}>
        <When at={entry.at} />
      </span>
      <span className={css.what}>
        <code>{entry.route}</code>
        {entry.detail && <span>{plain(entry.detail)}</span>}
        {entry.scope && <span>with {entry.scope}</span>}
        {entry.jti && <code>{entry.jti}</code>}
        {!isNarrow && entry.aud && (
          <Link to="/console/sandboxes/$sandboxId" params={{ sandboxId: entry.aud }}>
            {entry.aud}
          </Link>
        )}
        {!isNarrow && entry.thread_id && <span>thread {plain(entry.thread_id)}</span>}
      </span>
    </li>
  )
}
