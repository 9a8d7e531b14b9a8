import type { Page } from 'playwright-core'
import { script } from './house/agents'
import { expect, test } from './house/test'

/** Presses two keys within a second, without waiting for the page in between. */
async function pressBoth(page: Page, first: string, second: string): Promise<void> {
  await Promise.all([page.keyboard.press(first), page.keyboard.press(second)])
}

test('keys open every screen, and the keyboard help lists them', async ({ person, page }) => {
  await person.api.spawn(script('Mow the lawn', 'sleep 600 & wait'))
  await person.open('')
  await page.getByRole('link', { name: 'Mow the lawn' }).waitFor()
  await page.keyboard.press('?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard' })
  await sheet.getByText('Go to the inbox').waitFor()
  await sheet.getByText('Next sandbox').waitFor()
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })

  await pressBoth(page, 'g', 'i')
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('main')
  await pressBoth(page, 'g', 'f')
  await page.getByRole('link', { name: 'Mow the lawn' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Mow the lawn' }).waitFor()
  await page.getByRole('tab', { name: 'Timeline' }).focus()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('tab', { name: 'Timeline', selected: false }).waitFor()
})

test('typed keys are text, and single keys can be turned off', async ({ person, page }) => {
  await person.open('')
  await page.getByRole('searchbox').fill('')
  await page.getByRole('searchbox').focus()
  await page.keyboard.type('gi?')
  expect(await page.getByRole('searchbox').inputValue()).toBe('gi?')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByLabel('Keys without Ctrl or Alt').uncheck()
  await page.keyboard.press('Escape')
  await pressBoth(page, 'g', 'i')
  await page.reload()
  await page.getByRole('heading', { name: 'Fleet' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/console')
})

test('the theme follows the system until the user chooses one', async ({ newPerson }) => {
  const person = await newPerson({ colorScheme: 'dark' })
  const { page } = person
  const ink = () => page.evaluate(() => getComputedStyle(document.body).color)
  await person.open('')
  await page.getByRole('heading', { name: 'Fleet' }).waitFor()
  const dark = await ink()
  await page.getByRole('button', { name: 'Theme: system' }).click()
  await page.getByRole('button', { name: 'Theme: light' }).waitFor()
  await expect.poll(ink).not.toBe(dark)
  await page.reload()
  await page.getByRole('button', { name: 'Theme: light' }).click()
  await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
  await expect.poll(ink).toBe(dark)
})
