import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import type { Api } from './house/api'
import { axe } from './house/axe'
import { expect, test } from './house/test'

const MANY = 10_000

/** Sandbox with a long log, mostly tool calls with results. Every hundredth call failed. */
async function longLog(api: Api): Promise<string> {
  const id = await api.sandbox(randomUUID())
  await api.tell(
    id,
    Array.from({ length: MANY }, (_, index) => told(index)),
  )
  return id
}

function told(index: number) {
  if (index % 10 === 0) {
    return { event_type: 'agent.message', event_data: { text: `Step ${index} is done` } }
  }
  const [id, isCall] = [`t${Math.floor(index / 2)}`, index % 2 === 0]
  if (isCall) {
    const data = { tool_use_id: id, tool_name: 'Bash', tool_input: { command: `make part-${index}` } }
    return { event_type: 'agent.tool_use', event_data: data }
  }
  const data = { tool_use_id: id, content: `\u001b[31mpart ${index}\u202e`, is_error: index % 100 === 99 }
  return { event_type: 'agent.tool_result', event_data: data }
}

/** Records the log requests that the page sends from now on. */
function pagesAsked(page: Page): string[] {
  const asked: string[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.pathname.endsWith('/events') && url.searchParams.has('limit')) asked.push(url.search)
  })
  return asked
}

const nodes = (page: Page) => page.evaluate(() => document.querySelectorAll('*').length)
/** Distance of the end of the timeline from the visible part. */
const leftBelow = (page: Page) => timeline(page).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)
const timeline = (page: Page) => page.getByRole('region', { name: 'Timeline' })

test('a link opens an old event with one request', async ({ person, page }) => {
  const id = await longLog(person.api)
  const target = (
    await person.api.get<{ events: { seq: number; event_data: { text?: string } }[] }>(
      `/api/v1/sandboxes/${id}/events?after_seq=1000&limit=100&type=agent.message`,
    )
  ).events[5]
  if (target === undefined) throw new Error('no event')
  const asked = pagesAsked(page)
  await person.open(`/sandboxes/${id}?at=${target.seq}`)
  const marked = timeline(page).locator('article[data-marked]')
  await marked.getByText(target.event_data.text ?? '').waitFor()
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.closest('article')?.dataset.seq))
    .toBe(String(target.seq))
  expect(asked.filter((question) => !question.includes('newest'))).toHaveLength(1)
  await page.getByText(/These are events/).waitFor()

  // Scrolling continues in both directions.
  await timeline(page).hover()
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 4_000)
      return asked.filter((question) => question.includes('after_seq')).length
    })
    .toBeGreaterThan(2)
  await page.getByRole('button', { name: 'Go to the newest events' }).click()
  await timeline(page)
    .getByText(`Step ${MANY - 10} is done`)
    .waitFor()
  expect(new URL(page.url()).search).toBe('')
})

test('the timeline jumps to its start and to its end', async ({ person, page }) => {
  const id = await longLog(person.api)
  const last = timeline(page).getByText(`Step ${MANY - 10} is done`)
  const first = timeline(page).getByText('Step 0 is done')
  await person.open(`/sandboxes/${id}`)
  await last.waitFor()
  await page.getByRole('button', { name: 'First event' }).click()
  await first.waitFor()
  expect(await last.count()).toBe(0)
  await page.keyboard.press('End')
  await last.waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe('')
  await expect.poll(() => leftBelow(page)).toBeLessThan(40)

  await page.keyboard.press('Home')
  await first.waitFor()
  await page.getByRole('button', { name: 'Go to the newest events' }).click()
  await last.waitFor()
  await timeline(page).hover()
  await page.mouse.wheel(0, -2_000)
  await page.getByRole('button', { name: 'To the end' }).click()
  await expect.poll(() => leftBelow(page)).toBeLessThan(40)
})

test('long output shows that it scrolls', async ({ person, page }) => {
  const id = await person.api.sandbox(randomUUID())
  await person.api.run(id, 'seq 1 200')
  await person.open(`/sandboxes/${id}`)
  await timeline(page).getByRole('button', { name: 'seq 1 200' }).click()
  const output = timeline(page).locator('pre')
  await output.getByText('200').waitFor()
  const scrollTo = (end: 'top' | 'bottom') =>
    output.evaluate((box, place) => {
      box.scrollTop = place === 'top' ? 0 : box.scrollHeight
    }, end)
  /** The pixels of an edge, in the padding beside the text. */
  const edge = async (end: 'top' | 'bottom') => {
    await output.scrollIntoViewIfNeeded()
    const box = await output.boundingBox()
    if (box === null) throw new Error('no output')
    const y = end === 'top' ? box.y : box.y + box.height - 8
    return (await page.screenshot({ clip: { x: box.x + 6, y, width: 2, height: 8 } })).toString('base64')
  }
  await scrollTo('top')
  const atTop = { top: await edge('top'), bottom: await edge('bottom') }
  await scrollTo('bottom')
  // A shadow is at an edge only if there is more beyond it.
  await expect.poll(() => edge('top')).not.toBe(atTop.top)
  await expect.poll(() => edge('bottom')).not.toBe(atTop.bottom)
})

test('a link to a missing event shows a message', async ({ person, page }) => {
  const id = await person.api.sandbox(randomUUID())
  await person.open(`/sandboxes/${id}?at=4711`)
  await page.getByText(/The log has no event 4,711: the last is/).waitFor()
  person.guard.expect(/status of 404/)
  await person.open('/sandboxes/sbxnosuchone')
  await page.getByRole('heading', { level: 1, name: 'No such sandbox' }).waitFor()
})

