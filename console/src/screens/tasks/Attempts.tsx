import { Link } from '@tanstack/react-router'
import { Trophy } from 'lucide-react'
import type { Task, TaskAttempt } from '~/api/types'
import { type Place, placeOf } from '~/store/task-view'
import { Clamp } from '~/ui/Clamp'
import { moment, money, plain, took } from '~/ui/format'
import { useNow } from '~/ui/now'
import { Section } from '~/ui/Section'
import { TaskMark } from '~/ui/TaskMark'
import { Fact } from './Fact'
import css from './Task.module.css'

/** All attempts side by side, the first one first. Those of a race run at the same time. */
export function Attempts({ task: { attempts, max_retries: maxRetries, race } }: { task: Task }) {
  return (
    <Section title={race ? 'Race' : 'Attempts'} about={race && <About race={race} />}>
      {attempts.length === 0 && <p className={css.quiet}>No attempt yet. {expected(race, maxRetries)}</p>}
      <ol className={css.attempts}>
        {attempts.map((attempt) => (
          <Attempt key={attempt.attempt} attempt={attempt} place={race && placeOf(attempt)} />
        ))}
      </ol>
    </Section>
  )
}

function About({ race }: { race: NonNullable<Task['race']> }) {
  return (
    <>
      {race.attempts} attempts at the same time. The first one that passes <code>{plain(race.check.join(' '))}</code>{' '}
      wins.
    </>
  )
}

function expected(race: Task['race'], maxRetries: number): string {
  return race ? `${race.attempts} start at the same time.` : `At most ${maxRetries + 1} follow.`
}

function Attempt({ attempt, place }: { attempt: TaskAttempt; place: Place | undefined }) {
  const { sandbox_id: sandboxId, run_id: runId } = attempt
  return (
    <li
      className={css.attempt}
      data-status={attempt.status}
      data-place={place}
      aria-label={`Attempt ${attempt.attempt}`}
    >
      <div className={css.attemptHead}>
        <h3>Attempt {attempt.attempt}</h3>
        {place === 'won' && <Won />}
        {place === 'lost' && <span className={css.quiet}>Lost</span>}
        {place !== 'lost' && <TaskMark status={attempt.status} />}
      </div>
      <dl className={css.facts}>
        <Fact name="Run">{runId && <code>{runId}</code>}</Fact>
        <Fact name="Sandbox">{sandboxId && <code>{sandboxId}</code>}</Fact>
        <Fact name="Worker">{attempt.worker && plain(attempt.worker)}</Fact>
        <Fact name="Started">{moment(attempt.started_at)}</Fact>
        <Fact name="Ended">{attempt.ended_at && moment(attempt.ended_at)}</Fact>
        <Fact name="Took">
          <Length attempt={attempt} />
        </Fact>
        <Fact name="Cost">{money(attempt.cost_usd)}</Fact>
        <Fact name="Error">{errorOf(attempt)}</Fact>
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

function Won() {
  return (
    <span className={css.won}>
      <Trophy size={15} aria-hidden />
      Won
    </span>
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
