import type { Page } from 'playwright-core'
import type { Task } from '~/api/types'
import type { Api } from './house/api'
import { expect, test } from './house/test'

/** A task that a worker outside of the server claims: it waits until the test reports it. */
interface Wanted {
  readonly name: string
  readonly title: string
  readonly depends_on?: readonly string[]
  readonly agent_type?: string
  readonly max_retries?: number
  readonly runtime?: 'command'
  readonly command?: readonly string[]
}

async function add(api: Api, ...tasks: Wanted[]): Promise<Map<string, string>> {
  const answer = await api.post<{ tasks: { name: string; task_id: string }[] }>('/api/v1/tasks/graph', { tasks })
  return new Map(answer.tasks.map(({ name, task_id }) => [name, task_id]))
}

/** Claims the next task as a worker. */
async function claim(api: Api): Promise<{ id: string; attempt: number }> {
  const task = await api.post<Task>('/api/v1/tasks/claim', { worker: 'ci-1' })
  return { id: task.task_id, attempt: task.attempts.at(-1)?.attempt ?? 0 }
}

const lines = (page: Page) => page.getByRole('table', { name: 'Tasks' }).locator('tbody').getByRole('row')
const line = (page: Page, title: string) => lines(page).filter({ hasText: title })
const box = (page: Page, name: string) => page.getByRole('region', { name: /^Graph of/ }).getByRole('link', { name })

test('the board follows tasks live, as a list and as a graph', async ({ person, page }) => {
  await person.open('/tasks')
  await page.getByText('No task yet').waitFor()
  // A reload would lose this mark.
  await page.evaluate(() => Object.assign(window, { isSamePage: true }))
  const { api } = person
  await add(
    api,
    { name: 'build', title: 'Build it' },
    { name: 'test', title: 'Test it', depends_on: ['build'] },
    { name: 'ship', title: 'Ship it', depends_on: ['test'] },
  )
  await line(page, 'Build it').getByText('Ready').waitFor()
  await line(page, 'Ship it').getByText('Pending').waitFor()
  expect(await lines(page).getByRole('link').allTextContents()).toEqual(['Build it', 'Test it', 'Ship it'])
  const first = await claim(api)
  await line(page, 'Build it').getByText('Running').waitFor()

  await page.keyboard.press('v')
  await box(page, 'Build it Running').waitFor()
  await box(page, 'Test it Pending').waitFor()
  await api.post(`/api/v1/tasks/${first.id}/complete`, { attempt: first.attempt, result: { summary: 'Built.' } })
  await box(page, 'Build it Completed').waitFor()
  await box(page, 'Test it Ready').waitFor()
  const second = await claim(api)
  const error = { attempt: second.attempt, error_message: 'no disk', error_class: 'permanent' }
  await api.post(`/api/v1/tasks/${second.id}/fail`, error)
  await box(page, 'Test it Failed').waitFor()
  await box(page, 'Ship it Blocked').waitFor()
  expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true)
  await box(page, 'Test it Failed').click()
  await page.getByRole('heading', { name: 'Test it', level: 1 }).waitFor()
})

test('the filters of the board are part of the address', async ({ person, page, newPerson }) => {
  await add(
    person.api,
    { name: 'a', title: 'Write the parser', agent_type: 'coder' },
    { name: 'b', title: 'Review the parser', agent_type: 'reviewer', depends_on: ['a'] },
  )
  await person.open('/tasks')
  await line(page, 'Review the parser').waitFor()
  await page.getByRole('button', { name: 'Pending' }).click()
  await line(page, 'Write the parser').waitFor({ state: 'detached' })
  await page.waitForURL('**/console/tasks?status=pending')
  await page.getByRole('button', { name: 'Pending' }).click()
  // The types of the listed tasks can be chosen.
  await line(page, 'Write the parser').waitFor()
  await page.getByLabel('Agent type').fill('coder')
  await line(page, 'Review the parser').waitFor({ state: 'detached' })

  const again = await newPerson({ as: person })
  await again.page.goto(page.url())
  await line(again.page, 'Write the parser').waitFor()
  expect(await lines(again.page).count()).toBe(1)
  await again.page.goto('/console/tasks?status=failed')
  await again.page.getByText('No task matches').waitFor()
  await again.page.getByRole('button', { name: 'Clear the filter' }).click()
  await line(again.page, 'Review the parser').waitFor()
})

