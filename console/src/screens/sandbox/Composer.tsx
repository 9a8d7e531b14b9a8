import { Link } from '@tanstack/react-router'
import { Hand, SendHorizontal, Signpost } from 'lucide-react'
import { type KeyboardEvent, useId, useMemo, useRef } from 'react'
import { sentence } from '~/api/problem'
import type { Sandbox, Status } from '~/api/types'
import { useShortcuts } from '~/keys/shortcuts'
import { isReachable, type LiveState } from '~/live/state'
import { Button } from '~/ui/Button'
import { useWords } from '~/ui/use-words'
import css from './Composer.module.css'
import type { Actions, Speech } from './use-actions'
import { useMay } from './use-may'

const EFFECT =
  'Send delivers a message to the agent. Guide delivers advice before its next tool call. Interrupt stops its current action; files stay.'

const SPEAKABLE: ReadonlySet<Status> = new Set(['creating', 'running', 'paused'])

interface Props {
  readonly sandbox: Sandbox
  readonly state: LiveState
  readonly actions: Actions
}

/** Message box for the agent. A refused message stays in the box. */
export function Composer({ sandbox, state, actions }: Props) {
  const [words, setWords] = useWords(`message:${sandbox.sandbox_id}`)
  const box = useRef<HTMLTextAreaElement>(null)
  const effectId = useId()
  const may = useMay(sandbox)
  const why = isReachable(state) ? undefined : 'The server cannot be reached now.'
  const { mutate, isPending, error } = actions.say
  const isBlocked = why !== undefined || isPending || !SPEAKABLE.has(sandbox.status) || !may('process')

  const say = (type: Speech) => {
    const content = words.trim() || (type === 'interrupt' ? 'Stop what you are doing.' : '')
    if (isBlocked || content === '') return
    mutate({ content, type }, { onSuccess: () => setWords('') })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey || event.altKey)) return
    event.preventDefault()
    say(event.altKey ? 'guidance' : 'user_message')
  }
  useComposerKeys(box, () => say('interrupt'))

  if (sandbox.run === undefined) return null
  if (!may('process'))
    return <p className={css.over}>You have read access. To message the agent, you need the scope process.</p>
  if (!SPEAKABLE.has(sandbox.status)) return <Over sandboxId={sandbox.sandbox_id} />
  return (
    <form className={css.composer} onSubmit={(event) => event.preventDefault()}>
      <textarea
        ref={box}
        className={css.box}
        rows={2}
        value={words}
        placeholder="Message the agent"
        aria-label="Message to the agent"
        aria-describedby={effectId}
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {error && (
        <p role="alert" className={css.problem}>
          {sentence(error)}
        </p>
      )}
      <div className={css.bar}>
        <p id={effectId} className={css.effect}>
          {why ?? EFFECT}
        </p>
        <Button icon={Hand} disabled={isBlocked} title="Ctrl ." onClick={() => say('interrupt')}>
          Interrupt
        </Button>
        <Button icon={Signpost} disabled={isBlocked || !words.trim()} title="Alt Enter" onClick={() => say('guidance')}>
          Guide
        </Button>
        <Button
          look="primary"
          icon={SendHorizontal}
          disabled={isBlocked || !words.trim()}
          title="Ctrl Enter"
          onClick={() => say('user_message')}
        >
          Send
        </Button>
      </div>
    </form>
  )
}

function Over({ sandboxId }: { sandboxId: string }) {
  return (
    <p className={css.over}>
      The run has ended: no agent reads messages.{' '}
      <Link to="/console/spawn" search={{ from: sandboxId }}>
        Continue in a new sandbox
      </Link>
    </p>
  )
}

function useComposerKeys(box: React.RefObject<HTMLTextAreaElement | null>, interrupt: () => void): void {
  const latest = useRef(interrupt)
  latest.current = interrupt
  useShortcuts(
    'Agent',
    useMemo(
      () => [
        { keys: 'm', does: 'Write to the agent', run: () => box.current?.focus() },
        { keys: 'Mod+.', does: 'Interrupt it', run: () => latest.current() },
      ],
      [box],
    ),
  )
}
