import { Eye, ListTree, Plus, TerminalSquare, Users } from 'lucide-react'
import { type KeyboardEvent, type MouseEvent, useRef } from 'react'
import { sentence } from '~/api/problem'
import type { Participant } from '~/live/shell-messages'
import type { Shell, Shells } from '~/store/shells'
import { Button } from '~/ui/Button'
import { plain } from '~/ui/format'
import css from './ShellTabs.module.css'
import { COMMANDS } from './TerminalPanel'
import { enterTerminal } from './terminal-keys'
import type { OpenShell } from './use-open-shell'

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 }

interface Props {
  readonly shells: Shells
  readonly chosen: string | undefined
  readonly onChoose: (id: string) => void
  readonly opening: OpenShell
  readonly isAlive: boolean
}

/** One tab for each shell, and one for commands. */
export function ShellTabs({ shells, chosen, onChoose, opening, isAlive }: Props) {
  const bar = useRef<HTMLDivElement>(null)
  const tabs = isAlive ? shells.tabs : []
  const places = [COMMANDS, ...tabs.map((tab) => tab.session_id)]
  const reachable = places.includes(chosen ?? '') ? chosen : COMMANDS

  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = places[(places.indexOf(reachable ?? '') + step + places.length) % places.length]
    if (next === undefined) return
    onChoose(next)
    bar.current?.querySelector<HTMLElement>(`#shell-${next}`)?.focus()
  }
  const tab = (id: string) => ({
    id: `shell-${id}`,
    role: 'tab',
    type: 'button' as const,
    className: css.tab,
    'aria-selected': id === chosen,
    'aria-controls': id === chosen ? `panel-${id}` : undefined,
    tabIndex: id === reachable ? 0 : -1,
    onClick: (event: MouseEvent) => {
      onChoose(id)
      // Enter on a tab moves the focus into the terminal.
      if (id === chosen && event.detail === 0) enterTerminal(id)
    },
  })

  return (
    <div className={css.bar}>
      <div ref={bar} className={css.tabs} role="tablist" aria-label="Shells" onKeyDown={onKeyDown}>
        <button {...tab(COMMANDS)}>
          <ListTree size={15} aria-hidden />
          Commands
        </button>
        {tabs.map((shell) => (
          <button key={shell.session_id} {...tab(shell.session_id)} title={shell.command && plain(shell.command)}>
            <TerminalSquare size={15} aria-hidden />
            {plain(shells.nameOf(shell.session_id))}
            <Standing shell={shell} people={shells.peopleOf(shell)} isIn={shells.isIn(shell.session_id)} />
          </button>
        ))}
      </div>
      {isAlive && !opening.isRefused && (
        <Button
          look="quiet"
          icon={Plus}
          compact
          title="Open a shell"
          disabled={opening.isPending}
          onClick={opening.open}
        >
          Open a shell
        </Button>
      )}
      {opening.error && places.includes(chosen ?? '') && (
        <p role="alert" className={css.problem}>
          {opening.isRefused ? 'You may watch shells here, but not open one.' : sentence(opening.error)}
        </p>
      )}
    </div>
  )
}

interface StandingProps {
  readonly shell: Shell
  readonly people: readonly Participant[]
  readonly isIn: boolean
}

/** Mark of an ended shell, or of other participants. */
function Standing({ shell, people, isIn }: StandingProps) {
  if (!shell.running) return <span className={css.ended}>ended</span>
  if (people.length <= (isIn ? 1 : 0)) return null
  const Icon = people.every((who) => who.role === 'watcher') ? Eye : Users
  return (
    <span className={css.people} title={people.map((who) => who.user_id).join(', ')}>
      <Icon size={13} aria-hidden />
      {people.length}
      <span className="visually-hidden">{people.length === 1 ? ' person' : ' people'}</span>
    </span>
  )
}
