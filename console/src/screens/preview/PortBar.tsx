import { useMutation } from '@tanstack/react-query'
import { Radar } from 'lucide-react'
import { useState } from 'react'
import { api, body } from '~/api/client'
import { sentence } from '~/api/problem'
import type { LogEvent, Sandbox } from '~/api/types'
import { isPort, LIST_PORTS, listeningPorts, spokenPorts } from '~/store/ports'
import { Button } from '~/ui/Button'
import css from './PreviewPanel.module.css'

interface Props {
  readonly sandbox: Sandbox
  readonly events: readonly LogEvent[]
  readonly port: number | undefined
  readonly isAwake: boolean
  readonly onChoose: (port: number) => void
}

/** Selector of the port: typed, or one that a program mentioned or listens on. */
export function PortBar({ sandbox, events, port, isAwake, onChoose }: Props) {
  const [typed, setTyped] = useState(port === undefined ? '' : String(port))
  const [spoken] = useState(() => spokenPorts(events))
  const find = useFindPorts(sandbox.sandbox_id)
  const found = find.data ?? spoken
  return (
    <form
      className={css.bar}
      onSubmit={(event) => {
        event.preventDefault()
        if (isPort(Number(typed))) onChoose(Number(typed))
      }}
    >
      <label className={css.label}>
        Port
        <input
          className={css.field}
          inputMode="numeric"
          placeholder="3000"
          value={typed}
          onChange={(event) => setTyped(event.target.value.trim())}
        />
      </label>
      <Button type="submit" look="primary" disabled={!isAwake || !isPort(Number(typed))}>
        Show
      </Button>
      {found.map((each) => (
        <Button key={each} disabled={!isAwake} aria-pressed={each === port} onClick={() => onChoose(each)}>
          {each}
        </Button>
      ))}
      <Button
        look="quiet"
        icon={Radar}
        disabled={!isAwake || find.isPending}
        title="Runs a command in the sandbox. The timeline shows it"
        onClick={() => find.mutate()}
      >
        Find ports
      </Button>
      <span role="status" className={css.found}>
        {find.error ? sentence(find.error) : find.data?.length === 0 ? 'No program listens on a port.' : ''}
      </span>
    </form>
  )
}

function useFindPorts(sandboxId: string) {
  return useMutation({
    mutationFn: async () => {
      const params = { path: { sandbox_id: sandboxId } }
      const request = { command: LIST_PORTS, timeout: 10, detach: false, stream_stdin: false }
      const answer = await body(api.POST('/sandboxes/{sandbox_id}/exec', { params, body: request }))
      return typeof answer === 'object' && 'stdout' in answer ? listeningPorts(answer.stdout) : []
    },
  })
}
