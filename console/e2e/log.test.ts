import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { newUser } from './house/api'
import { expect, test as plain } from './house/test'
import { length } from './house/timeline'

const EVENTS = 10_000

const test = plain
  .extend('user', { scope: 'file' }, ({ admin }) => newUser(admin))
  /** A long log of ten thousand messages. */
  .extend('long', { scope: 'file' }, async ({ user: { api } }, { onCleanup }) => {
    onCleanup(() => api.endAll())
    const id = await api.sandbox(randomUUID())
    const numbers = Array.from({ length: EVENTS }, (_, index) => `number ${index + 1}`)
    await api.tell(
      id,
      numbers.map((text) => ({ event_type: 'agent.message', event_data: { text } })),
    )
    return id
  })

function nodes(page: Page): Promise<number> {
  return page.evaluate(() => document.querySelectorAll('*').length)
}

/** Scrolls to the top and records the duration of each frame. */
function scrollUp(page: Page): Promise<{ frames: number; slowest: number; median: number }> {
  return page.getByRole('region', { name: 'Timeline' }).evaluate(async (box) => {
    const took: number[] = []
    let before = performance.now()
    for (let frame = 0; frame < 300; frame++) {
      box.scrollTop -= 400
      await new Promise(requestAnimationFrame)
      const now = performance.now()
      took.push(now - before)
      before = now
    }
    took.sort((a, b) => a - b)
    return { frames: took.length, slowest: took.at(-1) ?? 0, median: took[150] ?? 0 }
  })
}

test('ten thousand events are loaded in pages and only visible ones are rendered', async ({
  user,
  long,
  newPerson,
}) => {
  const person = await newPerson({ as: user })
  const { page } = person
  const pages: string[] = []
  page.on('request', (request) => {
    if (/\/events\?.*limit=/.test(request.url())) pages.push(request.url())
  })
  await person.open(`/sandboxes/${long}`)
  await page.getByText(`number ${EVENTS}`, { exact: true }).waitFor()
  const few = await length(page)
  expect(few).toBeLessThan(300)
  expect(pages.length).toBeLessThanOrEqual(2)

  await page.getByRole('region', { name: 'Timeline' }).hover()
  await page.mouse.wheel(0, -200)
  const frames = await scrollUp(page)
  // On a busy machine the frames are over before the pages have arrived. A page keeps the position, so scroll on.
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, -2_000)
      return length(page)
    })
    .toBeGreaterThan(1_000)
  expect(await page.locator('article[data-seq]').count()).toBeLessThan(100)
  expect(await nodes(page)).toBeLessThan(3_000)
  console.log(
    `10,000 events: ${frames.frames} frames, median ${frames.median.toFixed(1)} ms, slowest ${frames.slowest.toFixed(1)} ms`,
  )
})

test('an address opens an old event', async ({ user, long, newPerson }) => {
  const person = await newPerson({ as: user })
  const { page } = person
  const events = await user.api.events(long)
  const wanted = events.find((event) => event.event_data.text === 'number 1234')
  await person.open(`/sandboxes/${long}?at=${wanted?.seq}`)
  const marked = page.locator('article[data-marked]')
  await marked.getByText('number 1234', { exact: true }).waitFor()
  await expect
    .poll(() =>
      marked.evaluate((row) => {
        const { top, bottom } = row.getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      }),
    )
    .toBe(true)
  expect(await nodes(page)).toBeLessThan(3_000)
  await page.keyboard.press('End')
  await page.getByText(`number ${EVENTS}`, { exact: true }).waitFor()
  expect(page.url()).not.toContain('at=')
})
