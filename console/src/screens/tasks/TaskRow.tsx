import { Trash2 } from 'lucide-react'
import { POLICY_CHOICES } from '~/store/policies'
import { Button } from '~/ui/Button'
import { Choose } from '~/ui/Choose'
import { Field } from '~/ui/Field'
import form from '~/ui/form.module.css'
import { plain } from '~/ui/format'
import { DeliveryFields, useOffersClone } from '../git/DeliveryFields'
import { useNode } from '../node/use-node'
import { needs } from '../spawn/ready'
import { PRIORITIES, TASK_RUNTIMES, type TaskDraft, type TaskRuntime, toggled } from './graph-draft'
import type { RowProblems } from './graph-request'
import css from './NewTasks.module.css'

const RUNTIME_WORDS: Readonly<Record<TaskRuntime, string>> = {
  claude: 'Claude',
  openhands: 'OpenHands',
  command: 'Command',
  worker: 'Worker outside of the server',
}

interface Props {
  readonly row: TaskDraft
  readonly others: readonly TaskDraft[]
  readonly problems: RowProblems
  readonly onChange: (part: Partial<TaskDraft>) => void
  /** Absent for the only row. */
  readonly onRemove?: () => void
}

export function TaskRow(props: Props) {
  const { row, onRemove } = props
  return (
    <li className={css.row}>
      <fieldset className={css.task}>
        <legend>{plain(row.name) || 'A task without a name'}</legend>
        <div className={css.first}>
          <Input {...props} name="name" label="Name" />
          <Input {...props} name="title" label="Title" placeholder="Build it" />
          <Runtime {...props} />
        </div>
        {row.runtime === 'command' && (
          <Input {...props} name="command" label="Program" placeholder="make test" isCode />
        )}
        <Input {...props} name="description" label="Description (optional)" lines={2} />
        <Dependencies {...props} />
        {row.runtime !== 'worker' && <Repository {...props} />}
        <div className={css.foot}>
          <More {...props} />
          {onRemove && (
            <Button look="quiet" icon={Trash2} className={css.remove} onClick={onRemove}>
              Remove<span className="visually-hidden"> {plain(row.name)}</span>
            </Button>
          )}
        </div>
      </fieldset>
    </li>
  )
}

interface InputProps extends Props {
  readonly name:
    | 'name'
    | 'title'
    | 'description'
    | 'command'
    | 'agentType'
    | 'timeout'
    | 'retries'
    | 'repository'
    | 'revision'
  readonly label: string
  readonly placeholder?: string
  readonly lines?: number
  readonly isCode?: boolean
}

function Input({ row, problems, onChange, name, label, placeholder, lines, isCode }: InputProps) {
  return (
    <Field label={label} problem={problems[name]}>
      {(control) => {
        const shared = {
          ...control,
          value: row[name],
          placeholder,
          className: isCode ? css.code : undefined,
          spellCheck: isCode ? false : undefined,
          onChange: ({ target }: { target: { value: string } }) => onChange({ [name]: target.value }),
        }
        return lines === undefined ? <input {...shared} autoComplete="off" /> : <textarea {...shared} rows={lines} />
      }}
    </Field>
  )
}

function Runtime({ row, problems, onChange }: Props) {
  const agents = useNode()?.agents
  return (
    <Field label="Runtime" problem={problems.runtime}>
      {(control) => (
        <select
          {...control}
          value={row.runtime}
          onChange={({ target }) => onChange({ runtime: TASK_RUNTIMES.find((one) => one === target.value) })}
        >
          {TASK_RUNTIMES.map((one) => (
            <option key={one} value={one} disabled={one !== 'worker' && needs(one, agents).length > 0}>
              {RUNTIME_WORDS[one]}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

function Dependencies({ row, others, problems, onChange }: Props) {
  if (others.length === 0 && problems.dependsOn === undefined) return null
  const problemId = `${row.key}-depends`
  return (
    <fieldset className={form.set} aria-describedby={problems.dependsOn ? problemId : undefined}>
      <legend>Depends on</legend>
      <div className={css.choices}>
        {others.map((other) => (
          <label key={other.key} className={css.choice}>
            <input
              type="checkbox"
              checked={row.dependsOn.includes(other.key)}
              aria-invalid={problems.dependsOn !== undefined && row.dependsOn.includes(other.key)}
              onChange={() => onChange({ dependsOn: toggled(row, other.key) })}
            />
            {plain(other.name)}
          </label>
        ))}
      </div>
      {problems.dependsOn && (
        <p id={problemId} className={css.problem}>
          {problems.dependsOn}
        </p>
      )}
    </fieldset>
  )
}

/** The repository that the server clones, if it has a credential for one. */
function Repository(props: Props) {
  const { row, problems, onChange } = props
  const names = ['repository', 'revision', 'credential', 'ticket', 'onSuccess'] as const
  if (!useOffersClone(row)) return null
  const isOpen = names.some((name) => row[name] !== '' || problems[name] !== undefined)
  return (
    <details className={css.more} open={isOpen || undefined}>
      <summary>Repository</summary>
      <div className={css.quartet}>
        <Input {...props} name="repository" label="Address" placeholder="https://github.com/you/project" />
        <Input {...props} name="revision" label="Base branch" placeholder="its default" />
        <DeliveryFields draft={row} problems={problems} without="Choose one" onChange={onChange} />
      </div>
    </details>
  )
}

function More(props: Props) {
  const { row, problems, onChange } = props
  const isOpen = [problems.agentType, problems.priority, problems.timeout, problems.retries, problems.guardian].some(
    Boolean,
  )
  return (
    <details className={css.more} open={isOpen || undefined}>
      <summary>Priority, limits, guardian and agent type</summary>
      <div className={css.quartet}>
        <Field label="Priority" problem={problems.priority}>
          {(control) => (
            <select
              {...control}
              value={row.priority}
              onChange={({ target }) => onChange({ priority: PRIORITIES.find((one) => one === target.value) })}
            >
              {PRIORITIES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
        </Field>
        <Input {...props} name="agentType" label="Agent type" placeholder="none" />
        <Input {...props} name="timeout" label="Time limit in minutes" placeholder="60" />
        <Input {...props} name="retries" label="Retries" placeholder="3" />
        {row.runtime !== 'worker' && (
          <Choose
            label="Guardian"
            value={row.guardian}
            options={POLICY_CHOICES}
            problem={problems.guardian}
            onChange={(guardian) => onChange({ guardian })}
          />
        )}
      </div>
    </details>
  )
}
