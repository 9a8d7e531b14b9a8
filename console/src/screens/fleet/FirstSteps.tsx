import { Link } from '@tanstack/react-router'
import { CopyButton } from '~/ui/CopyButton'
import css from './FirstSteps.module.css'

const CURL = `curl ${location.origin}/api/v1/sandboxes \\
  -H "Authorization: Bearer $VIV_API_KEY" \\
  --json '{"runtime": "command",
    "task": {"title": "Say hello"},
    "command": ["echo", "hello"]}'`

const STEPS = [
  { title: 'Open a terminal', effect: 'Starts a sandbox for the thread.', command: 'viv shell my-thread' },
  { title: 'Start an agent', effect: 'It works in its own sandbox.', command: 'viv run "Fix the failing test"' },
  { title: 'Use the API', effect: 'The agent can be any program.', command: CURL },
] as const

/** First steps on an empty server. */
export function FirstSteps() {
  return (
    <section className={css.box} aria-labelledby="first-steps">
      <h2 id="first-steps">No sandbox yet</h2>
      <p className={css.intro}>
        <Link to="/console/spawn">Start one here</Link>, or from your terminal:
      </p>
      <ol className={css.steps}>
        {STEPS.map(({ title, effect, command }, index) => (
          <li key={title} className={css.step}>
            <span className={css.number} aria-hidden>
              {index + 1}
            </span>
            <div className={css.what}>
              <h3>{title}</h3>
              <p>{effect}</p>
            </div>
            <div className={css.copy}>
              <CopyButton text={command} />
            </div>
            <pre className={css.command}>{command}</pre>
          </li>
        ))}
      </ol>
    </section>
  )
}
