import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, RotateCcwKey, Trash2, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { api, body } from '~/api/client'
import { sentence } from '~/api/problem'
import type { components } from '~/api/schema'
import { overdue } from '~/store/overdue'
import { Button } from '~/ui/Button'
import { Confirm } from '~/ui/Confirm'
import form from '~/ui/form.module.css'
import { plain, span } from '~/ui/format'
import { useNow } from '~/ui/now'
import { Section } from '~/ui/Section'
import { Failure, Skeleton } from '~/ui/States'
import css from './Admin.module.css'

type Sandbox = components['schemas']['ThreadSandbox']
type Deed = { readonly kind: 'end' | 'rotate'; readonly of: Sandbox }

const EVERY_MS = 5_000

/** All live sandboxes. Those that stay too long in a transient state come first. */
export function OverduePart() {
  const now = useNow()
  const { data, error, refetch } = useQuery({
    queryKey: ['admin', 'sandboxes'],
    queryFn: async () => (await body(api.GET('/admin/sandboxes'))).sandboxes,
    refetchInterval: EVERY_MS,
  })
  const [deed, setDeed] = useState<Deed>()
  const { act, problem } = useDeeds()
  const lines = (data ?? []).map((sandbox) => ({ sandbox, why: overdue(sandbox, now) }))
  const late = lines.filter((line) => line.why !== undefined)
  return (
    <Section
      title="Sandboxes"
      about="All live sandboxes, overdue ones first, then the oldest. The fleet shows their cost and activity."
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton rows={4} label="Loading the sandboxes" />}
      {data && late.length === 0 && (
        <p className={css.fine}>
          <CircleCheck size={16} aria-hidden />
          None is overdue, {data.length === 1 ? 'one live' : `${data.length} live`}.
        </p>
      )}
      {problem && (
        <p role="alert" className={form.problem}>
          {sentence(problem)}
        </p>
      )}
      <ul className={css.list}>
        {[...late, ...lines.filter((line) => line.why === undefined)].map(({ sandbox, why }) => (
          <Line key={sandbox.sandbox_id} sandbox={sandbox} why={why} now={now} onDeed={setDeed} />
        ))}
      </ul>
      {deed && <Question deed={deed} onClose={() => setDeed(undefined)} onConfirm={() => act(deed)} />}
    </Section>
  )
}

interface LineProps {
  readonly sandbox: Sandbox
  readonly why: string | undefined
  readonly now: number
  readonly onDeed: (deed: Deed) => void
}

function Line({ sandbox, why, now, onDeed }: LineProps) {
  const left = Date.parse(sandbox.expires_at) - now
  return (
    <li className={css.line}>
      <Link to="/console/sandboxes/$sandboxId" params={{ sandboxId: sandbox.sandbox_id }} className={css.who}>
        {plain(sandbox.thread_id)}
      </Link>
      <span className={css.quiet}>
        {sandbox.user_id} · {sandbox.state}, {span(now - Date.parse(sandbox.created_at))} old
        {left > 0 && ` · leased for ${span(left)}`}
      </span>
      {why && (
        <span className={css.late}>
          <TriangleAlert size={15} aria-hidden />
          {why}
        </span>
      )}
      <span className={css.actions}>
        <Button
          look="quiet"
          compact
          icon={RotateCcwKey}
          title="Revoke all tokens"
          onClick={() => onDeed({ kind: 'rotate', of: sandbox })}
        >
          {`Revoke all tokens of ${sandbox.thread_id}`}
        </Button>
        <Button look="quiet" compact icon={Trash2} title="End it" onClick={() => onDeed({ kind: 'end', of: sandbox })}>
          {`End ${sandbox.thread_id}`}
        </Button>
      </span>
    </li>
  )
}

function Question({ deed, onClose, onConfirm }: { deed: Deed; onClose: () => void; onConfirm: () => void }) {
  const name = plain(deed.of.thread_id)
  const isEnd = deed.kind === 'end'
  return (
    <Confirm
      title={isEnd ? `End ${name}?` : `Revoke all tokens of ${name}?`}
      keep={isEnd ? 'Keep it' : 'Keep them'}
      confirm={isEnd ? 'End it' : 'Revoke all'}
      onClose={onClose}
      onConfirm={onConfirm}
    >
      {isEnd
        ? 'All processes end and the server deletes the files. The timeline and the snapshots stay.'
        : 'The server revokes all tokens and closes their connections. API keys stay valid.'}
    </Confirm>
  )
}

function useDeeds() {
  const queries = useQueryClient()
  const { mutate, error } = useMutation({
    mutationFn: async ({ kind, of }: Deed) => {
      const params = { path: { sandbox_id: of.sandbox_id } }
      if (kind === 'end') await api.DELETE('/admin/sandboxes/{sandbox_id}', { params })
      else await api.POST('/admin/sandboxes/{sandbox_id}/rotate', { params })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['admin', 'sandboxes'] }),
  })
  return { act: mutate, problem: error }
}
