import type { ReactNode, Ref, RefObject } from 'react'
import type { Field } from './draft'
import type { Problems } from './request'
import css from './SpawnScreen.module.css'

const LABELS: Partial<Record<Field, string>> = {
  title: 'Task',
  description: 'Description',
  command: 'Program',
  model: 'Model',
  budget: 'Budget',
  timeLimit: 'Time limit',
  egress: 'Hosts',
  variables: 'Environment',
  cpus: 'CPUs',
  memory: 'Memory',
  processes: 'Processes',
  timeout: 'Ends when unused',
  image: 'Image',
  thread: 'Thread',
  user: 'Owner',
  resumeFrom: 'Conversation',
  repository: 'Repository',
}

interface Props {
  readonly ref: Ref<HTMLDivElement>
  readonly problems: Problems
  /** Problems without a field. */
  readonly whole: string | undefined
  readonly form: RefObject<HTMLFormElement | null>
  readonly children: ReactNode
}

/** Problems that prevent the submission, with links to their fields. */
export function ProblemList({ ref, problems, whole, form, children }: Props) {
  const entries = Object.entries(problems)
  const hasMore = Array.isArray(children) && children.some(Boolean)
  if (entries.length === 0 && whole === undefined && !hasMore) return null
  const goTo = (name: string) => {
    const field = form.current?.querySelector(`[data-field="${name}"]`)
    field?.closest('details')?.setAttribute('open', '')
    field?.querySelector<HTMLElement>('input, textarea, button')?.focus()
  }
  return (
    <div ref={ref} className={css.problems} role="alert" tabIndex={-1}>
      {whole && <p>{whole}</p>}
      {entries.map(([name, problem]) => (
        <p key={name}>
          <button type="button" className={css.goTo} onClick={() => goTo(name)}>
            {LABELS[name as Field] ?? name}: {problem}
          </button>
        </p>
      ))}
      {children}
    </div>
  )
}
