import { useNavigate, useRouteContext, useSearch } from '@tanstack/react-router'
import { ExternalLink, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { isAsleep } from '~/api/sandbox-state'
import type { Sandbox } from '~/api/types'
import { isPort } from '~/store/ports'
import { entrance, type PreviewPlace, placeOf } from '~/store/preview'
import { Button } from '~/ui/Button'
import button from '~/ui/Button.module.css'
import { Empty, Failure, Skeleton } from '~/ui/States'
import type { PanelProps } from '../sandbox/tabs'
import { Pane } from './Pane'
import { PortBar } from './PortBar'
import css from './PreviewPanel.module.css'
import { useAnswer, usePass } from './use-pass'

/** A port of the sandbox in a pane. No request is sent before the user selects a port. */
export function PreviewPanel({ sandbox, watch, actions }: PanelProps) {
  const given = useSearch({ from: '/frame/console/sandboxes/$sandboxId', select: (search) => search.port })
  const port = given !== undefined && isPort(given) ? given : undefined
  const navigate = useNavigate({ from: '/console/sandboxes/$sandboxId' })
  const [look, setLook] = useState(0)
  const isAwake = sandbox.state === 'running'
  const choose = (chosen: number) => {
    setLook(look + 1)
    void navigate({ search: { tab: 'preview', port: chosen } })
  }
  return (
    <div className={css.preview}>
      <PortBar
        key={port}
        sandbox={sandbox}
        events={watch.events.events}
        port={port}
        isAwake={isAwake}
        onChoose={choose}
      />
      {isAsleep(sandbox) ? (
        <Empty title={`The sandbox is ${sandbox.state}`}>
          <p>Resume it to open the preview.</p>
          <Button disabled={actions.resume.isPending} onClick={() => actions.resume.mutate()}>
            Resume
          </Button>
        </Empty>
      ) : !isAwake ? (
        <Empty title={sandbox.state === 'creating' ? 'The sandbox is being created' : 'The sandbox has ended'}>
          <p>No program listens on a port.</p>
        </Empty>
      ) : port === undefined ? (
        <Empty title="Which port?">
          <p>Enter the port of a program in the sandbox above.</p>
        </Empty>
      ) : (
        <Port key={port} sandbox={sandbox} port={port} look={look} onLook={() => setLook(look + 1)} />
      )}
    </div>
  )
}

interface PortProps {
  readonly sandbox: Sandbox
  readonly port: number
  readonly look: number
  readonly onLook: () => void
}

function Port({ sandbox, port, look, onLook }: PortProps) {
  const { session } = useRouteContext({ from: '/frame' })
  const place = placeOf(session.server.previews, location, sandbox.sandbox_id, port)
  const pass = usePass(sandbox, true)
  const token = pass.data?.token
  const answer = useAnswer(place.path, token, look)
  // A failed renewal does not close an open page.
  const refused = token === undefined ? pass.error : null
  const problem = refused ?? answer.error
  if (problem) return <Failure error={problem} onRetry={() => void (refused ? pass.refetch() : answer.refetch())} />
  if (token === undefined || answer.data === undefined) return <Skeleton rows={8} label="Connecting to the port" />
  if (!answer.data) return <Silence port={port} onRetry={onLook} />
  return (
    <>
      <div className={css.tools}>
        <p className={css.address}>
          <code>{place.framed === place.path ? location.origin + place.path : place.framed}/</code>
        </p>
        <Button icon={RefreshCw} onClick={onLook}>
          Reload
        </Button>
        <a
          className={`${button.button} ${button.plain ?? ''} ${css.link}`}
          href={entrance(place.host ?? place.path, token)}
          target="_blank"
          rel="noopener noreferrer"
        >
          <ExternalLink size={16} aria-hidden />
          Open in a new tab
        </a>
      </div>
      {place.framed === place.path && <Stranger place={place} />}
      <Pane key={look} place={place} token={token} title={`Port ${port} of the sandbox`} />
      <p className={css.note}>
        The preview is private. Your browser has a token for the ports of this sandbox in a cookie that scripts cannot
        read. The page renews the token while it is open. To give another user access, share the sandbox.
      </p>
    </>
  )
}

function Silence({ port, onRetry }: { port: number; onRetry: () => void }) {
  return (
    <Empty title={`No program listens on port ${port}`}>
      <p>
        Start a program in the sandbox that listens on <code>localhost</code>, such as{' '}
        <code>python3 -m http.server {port}</code>, then check again.
      </p>
      <Button icon={RefreshCw} onClick={onRetry}>
        Check again
      </Button>
    </Empty>
  )
}

function Stranger({ place }: { place: PreviewPlace }) {
  return (
    <p className={css.stranger}>
      This preview has the same address as the server, so the browser blocks the storage, cookies and requests of the
      page.{' '}
      {place.host === undefined
        ? 'To give it a separate host, start the server with a preview domain.'
        : 'Open it in a new tab, where it has a separate host.'}
    </p>
  )
}
