import { POLICY_CHOICES } from '~/store/policies'
import { Choose } from '~/ui/Choose'
import { Field } from '~/ui/Field'
import { DeliveryFields } from '../git/DeliveryFields'
import type { Node } from '../node/use-node'
import type { Draft, Field as Name } from './draft'
import { Runtimes } from './Runtimes'
import { needs } from './ready'
import { hosts, isClonedByServer, type Problems, repositoryHost } from './request'
import css from './SpawnScreen.module.css'
import { Variables } from './Variables'

interface Props {
  readonly draft: Draft
  readonly problems: Problems
  readonly node: Node | undefined
  /** Whether the user may name another owner. */
  readonly me: { readonly userId: string; readonly isAdmin: boolean }
  readonly onChange: (part: Partial<Draft>) => void
}

/** All options. An empty field uses the default of the server. */
export function SpawnForm(props: Props) {
  const { draft, problems, onChange } = props
  return (
    <>
      <Runtimes
        value={draft.runtime}
        needsOf={(runtime) => needs(runtime, props.node?.agents, draft.image)}
        onChange={(runtime) => onChange({ runtime, ...threadFor(runtime, draft) })}
      />
      {draft.runtime !== 'none' && <Task {...props} />}
      {draft.runtime !== 'none' && <Agent {...props} />}
      {draft.runtime === 'none' && <Place {...props} />}
      <Network {...props} />
      <Variables
        variables={draft.variables}
        problem={problems.variables}
        onChange={(variables) => onChange({ variables })}
      />
      <Limits {...props} />
      {draft.runtime !== 'none' && (
        <Section title="Thread and owner" isOpen={isFilled(props, ['thread', 'user', 'resumeFrom'])}>
          <Place {...props} />
        </Section>
      )}
    </>
  )
}

/** A sandbox without a run needs a thread name. Proposes a name of a hibernatable sandbox. */
function threadFor(runtime: Draft['runtime'], draft: Draft): Partial<Draft> {
  if (runtime !== 'none' || draft.thread.trim() !== '') return {}
  return { thread: `box-${crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36) ?? '1'}` }
}

function isFilled({ draft, problems }: Props, names: readonly Name[]): boolean {
  return names.some((name) => draft[name] !== '' || problems[name] !== undefined)
}

function Section({ title, isOpen, children }: { title: string; isOpen: boolean; children: React.ReactNode }) {
  // Opened only here, never closed: the user closes it.
  return (
    <details className={css.section} open={isOpen || undefined}>
      <summary>{title}</summary>
      <div className={css.fields}>{children}</div>
    </details>
  )
}

interface InputProps extends Props {
  readonly name: Exclude<Name, 'variables' | 'runtime'>
  readonly label: string
  readonly hint?: React.ReactNode
  readonly placeholder?: string
  readonly rows?: number
  readonly isNumber?: boolean
}

function Input({ draft, problems, onChange, name, label, hint, placeholder, rows, isNumber }: InputProps) {
  const change = (value: string) => onChange({ [name]: value })
  return (
    <Field label={label} hint={hint} problem={problems[name]} name={name}>
      {(control) =>
        rows === undefined ? (
          <input
            {...control}
            value={draft[name]}
            placeholder={placeholder}
            inputMode={isNumber ? 'decimal' : undefined}
            autoComplete="off"
            onChange={(event) => change(event.target.value)}
          />
        ) : (
          <textarea
            {...control}
            rows={rows}
            value={draft[name]}
            placeholder={placeholder}
            onChange={(event) => change(event.target.value)}
          />
        )
      }
    </Field>
  )
}

function Task(props: Props) {
  const { draft } = props
  return (
    <div className={css.fields}>
      <Input {...props} name="title" label="Task" placeholder="Fix the failing test" />
      <Input {...props} name="description" label="Description (optional)" rows={4} />
      <Input
        {...props}
        name="doneWhen"
        label="Done when (optional)"
        placeholder="make test passes, and the change is committed"
      />
      <div className={css.pair}>
        <Input
          {...props}
          name="repository"
          label="Repository (optional)"
          placeholder="https://github.com/you/project.git"
          hint={repositoryHint(draft)}
        />
        <Input
          {...props}
          name="revision"
          label={isClonedByServer(draft) ? 'Base branch' : 'Branch or commit'}
          placeholder="its default"
        />
      </div>
      <div className={css.trio}>
        <DeliveryFields
          draft={draft}
          problems={props.problems}
          without="None: the agent clones it"
          onChange={props.onChange}
        />
      </div>
      {draft.runtime === 'command' && (
        <Input
          {...props}
          name="command"
          label="Program"
          rows={2}
          placeholder="python3 agent.py --fast"
          hint="Split into words as by a shell, without expansion. For $HOME or pipes, use bash -c '…'."
        />
      )}
    </div>
  )
}

