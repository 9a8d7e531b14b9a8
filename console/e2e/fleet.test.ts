import type { Page } from 'playwright-core'
import { script, told } from './house/agents'
import { expect, test } from './house/test'

const WAITS = 'read task; until [ -e go ]; do sleep 0.05; done'

test('the filter is part of the address', async ({ person, page, newPerson }) => {
  await Promise.all([
    person.api.spawn(script('Paint the fence', WAITS)),
    person.api.spawn(script('Mow the lawn', WAITS)),
    person.api.spawn(script('Mend the roof', 'exit 3')),
  ])
  await person.open('')
  const fleet = page.getByRole('table', { name: 'Sandboxes' })
  await fleet.getByRole('link', { name: 'Mow the lawn' }).waitFor()
  await fleet.getByRole('row').filter({ hasText: 'Mend the roof' }).getByText('Failed').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('fence')
  await fleet.getByRole('link', { name: 'Mow the lawn' }).waitFor({ state: 'detached' })
  await page.waitForURL('**/console?q=fence')

  const again = await newPerson({ as: person })
  await again.page.goto(page.url())
  const theirs = again.page.getByRole('table', { name: 'Sandboxes' })
  await theirs.getByRole('link', { name: 'Paint the fence' }).waitFor()
  expect(await theirs.getByRole('link').count()).toBe(1)

  await page.goto('/console?status=failed')
  await fleet.getByRole('link', { name: 'Mend the roof' }).waitFor()
  expect(await fleet.getByRole('link').count()).toBe(1)
  await page.getByRole('button', { name: 'Failed' }).click()
  await fleet.getByRole('link', { name: 'Mow the lawn' }).waitFor()
  await page.getByRole('searchbox').fill('nothing is called so')
  await page.getByText('0 of 3 match').waitFor()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await fleet.getByRole('link', { name: 'Paint the fence' }).waitFor()
})

test('the fleet updates without a reload', async ({ person, page }) => {
  await person.open('')
  await page.getByText('No sandbox yet').waitFor()
  // A reload would lose this mark.
  await page.evaluate(() => Object.assign(window, { isSamePage: true }))
  const id = await person.api.spawn(script('Mow the lawn', WAITS))
  const row = page.getByRole('row').filter({ hasText: 'Mow the lawn' })
  await row.getByText('Running').waitFor()
  await person.api.run(id, 'touch go')
  await row.getByText('Completed').waitFor()
  await person.api.end(id)
  await row.waitFor({ state: 'detached' })
  await page.getByLabel('Also ended').check()
  await row.waitFor()
  expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true)
})

test('only sandboxes in view are read, and audited as read', async ({ person, page }) => {
  await person.api.sandbox('bench')
  const read = async () => {
    const { entries } = await person.api.get<{ entries: { route: string; count: number }[] }>('/threads/bench/audit')
    return entries.filter((entry) => entry.route === 'GET /api/v1/sandboxes/{sandbox_id}/events').length
  }
  const listed = page.waitForResponse(/\/api\/v1\/sandboxes\?/)
  await person.open('/settings')
  await listed
  await page.getByRole('link', { name: 'Inbox' }).click()
  await page.getByText('No open questions').waitFor()
  expect(await read()).toBe(0)
  await page.getByRole('link', { name: 'Fleet' }).click()
  await page.getByRole('link', { name: 'bench' }).waitFor()
  await expect.poll(read).toBe(1)
})

test('the fleet shows what happened before it was opened', async ({ person, page }) => {
  const call = { tool_use_id: 't1', tool_name: 'Bash', tool_input: { command: 'make all' } }
  const id = await person.api.spawn(script('Build it', `read task; ${told('agent.tool_use', call)}; ${WAITS}`))
  await person.api.sandbox('bench')
  const isLogged = async () => (await person.api.events(id)).some((event) => event.event_type === 'agent.tool_use')
  await person.api.until('the call is logged', isLogged)
  await person.open('')
  const row = page.getByRole('row').filter({ hasText: 'Build it' })
  await row.getByText('Bash make all').waitFor()
  // A sandbox without an agent is not a running one.
  await page.getByRole('row').filter({ hasText: 'bench' }).getByText('Idle').waitFor()
  await page.getByText('1running1idle').waitFor()
})

test('users do not see the sandboxes of others', async ({ person, page, newPerson }) => {
  const other = await newPerson()
  const id = await other.api.spawn(script('Keep a secret', WAITS))
  await other.open('')
  await other.page.getByRole('link', { name: 'Keep a secret' }).waitFor()
  await person.open('')
  await page.getByText('No sandbox yet').waitFor()
  person.guard.expect(/status of 404/)
  await person.open(`/sandboxes/${id}`)
  await page.getByRole('alert').getByText('No such sandbox').waitFor()
  expect(await page.getByText('Keep a secret').count()).toBe(0)
})

/** Elements of the first steps that do not lie completely inside the content of the page. */
function outside(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const main = document.querySelector('main')?.getBoundingClientRect() ?? new DOMRect()
    const isInside = (element: Element) => {
      const { left, right } = element.getBoundingClientRect()
      return left >= main.left && right <= main.right && element.scrollWidth <= element.clientWidth + 1
    }
    const parts = [...document.querySelectorAll('main ol :is(pre, button)')]
    return parts.filter((part) => !isInside(part)).map((part) => part.textContent ?? '')
  })
}

test.for([380, 1280, 1366, 1440, 1920])(
  'the first steps fit a window of %i pixels, and can be copied',
  async (width, { newPerson }) => {
    const person = await newPerson({
      viewport: { width, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const { page } = person
    await person.open('')
    await page.getByRole('heading', { name: 'No sandbox yet' }).waitFor()
    expect(
      await page
        .getByRole('listitem')
        .filter({ has: page.locator('pre') })
        .count(),
    ).toBe(3)
    expect(await outside(page)).toEqual([])
    const step = page.getByRole('listitem').filter({ hasText: 'Open a terminal' })
    await step.getByRole('button', { name: 'Copy' }).click()
    await step.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('viv shell my-thread')
  },
)
