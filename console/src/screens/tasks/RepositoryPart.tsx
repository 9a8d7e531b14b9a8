import { useQuery } from '@tanstack/react-query'
import { api, body } from '~/api/client'
import { ApiError } from '~/api/problem'
import type { components } from '~/api/schema'
import form from '~/ui/form.module.css'
import { plain } from '~/ui/format'
import { Section } from '~/ui/Section'
import { Fact } from './Fact'
import css from './Task.module.css'

type Repository = components['schemas']['Repository']
type Work = components['schemas']['RunRepository']

const EVERY_MS = 5_000

const DELIVERY: Readonly<Record<Work['status'], string>> = {
  open: 'The run works',
  delivering: 'The server pushes the branch',
  delivered: 'Delivered',
  failed: 'Not delivered',
  closed: 'The run ended, and nothing was pushed',
}

const ON_SUCCESS: Readonly<Record<NonNullable<Repository['on_success']>, string>> = {
  push: 'push the branch',
  pull_request: 'open a pull request',
}

interface Props {
  readonly repository: Repository
  /** The run whose work is shown; absent before the first one. */
  readonly runId: string | undefined
}

/** The git repository of a task, with the branch and the pull request of a run. */
export function RepositoryPart({ repository, runId }: Props) {
  const work = useWork(runId)
  const pull = work?.pull_request
  return (
    <Section title="Repository">
      <dl className={css.facts}>
        <Fact name="Address">
          <WebLink url={repository.url}>{plain(repository.url)}</WebLink>
        </Fact>
        <Fact name="Base">{plain(work?.base ?? repository.base ?? 'the default branch')}</Fact>
        <Fact name="Branch">{plain(work?.branch ?? repository.branch ?? '')}</Fact>
        <Fact name="Ticket">{repository.ticket && plain(repository.ticket)}</Fact>
        <Fact name="Credential">{plain(repository.credential)}</Fact>
        <Fact name="On success">{repository.on_success ? ON_SUCCESS[repository.on_success] : 'nothing'}</Fact>
        <Fact name="Delivery">{work && DELIVERY[work.status]}</Fact>
        <Fact name="Commit">{work?.commit && <code>{plain(work.commit)}</code>}</Fact>
        <Fact name="Pull request">{pull && <WebLink url={pull.url}>{`#${pull.number}`}</WebLink>}</Fact>
      </dl>
      {work?.error && (
        <p role="alert" className={form.problem}>
          {plain(work.error)}
        </p>
      )}
    </Section>
  )
}

/** The state of the delivery of a run, until it cannot change by itself. */
function useWork(runId: string | undefined): Work | undefined {
  const { data } = useQuery({
    queryKey: ['run', runId, 'git'],
    queryFn: () => readWork(runId ?? ''),
    enabled: runId !== undefined,
    refetchInterval: ({ state }) => (isMoving(state.data) ? EVERY_MS : false),
  })
  return data ?? undefined
}

function isMoving(work: Work | null | undefined): boolean {
  return work === null || work?.status === 'open' || work?.status === 'delivering'
}

/** Null if the server has not cloned the repository yet. */
async function readWork(runId: string): Promise<Work | null> {
  try {
    return await body(api.GET('/api/v1/runs/{run_id}/git', { params: { path: { run_id: runId } } }))
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

/** A link to a page on the web. An address that is no such page is text. */
function WebLink({ url, children }: { url: string; children: string }) {
  if (!/^https?:\/\//i.test(url)) return children
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {children}
    </a>
  )
}