function repositoryHint(draft: Draft): string {
  const host = repositoryHost(draft.repository)
  if (isClonedByServer(draft)) return 'The server clones the repository and keeps the credential.'
  return host === undefined
    ? 'The agent gets the address and clones the repository itself.'
    : `The agent gets the address and clones the repository itself; ${host} is added to the allowed hosts.`
}

function Agent(props: Props) {
  const { draft, problems, onChange } = props
  return (
    <div className={css.trio}>
      <Input {...props} name="model" label="Model" placeholder="default of the agent" />
      <Input {...props} name="budget" label="Budget in $" placeholder="none" isNumber />
      <Input {...props} name="timeLimit" label="Time limit in minutes" placeholder="a day" isNumber />
      <Choose
        name="guardian"
        label="Guardian"
        value={draft.guardian}
        options={POLICY_CHOICES}
        problem={problems.guardian}
        onChange={(guardian) => onChange({ guardian })}
      />
    </div>
  )
}

function Network(props: Props) {
  const { draft, onChange } = props
  const all = hosts(draft)
  return (
    <div className={css.fields}>
      <Input
        {...props}
        name="egress"
        label="Allowed hosts (optional)"
        rows={2}
        placeholder="packages.example.com *.example.org"
        hint={
          all.length === 0
            ? 'A sandbox has no network, and reaches models through the server. Separate hosts with spaces.'
            : `Allowed hosts: ${all.join(', ')}.`
        }
      />
      <div className={css.presets}>
        {PRESETS.map(([name, words]) => (
          <button
            key={name}
            type="button"
            className={css.preset}
            onClick={() => onChange({ egress: `${draft.egress} ${words}`.trim() })}
          >
            + {name}
          </button>
        ))}
      </div>
    </div>
  )
}

const PRESETS = [
  ['Python packages', 'pypi.org files.pythonhosted.org'],
  ['npm', 'registry.npmjs.org'],
  ['GitHub', 'github.com *.githubusercontent.com'],
  ['Maven Central', 'repo.maven.apache.org'],
] as const

function Limits(props: Props) {
  const { node } = props
  const most = (value: number | undefined, unit = '') => (value === undefined ? '' : `${value}${unit} at most`)
  return (
    <Section title="Limits and image" isOpen={isFilled(props, ['cpus', 'memory', 'processes', 'timeout', 'image'])}>
      <div className={css.trio}>
        <Input {...props} name="cpus" label="CPUs" placeholder={most(node?.limits.cpus)} isNumber />
        <Input {...props} name="memory" label="Memory in MB" placeholder={most(node?.limits.memory_mb)} isNumber />
        <Input {...props} name="processes" label="Processes" placeholder={most(node?.limits.processes)} isNumber />
      </div>
      <div className={css.pair}>
        <Input
          {...props}
          name="timeout"
          label="Ends when unused for, in minutes"
          placeholder={most(node?.most_timeout_minutes)}
          isNumber
        />
        <Input {...props} name="image" label="Image" placeholder={node?.image ?? 'default of the server'} />
      </div>
      {node && <p className={css.note}>Disk: {node.limits.disk_mb} MB.</p>}
    </Section>
  )
}

function Place(props: Props) {
  const { draft, me } = props
  return (
    <div className={css.fields}>
      <Input
        {...props}
        name="thread"
        label={draft.runtime === 'none' ? 'Thread' : 'Thread (optional)'}
        placeholder="a new one"
        hint="The conversation of the sandbox. A thread has one sandbox; a run on this thread uses it."
      />
      {me.isAdmin && <Input {...props} name="user" label="Owner" placeholder={me.userId} />}
      {draft.runtime !== 'none' && (
        <Input
          {...props}
          name="resumeFrom"
          label="Continue the conversation of"
          placeholder="sbx…"
          hint="A sandbox with an ended run. The new run gets its conversation, but not its files."
        />
      )}
    </div>
  )
}
