import type { Locator, Page } from 'playwright-core'
import { script } from './house/agents'
import { expect, test } from './house/test'

test('an unknown page is inside the frame', async ({ person, page }) => {
  await person.open('/no/such/page')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Fleet' }).click()
  await page.getByRole('heading', { name: 'Fleet' }).waitFor()
})

test('a part that fails to load is tried again, and then by the user', async ({ person, page }) => {
  person.guard.expect(
    /ERR_CONNECTION_RESET|ERR_FAILED|Failed to fetch dynamically imported module|A part of the console could not be loaded/,
  )
  const id = await person.api.sandbox(`parts-${person.id}`)
  await person.api.run(id, 'touch kept.txt')
  let refused = 0
  await page.route(/assets\/(FilesPanel|SettingsScreen)-.*\.js/, (route) => {
    const isRefused = route.request().url().includes('Settings') || refused < 2
    refused++
    return isRefused ? route.abort('connectionreset') : route.continue()
  })
  await person.open(`/sandboxes/${id}?tab=files`)
  await page.getByRole('tree').getByText('kept.txt').waitFor()
  expect(refused).toBeGreaterThan(2)

  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Retry' }).waitFor()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.getByRole('heading', { name: 'Server' }).waitFor()
})

test('a pane keeps the width that the user gave it', async ({ person, page }) => {
  const id = await person.api.spawn(script('Wait', 'read task; sleep 1000'))
  await person.open(`/sandboxes/${id}`)
  const facts = page.getByRole('complementary', { name: 'Facts' })
  const width = async () => Math.round((await facts.boundingBox())?.width ?? 0)
  await expect.poll(width).toBe(280)
  const line = page.getByRole('separator', { name: 'Width of the facts' })
  await line.focus()
  await page.keyboard.press('ArrowLeft')
  await expect.poll(width).toBe(304)
  // The element has no width; its area for the pointer is wider.
  const x = (await line.boundingBox())?.x ?? 0
  await page.mouse.move(x, 400)
  await page.mouse.down()
  await page.mouse.move(x - 100, 400)
  await page.mouse.up()
  await expect.poll(width).toBeGreaterThan(380)
  const wide = await width()
  await page.reload()
  await expect.poll(width).toBe(wide)
})

/** Moves a line with a key, and expects that the pane is wider, also after a reload. */
async function widen(page: Page, pane: Locator, label: string, key: 'ArrowLeft' | 'ArrowRight'): Promise<void> {
  const width = async () => Math.round((await pane.boundingBox())?.width ?? 0)
  await pane.waitFor()
  const before = await width()
  await page.getByRole('separator', { name: label }).focus()
  await page.keyboard.press(key)
  await expect.poll(width).toBe(before + 24)
  await page.reload()
  await pane.waitFor()
  await expect.poll(width).toBe(before + 24)
}

test('the panes of the inbox and of the events can be resized', async ({ newPerson }) => {
  const person = await newPerson({ viewport: { width: 1280, height: 800 } })
  const { page } = person
  const id = await person.api.spawn(script('Break', 'exit 3'))
  await expect.poll(async () => (await person.api.read(id)).status).toBe('failed')
  await person.open('/inbox')
  await widen(page, page.getByRole('list', { name: 'Inbox' }), 'Width of the list', 'ArrowRight')
  await person.open(`/sandboxes/${id}?tab=events&at=1`)
  await widen(page, page.getByRole('region', { name: 'Event 1', exact: true }), 'Width of the event', 'ArrowLeft')
  // Narrow pages show the panes one after the other.
  await page.setViewportSize({ width: 390, height: 800 })
  await expect.poll(() => page.getByRole('separator').count()).toBe(0)
})

test('letters come from the fonts of the console', async ({ person, page }) => {
  await person.open('')
  await page.getByRole('heading', { name: 'Fleet' }).waitFor()
  const loaded = () =>
    page.evaluate(() => [...document.fonts].filter((font) => font.status === 'loaded').map((font) => font.family))
  await expect.poll(loaded).toEqual(expect.arrayContaining([expect.stringContaining('Inter')]))
})
