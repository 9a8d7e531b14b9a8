import { describe, expect, it } from 'vitest'
import { ApiError } from '~/api/problem'
import { changed, editDraftOf } from '~/screens/tasks/edit'
import {
  added,
  changedRow,
  drawnRows,
  emptyGraph,
  forget,
  type GraphDraft,
  removed,
  store,
  stored,
  toggled,
} from '~/screens/tasks/graph-draft'
import { check, refused, requestOf } from '~/screens/tasks/graph-request'
import { task } from './tasks'

/** Two tasks: the second depends on the first. */
function pair(): GraphDraft {
  let draft = changedRow(added(emptyGraph()), 'row-1', { name: 'build', title: 'Build it', command: 'make all' })
  draft = changedRow(draft, 'row-2', { title: 'Test it', command: "sh -c 'make test'", dependsOn: ['row-1'] })
  return draft
}

function invalid(field: string, rule: string): ApiError {
  const problem = { type: 'urn:vivarium:problem:invalid-request', title: 'Invalid', detail: `${field} ${rule}` }
  return new ApiError({ ...problem, status: 422 }, undefined, { field, rule })
}

describe('the form for a graph of tasks', () => {
  it('sends names for dependencies, also after a rename', () => {
    const draft = changedRow(pair(), 'row-1', { name: 'compile' })
    expect(requestOf(draft)).toEqual({
      tasks: [
        { name: 'compile', title: 'Build it', runtime: 'command', command: ['make', 'all'] },
        {
          name: 'task-2',
          title: 'Test it',
          runtime: 'command',
          command: ['sh', '-c', 'make test'],
          depends_on: ['compile'],
        },
      ],
    })
  })

  it('sends no runtime for a worker, and only limits that were typed', () => {
    const draft = changedRow(emptyGraph(), 'row-1', {
      title: 'Review',
      runtime: 'worker',
      agentType: 'qa',
      priority: 'high',
      timeout: '5',
      retries: '0',
    })
    expect(requestOf(draft).tasks).toEqual([
      { name: 'task-1', title: 'Review', agent_type: 'qa', priority: 'high', timeout_minutes: 5, max_retries: 0 },
    ])
  })

  it('sends the guardian and the repository, but not for a worker', () => {
    const part = { guardian: 'watch', repository: 'https://git.example/a', credential: 'forge', onSuccess: 'push' }
    const draft = changedRow(emptyGraph(), 'row-1', { title: 'Fix', command: 'true', ...part })
    expect(requestOf(draft).tasks[0]).toMatchObject({
      guardian: 'watch',
      repository: { url: 'https://git.example/a', credential: 'forge', on_success: 'push' },
    })
    const outside = requestOf(changedRow(draft, 'row-1', { runtime: 'worker' })).tasks[0]
    expect(outside).not.toHaveProperty('guardian')
    expect(outside).not.toHaveProperty('repository')
    const without = check(changedRow(draft, 'row-1', { credential: '' }))
    expect(without.rows.get('row-1')).toEqual({ credential: 'Choose a credential.' })
    store(draft)
    expect(stored()).toEqual(draft)
  })

  it('removes the dependencies on a removed row, and never uses a key or name twice', () => {
    const draft = removed(pair(), 'row-1')
    expect(draft.rows).toMatchObject([{ key: 'row-2', dependsOn: [] }])
    expect(added(draft).rows.at(-1)).toMatchObject({ key: 'row-3', name: 'task-3' })
    const [row] = pair().rows
    expect(row && toggled(row, 'row-2')).toEqual(['row-2'])
  })

  it('finds what is missing before it asks the server', () => {
    const draft = changedRow(pair(), 'row-2', { name: 'build', title: ' ', command: "'open", retries: 'many' })
    const { rows } = check(draft)
    expect(rows.get('row-1')).toEqual({ name: 'Another task has this name.' })
    expect(rows.get('row-2')).toEqual({
      name: 'Another task has this name.',
      title: 'Enter a title.',
      command: 'A single quote is not closed.',
      retries: 'Must be a number.',
    })
    expect(check(pair()).rows.size).toBe(0)
  })

  it('shows an error of the server at its row and field', () => {
    const cycle = refused(invalid('tasks[1].depends_on', 'makes a cycle: a → b → a'), pair())
    expect(cycle.rows.get('row-2')).toEqual({ dependsOn: 'Makes a cycle: a → b → a.' })
    expect(cycle.whole).toBeUndefined()
    const limits = refused(invalid('tasks[0].timeout_minutes', 'must be at least 1'), pair())
    expect(limits.rows.get('row-1')).toEqual({ timeout: 'Must be at least 1.' })
    const ticket = refused(invalid('tasks[0].repository.ticket', 'must be short'), pair())
    expect(ticket.rows.get('row-1')).toEqual({ ticket: 'Must be short.' })
    const other = refused(invalid('tasks[0].egress.allow', 'must be a host'), pair())
    expect(other.rows.get('row-1')).toEqual({ title: 'egress: Must be a host.' })
  })

  it('shows any other error above the form', () => {
    expect(refused(invalid('tasks', 'must be at most 1000'), pair())).toMatchObject({
      whole: 'tasks must be at most 1000',
    })
    expect(refused(invalid('tasks[9].title', 'is required'), pair()).whole).toBe('tasks[9].title is required')
    expect(refused(new Error('unreachable'), pair()).whole).toBe('unreachable')
  })

  it('draws the rows under their titles', () => {
    expect(drawnRows(added(pair()))).toMatchObject([
      { id: 'row-1', title: 'Build it', note: 'build' },
      { id: 'row-2', title: 'Test it', dependsOn: ['row-1'] },
      { id: 'row-3', title: 'task-3', note: undefined },
    ])
  })

  it('keeps a draft that was not submitted, and survives a broken one', () => {
    store(pair())
    expect(stored()).toEqual(pair())
    localStorage.setItem('viv.graph', '{"rows":[{"key":7},{"key":"row-1","runtime":"rocket","dependsOn":[1]}]}')
    expect(stored().rows).toMatchObject([{ key: 'row-1', runtime: 'command', dependsOn: [], priority: 'medium' }])
    localStorage.setItem('viv.graph', 'no json')
    expect(stored()).toEqual(emptyGraph())
    forget()
    expect(stored()).toEqual(emptyGraph())
  })
})

describe('the edit of a task', () => {
  it('sends only what has changed, and numbers as numbers', () => {
    const before = task('a', { title: 'Old', max_retries: 3 })
    expect(changed(before, editDraftOf(before))).toEqual({})
    expect(changed(before, { ...editDraftOf(before), title: 'New', max_retries: '5' })).toEqual({
      title: 'New',
      max_retries: 5,
    })
  })

  it('lets the server name what is no number', () => {
    const before = task('a')
    expect(changed(before, { ...editDraftOf(before), timeout_minutes: 'soon' })).toEqual({ timeout_minutes: 'soon' })
  })
})