test('the timeline is filtered by kind and error, and searched', async ({ person, page }) => {
  const id = await longLog(person.api)
  await person.open(`/sandboxes/${id}`)
  await page.getByRole('button', { name: /^Messages/ }).click()
  await timeline(page)
    .getByText(`Step ${MANY - 10} is done`)
    .waitFor()
  expect(await timeline(page).locator('article[data-kind="tool"]').count()).toBe(0)
  expect(new URL(page.url()).searchParams.get('show')).toBe('messages')
  await page.getByRole('button', { name: /^Messages/ }).click()

  await page.getByRole('button', { name: /^Errors only/ }).click()
  await page.getByRole('button', { name: 'Search all events' }).click()
  await page.getByRole('button', { name: 'Errors only 100' }).waitFor()
  expect(await timeline(page).locator('article:not(:has-text("failed"))').count()).toBe(0)
  await page.getByRole('button', { name: /^Errors only/ }).click()

  await page.keyboard.press('/')
  await page.keyboard.type('step 5120 is')
  await page.getByText('0 of 1', { exact: true }).waitFor()
  await page.keyboard.press('Enter')
  await timeline(page).locator('article[data-marked]').getByText('Step 5120 is done').waitFor()
  await page.getByText('1 of 1', { exact: true }).waitFor()
  expect(await axe(page)).toEqual([])
})

test('a log of ten thousand events renders few elements', async ({ person, page }) => {
  const id = await longLog(person.api)
  await person.open(`/sandboxes/${id}?tab=events&q=part-5002`)
  await page.getByRole('button', { name: 'Search all events' }).click()
  await page.getByText('0 of 1', { exact: true }).waitFor()
  await page.keyboard.press('n')
  const chosen = page.getByRole('option', { selected: true })
  await chosen.getByText('Bash make part-5002').waitFor()
  await expect.poll(async () => Number(await chosen.getAttribute('aria-setsize'))).toBeGreaterThan(MANY)
  expect(await nodes(page)).toBeLessThan(700)
  const body = page.getByRole('region', { name: /^Event \d+$/ })
  await body.getByText('"make part-5002"').waitFor({ state: 'hidden' })
  await body.getByRole('button', { name: 'tool_input' }).click()
  await body.getByText('"make part-5002"').waitFor()
  expect(await axe(page)).toEqual([])

  await page.keyboard.press(']')
  await expect.poll(() => chosen.textContent()).toContain('part 5099')
  await body.getByText('"\\u001b[31mpart 5099\\u202e"').waitFor()
  await page.getByLabel('Go to the event with this number').fill('42')
  await page.keyboard.press('Enter')
  await expect.poll(() => chosen.textContent()).toMatch(/^42/)
  await page.getByRole('listbox', { name: 'Events' }).press('ArrowDown')
  await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe('43')
})

test('events are filtered by type, cleared, and saved as NDJSON', async ({ person, page }) => {
  const id = await longLog(person.api)
  await person.open(`/sandboxes/${id}?tab=events`)
  await page.getByRole('button', { name: /^agent.message/ }).click()
  await page.getByRole('button', { name: /^Failed only/ }).click()
  await page.getByText(/^0 of \d+ match$/).waitFor()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await page.getByRole('button', { name: /^Failed only/ }).click()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save as NDJSON' }).click()
  const lines = (await readFile(await (await saved).path(), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.length).toBeGreaterThan(0)
  expect(new Set(lines.map((one) => one.event_data.is_error))).toEqual(new Set([true]))
})

test('the timeline shows the end of the sandbox', async ({ person, page }) => {
  const id = await person.api.sandbox(randomUUID())
  await person.open(`/sandboxes/${id}`)
  await page.getByRole('banner').getByText('Live').first().waitFor()
  await person.api.end(id)
  await page.getByRole('banner').getByText('Ended', { exact: true }).first().waitFor()
})

test('a pressed row does not move, and the end is followed again', async ({ person, page }) => {
  const id = await person.api.sandbox(randomUUID())
  const call = { tool_use_id: 'c1', tool_name: 'Bash', tool_input: { command: 'ls' } }
  const says = (text: string) => ({ event_type: 'agent.message', event_data: { text } })
  await person.api.tell(
    id,
    Array.from({ length: 40 }, (_, index) => says(`before ${index}`)),
  )
  await person.api.tell(id, [{ event_type: 'agent.tool_use', event_data: call }])
  await person.open(`/sandboxes/${id}`)
  const button = page.getByRole('button', { name: 'Bash ls' })
  await button.hover()
  await page.mouse.down()
  await person.api.tell(id, [says('meanwhile'), says('news')])
  await page.getByText('news', { exact: true }).waitFor({ state: 'attached' })
  // Longer than a click, as for a text selection.
  await page.waitForTimeout(600)
  await person.api.tell(id, [says('more news')])
  await page.getByText('more news', { exact: true }).waitFor({ state: 'attached' })
  await page.mouse.up()
  await expect.poll(() => button.getAttribute('aria-expanded')).toBe('true')
  await person.api.tell(id, [says('later')])
  await page.getByText('later', { exact: true }).waitFor({ state: 'attached' })
  await expect.poll(() => leftBelow(page)).toBeLessThan(40)
})
