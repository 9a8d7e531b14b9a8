import type { Run } from '~/api/types'
import { Clamp } from '~/ui/Clamp'
import { plain } from '~/ui/format'
import { Prose } from '~/ui/Prose'
import css from './TaskText.module.css'

/** Titles up to this length fit the header of the page. */
const FITS = 90

/** The text of the task, above the timeline. */
export function TaskText({ run }: { run: Run }) {
  const { task } = run
  if (task === undefined) return null
  const isLong = task.title.length > FITS
  const context = Object.entries(task.context).filter(([, value]) => typeof value === 'string')
  if (!isLong && task.description === '' && context.length === 0) return null
  return (
    <section className={css.task} aria-label="Task">
      <Clamp lines={4} of="task">
        <div className={css.parts}>
          {isLong && <p>{plain(task.title)}</p>}
          {task.description !== '' && <Prose>{task.description}</Prose>}
          {context.map(([name, value]) => (
            <p key={name}>
              <strong>{label(name)}:</strong> {plain(String(value))}
            </p>
          ))}
        </div>
      </Clamp>
    </section>
  )
}

/** `done_when` as people write it: `Done when`. */
function label(name: string): string {
  const words = plain(name).replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