test('the page of a task has its attempts, its result and the run', async ({ person, page }) => {
  const script = `echo 'no such host' >&2; exit 7`
  const ids = await add(person.api, {
    name: 'move',
    title: 'Move the reports',
    runtime: 'command',
    command: ['sh', '-c', script],
    max_retries: 1,
  })
  await person.open(`/tasks/${ids.get('move')}`)
  const first = page.getByRole('listitem', { name: 'Attempt 1' })
  await first.getByText('Failed', { exact: true }).waitFor()
  await first.getByText('no such host').waitFor()
  const second = page.getByRole('listitem', { name: 'Attempt 2' })
  await second.getByText('Failed', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Retry' }).waitFor()
  await second.getByRole('link', { name: /^Open the run/ }).click()
  await page.getByRole('heading', { name: 'Move the reports' }).waitFor()
  await page.getByRole('complementary', { name: 'Facts' }).getByRole('link', { name: 'Open the task' }).click()
  await page.getByRole('listitem', { name: 'Attempt 2' }).waitFor()
})

test('a task shows its result, and the tasks around it', async ({ person, page }) => {
  const ids = await add(
    person.api,
    { name: 'count', title: 'Count the words' },
    { name: 'report', title: 'Write the report', depends_on: ['count'] },
  )
  await person.open(`/tasks/${ids.get('count')}`)
  await page.getByText('No attempt yet').waitFor()
  const { id, attempt } = await claim(person.api)
  const mine = page.getByRole('listitem', { name: 'Attempt 1' })
  await mine.getByText('Running').waitFor()
  await mine.getByText('ci-1').waitFor()
  const result = { summary: '8,198 words', files: ['words.csv'] }
  await person.api.post(`/api/v1/tasks/${id}/complete`, { attempt, result })
  const shown = page.getByRole('region', { name: 'Result' })
  await shown.getByText('8,198 words').waitFor()
  await shown.getByText('words.csv').waitFor()
  const around = page.getByRole('region', { name: 'Dependencies', exact: true })
  await around.getByRole('listitem').filter({ hasText: 'Write the report' }).getByText('Ready').waitFor()
  await around.getByRole('link', { name: 'Write the report', exact: true }).click()
  await page.getByRole('heading', { name: 'Write the report', level: 1 }).waitFor()
})

test('a task is edited, cancelled with its dependents, and retried', async ({ person, page }) => {
  const ids = await add(
    person.api,
    { name: 'a', title: 'Draw the plan' },
    { name: 'b', title: 'Follow the plan', depends_on: ['a'] },
  )
  await person.open(`/tasks/${ids.get('a')}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Title').fill('Draw a better plan')
  await dialog.getByLabel('Retries').fill('99')
  person.guard.expect(/status of 4(00|22)/)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText(/must be/).waitFor()
  await dialog.getByLabel('Retries').fill('5')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Draw a better plan' }).waitFor()
  await page.getByText('at most 5').waitFor()

  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await dialog.getByLabel('Cancel, too').check()
  await dialog.getByRole('button', { name: 'Cancel the task' }).click()
  await box(page, 'Draw a better plan Cancelled').waitFor()
  await box(page, 'Follow the plan Cancelled').waitFor()
  expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0)

  await page.keyboard.press('r')
  await box(page, 'Draw a better plan Ready').waitFor()
})

test('the form adds a graph, and shows an error of the server at its row', async ({ person, page }) => {
  await person.open('/tasks/new')
  const row = (name: string) => page.getByRole('group', { name, exact: true })
  await row('task-1').getByLabel('Title').fill('Build it')
  await row('task-1').getByLabel('Name').fill('build')
  await row('build').getByLabel('Runtime').selectOption('Worker outside of the server')
  await page.getByRole('button', { name: 'Add another task' }).click()
  await row('task-2').getByRole('checkbox', { name: 'build' }).check()
  await page.getByRole('button', { name: 'Submit 2 tasks' }).click()
  await row('task-2').getByText('Enter a title.').waitFor()
  await row('task-2').getByLabel('Title').fill('Test it')

  // A cycle, which only the server rejects.
  await row('build').getByRole('checkbox', { name: 'task-2' }).check()
  person.guard.expect(/status of 4(00|22)/)
  await page.getByRole('button', { name: 'Submit 2 tasks' }).click()
  await row('build').getByText('Makes a cycle: build → task-2 → build.').waitFor()
  await row('build').getByRole('checkbox', { name: 'task-2' }).uncheck()
  // The draft is still there after a reload.
  await page.reload()
  await page.getByRole('img', { name: 'Build it; Test it, after Build it' }).waitFor()
  await page.getByRole('button', { name: 'Submit 2 tasks' }).click()
  await box(page, 'Build it Ready').waitFor()
  await box(page, 'Test it Pending').waitFor()
})

test('a task of another user does not exist', async ({ person, page, newPerson }) => {
  const other = await newPerson()
  const ids = await add(other.api, { name: 'a', title: 'Keep a secret' })
  person.guard.expect(/status of 404/)
  await person.open(`/tasks/${ids.get('a')}`)
  await page.getByRole('heading', { name: 'No such task' }).waitFor()
  await person.open('/tasks')
  await page.getByText('No task yet').waitFor()
})
