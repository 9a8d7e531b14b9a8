import { List, Workflow } from 'lucide-react'
import { useEffect, useId, useState } from 'react'
import type { TaskStatus } from '~/api/types'
import type { TaskFilter } from '~/store/task-watch'
import { TASK_STATUSES } from '~/store/tasks'
import { Button } from '~/ui/Button'
import { TASK_LOOKS } from '~/ui/TaskMark'
import css from './Tasks.module.css'

interface Props {
  readonly choice: TaskFilter
  /** Agent types to choose from. Others can be typed. */
  readonly types: readonly string[]
  readonly onChange: (part: { status?: TaskStatus; agent_type?: string }) => void
}

export function TaskTools({ choice: { status, agentType }, types, onChange }: Props) {
  const listId = useId()
  const [typed, setTyped] = useState(agentType ?? '')
  useEffect(() => setTyped(agentType ?? ''), [agentType])
  const choose = (type: string) => {
    const next = type.trim() || undefined
    if (next !== agentType) onChange({ agent_type: next })
  }
  return (
    <search className={css.tools} data-pane>
      <fieldset className={css.chips}>
        <legend className="visually-hidden">Status</legend>
        {TASK_STATUSES.map((one) => (
          <button
            key={one}
            type="button"
            className={css.chip}
            aria-pressed={status === one}
            onClick={() => onChange({ status: status === one ? undefined : one })}
          >
            {TASK_LOOKS[one].word}
          </button>
        ))}
      </fieldset>
      <label className={css.type}>
        Agent type
        <input
          type="search"
          list={listId}
          value={typed}
          placeholder="any"
          spellCheck={false}
          // A choice from the list counts at once, a typed word with Enter.
          onChange={({ target }) => {
            setTyped(target.value)
            if (target.value === '' || types.includes(target.value)) choose(target.value)
          }}
          onKeyDown={(event) => event.key === 'Enter' && choose(typed)}
          onBlur={() => choose(typed)}
        />
        <datalist id={listId}>
          {types.map((type) => (
            <option key={type} value={type} />
          ))}
        </datalist>
      </label>
    </search>
  )
}

interface ViewProps {
  readonly isPicture: boolean
  readonly onChange: (view: 'graph' | undefined) => void
}

/** The choice between the list and the graph. */
export function Views({ isPicture, onChange }: ViewProps) {
  return (
    <fieldset className={css.views}>
      <legend className="visually-hidden">View</legend>
      <Button look="quiet" icon={List} title="v" aria-pressed={!isPicture} onClick={() => onChange(undefined)}>
        List
      </Button>
      <Button look="quiet" icon={Workflow} title="v" aria-pressed={isPicture} onClick={() => onChange('graph')}>
        Graph
      </Button>
    </fieldset>
  )
}
