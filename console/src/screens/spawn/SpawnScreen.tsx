import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useRouteContext, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react'
import { api, body } from '~/api/client'
import { useShortcuts } from '~/keys/shortcuts'
import { Button } from '~/ui/Button'
import { plain } from '~/ui/format'
import { Skeleton } from '~/ui/States'
import { useNode } from '../node/use-node'
import { CodePane } from './CodePane'
import { snippets } from './code'
import { continued } from './continued'
import { type Draft, EMPTY, forget, keep, kept } from './draft'
import { ProblemList } from './ProblemList'
import { startable } from './ready'
import { check, type Problems, wanted } from './request'
import { SpawnForm } from './SpawnForm'
import css from './SpawnScreen.module.css'
import { refused, useSpawn } from './use-spawn'

/** Starts an agent or a sandbox by the form, or shows the form as code. */
export function SpawnScreen() {
  const { from } = useSearch({ from: '/frame/console/spawn' })
  const { data, isPending } = useQuery({
    queryKey: ['sandbox', from, 'continued'],
    queryFn: () => body(api.GET('/api/v1/sandboxes/{sandbox_id}', { params: { path: { sandbox_id: from ?? '' } } })),
    enabled: from !== undefined,
  })
  if (from === undefined) return <Spawn key="new" start={kept} />
  if (isPending) return <Skeleton rows={8} label="Loading the run to continue" />
  return (
    <Spawn key={from} start={() => (data === undefined ? { ...EMPTY, resumeFrom: from } : continued(data.sandbox))} />
  )
}

function Spawn({ start }: { start: () => Draft }) {
  const { session } = useRouteContext({ from: '/frame' })
  const [written, setDraft] = useState(start)
  const [problems, setProblems] = useState<Problems>({})
  const summary = useRef<HTMLDivElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const navigate = useNavigate()
  const node = useNode()
  const draft = useMemo(() => startable(written, node?.agents), [written, node?.agents])
  const { mutate, isPending, error, data, reset } = useSpawn()
  const request = useMemo(() => wanted(draft, session.user_id), [draft, session.user_id])
  const code = useMemo(() => snippets(request, location.origin), [request])
  const found = error === null ? undefined : refused(error)
  const all = { ...problems, ...found?.problems }

  const change = (part: Partial<Draft>) => {
    const next = { ...draft, ...part }
    setDraft(next)
    keep(next)
    setProblems((before) => without(before, part))
    if (error !== null || data !== undefined) reset()
  }
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    if (isPending) return
    const wrong = check(draft)
    setProblems(wrong)
    if (Object.keys(wrong).length > 0) return
    mutate(request, {
      onSuccess: ({ sandboxId, failure }) => {
        if (failure !== undefined) return
        forget()
        // A plain sandbox has no run to show. The person opens it to type commands.
        const search = draft.runtime === 'none' ? { tab: 'terminal' } : {}
        void navigate({ to: '/console/sandboxes/$sandboxId', params: { sandboxId }, search })
      },
    })
  }
  useSubmitKey(form)
  const isWrong = Object.keys(all).length > 0 || found?.whole !== undefined || data?.failure !== undefined
  // Moves the focus to the first problem, so that screen readers announce it.
  useEffect(() => {
    if (isWrong && !isPending) summary.current?.focus()
  }, [isWrong, isPending])

  return (
    <div className={css.screen}>
      <h1>New sandbox</h1>
      <form ref={form} className={css.form} noValidate onSubmit={submit} aria-label="New sandbox">
        <ProblemList ref={summary} problems={all} whole={found?.whole} form={form}>
          {found?.existing && <Existing sandboxId={found.existing}>Open its sandbox</Existing>}
          {data?.failure && (
            <>
              <p>The agent did not start: {plain(data.failure)}</p>
              <Existing sandboxId={data.sandboxId}>Open its sandbox</Existing>
            </>
          )}
        </ProblemList>
        <SpawnForm
          draft={draft}
          problems={all}
          node={node}
          me={{ userId: session.user_id, isAdmin: session.is_admin }}
          onChange={change}
        />
        <div className={css.submit}>
          <Button type="submit" look="primary" disabled={isPending} title="Ctrl Enter">
            {isPending ? 'Starting…' : draft.runtime === 'none' ? 'Create the sandbox' : 'Start the agent'}
          </Button>
          <Button
            look="quiet"
            onClick={() => {
              forget()
              setDraft(EMPTY)
              setProblems({})
              reset()
            }}
          >
            Clear the form
          </Button>
        </div>
      </form>
      <CodePane snippets={code} />
    </div>
  )
}

function Existing({ sandboxId, children }: { sandboxId: string; children: string }) {
  return (
    <Link to="/console/sandboxes/$sandboxId" params={{ sandboxId }}>
      {children}
    </Link>
  )
}

/** A changed field loses its problem; the next submission checks it again. */
function without(problems: Problems, part: Partial<Draft>): Problems {
  const left = Object.entries(problems).filter(([name]) => !(name in part))
  return left.length === Object.keys(problems).length ? problems : Object.fromEntries(left)
}

function useSubmitKey(form: React.RefObject<HTMLFormElement | null>): void {
  useShortcuts(
    'New sandbox',
    useMemo(() => [{ keys: 'Mod+Enter', does: 'Start it', run: () => form.current?.requestSubmit() }], [form]),
  )
}
