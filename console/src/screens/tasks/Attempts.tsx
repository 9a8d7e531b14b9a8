import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { TaskAttempt } from '~/api/types'
import { Clamp } from '~/ui/Clamp'
import { moment, money, plain, took } from '~/ui/format'
import { useNow } from '~/ui/now'
import { Section } from '~/ui/Section'
import { TaskMark } from '~/ui/TaskMark'
import css from './Task.module.css'

/** All attempts side by side, the first one first. */
export function Attempts({ attempts, maxRetries }: { attempts: readonly TaskAttempt[]; maxRetries: number }) {
  return (
    <Section title="Attempts">
      {attempts.length === 0 && <p className={css.quiet}>No attempt yet. At most {maxRetries + 1} follow.</p>}
      <ol className={css.attempts}>
        {attempts.map((attempt) => (
          <Attempt key={attempt.attempt} attempt={attempt} />
        ))}
      </ol>
    </Section>
  )
}

function Attempt({ attempt }: { attempt: TaskAttempt }) {
  const { sandbox_id: sandboxId, run_id: runId } = attempt
  return (
    <li className={css.attempt} data-status={attempt.status} aria-label={`Attempt ${attempt.attempt}`}>
      <div className={css.attemptHead}>
        <h3>Attempt {attempt.attempt}</h3>
        <TaskMark status={attempt.status} />
      </div>
      <dl className={css.facts}>
        <Line name="Run">{runId && <code>{runId}</code>}</Line>
        <Line name="Sandbox">{sandboxId && <code>{sandboxId}</code>}</Line>
        <Line name="Worker">{attempt.worker && plain(attempt.worker)}</Line>
        <Line name="Started">{moment(attempt.started_at)}</Line>
        <Line name="Ended">{attempt.ended_at && moment(attempt.ended_at)}</Line>
        <Line name="Took">
          <Length attempt={attempt} />
        </Line>
        <Line name="Cost">{money(attempt.cost_usd)}</Line>
        <Line name="Error">{errorOf(attempt)}</Line>
      </dl>
      {attempt.error_message && (
        <Clamp lines={6} of={`error of attempt ${attempt.attempt}`} isCode>
          {plain(attempt.error_message.trim())}
        </Clamp>
      )}
      {sandboxId && (
        <Link to="/console/sandboxes/$sandboxId" params={{ sandboxId }}>
          Open the run<span className="visually-hidden"> of attempt {attempt.attempt}</span>
        </Link>
      )}
    </li>
  )
}

function errorOf({ error_class: kind, error_code: code }: TaskAttempt): string | undefined {
  return kind && [kind, code && plain(code)].filter(Boolean).join(', ')
}

function Length({ attempt }: { attempt: TaskAttempt }) {
  const now = useNow()
  const end = attempt.ended_at === undefined ? now : Date.parse(attempt.ended_at)
  return took(Math.max(0, end - Date.parse(attempt.started_at)))
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  if (!children) return null
  return (
    <div className={css.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
