import { cleanup, screen, within } from '@testing-library/react'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { TaskAttempt } from '~/api/types'
import { Attempts } from '~/screens/tasks/Attempts'
import { RepositoryPart } from '~/screens/tasks/RepositoryPart'
import { inheritedOf, placeOf, runOf } from '~/store/task-view'
import { routed } from './routed'
import { AT, task } from './tasks'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function attempt(number: number, more: Partial<TaskAttempt> = {}): TaskAttempt {
  return { attempt: number, status: 'running', started_at: AT, cost_usd: 0, ...more }
}

const LOST = { status: 'cancelled', error_class: 'permanent', error_code: 'race_lost', ended_at: AT } as const

describe('the attempts of a task', () => {
  it('show the winner of a race, and who lost', async () => {
    const attempts = [attempt(1, LOST), attempt(2, { status: 'completed', ended_at: AT }), attempt(3)]
    await routed(<Attempts task={task('a', { attempts, race: { attempts: 3, check: ['make', 'test'] } })} />)
    const race = screen.getByRole('region', { name: 'Race' })
    within(race).getByText('make test')
    const words = (number: number) => screen.getByRole('listitem', { name: `Attempt ${number}` })
    within(words(1)).getByText('Lost')
    within(words(2)).getByText('Won')
    within(words(2)).getByText('Completed')
    expect(within(words(3)).queryByText('Won')).toBeNull()
  })

  it('have no winner without a race', async () => {
    await routed(<Attempts task={task('a', { attempts: [attempt(1, { status: 'completed', ended_at: AT })] })} />)
    screen.getByRole('region', { name: 'Attempts' })
    expect(screen.queryByText('Won')).toBeNull()
  })

  it('are announced before the first one', async () => {
    await routed(<Attempts task={task('a', { race: { attempts: 4, check: ['true'] } })} />)
    screen.getByText('No attempt yet. 4 start at the same time.')
  })
})

describe('the repository of a task', () => {
  const repository = {
    url: 'https://git.example.com/ada/shop',
    ticket: 'SHOP-12',
    credential: 'forge',
    depth: 50,
    on_success: 'pull_request',
  } as const
  const work = { ...repository, run_id: 'run1', sandbox_id: 'sbx1', branch: 'feature/SHOP-12-greet', base: 'main' }

  function serve(status: number, body: object): void {
    const headers = { 'Content-Type': 'application/json' }
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(body), { status, headers })))
  }

  it('has the branch, the delivery and a link to the pull request', async () => {
    serve(200, {
      ...work,
      status: 'delivered',
      commit: '1f3a',
      pull_request: { number: 7, url: 'https://git.example.com/ada/shop/pulls/7' },
    })
    await routed(<RepositoryPart repository={repository} runId="run1" />)
    const link = await screen.findByRole('link', { name: '#7' })
    expect(link.getAttribute('href')).toBe('https://git.example.com/ada/shop/pulls/7')
    screen.getByText('feature/SHOP-12-greet')
    screen.getByText('Delivered')
    screen.getByText('SHOP-12')
  })

  it('shows why the work was not delivered, and no link that is no web page', async () => {
    const pull = { number: 7, url: 'javascript:alert(1)' }
    serve(200, { ...work, status: 'failed', error: 'the remote refused the push', pull_request: pull })
    await routed(<RepositoryPart repository={repository} runId="run1" />)
    await screen.findByText('the remote refused the push')
    screen.getByText('#7')
    expect(screen.queryByRole('link', { name: '#7' })).toBeNull()
  })

  it('is shown before the first run, and before the server has cloned it', async () => {
    serve(404, { type: 'x', title: 'No repository', status: 404, detail: 'The run has no repository.' })
    await routed(<RepositoryPart repository={repository} runId="run1" />)
    screen.getByText('the default branch')
    screen.getByText('open a pull request')
    expect(screen.queryByText('Delivery')).toBeNull()
  })
})

describe('the plan of a task', () => {
  it('names what it inherits', () => {
    expect(inheritedOf({ from: 'a', files: true, conversation: true })).toBe('files and conversation')
    expect(inheritedOf({ from: 'a', conversation: true })).toBe('conversation')
  })

  it('has the run with its work', () => {
    expect(runOf(task('a'))).toBeUndefined()
    const attempts = [attempt(1, { run_id: 'run1', status: 'completed' }), attempt(2, { ...LOST, run_id: 'run2' })]
    expect(runOf(task('a', { attempts }))).toBe('run1')
    expect(runOf(task('a', { attempts: [attempt(1, { run_id: 'run1', status: 'failed' }), attempt(2)] }))).toBe('run1')
  })

  it('has a place for each attempt that has ended', () => {
    expect([attempt(1), attempt(2, LOST), attempt(3, { status: 'failed' })].map(placeOf)).toEqual([
      undefined,
      'lost',
      undefined,
    ])
  })
})
