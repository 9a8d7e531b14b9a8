import type { Page } from 'playwright-core'
import { newUser } from './house/api'
import { axe } from './house/axe'
import { Person } from './house/person'
import { makeScene } from './house/scene'
import { expect, test as plain } from './house/test'
import { SCREENS } from './screens'

const NARROW = { width: 380, height: 800 }

/** Fleet that all screens share. No test here changes it. */
const test = plain
  .extend('user', { scope: 'file' }, ({ admin }) => newUser(admin))
  .extend('scene', { scope: 'file' }, async ({ user, model }, { onCleanup }) => {
    onCleanup(() => user.api.endAll())
    return await makeScene(user.api, model)
  })

/** Waits until the colours of the new scheme are drawn. */
async function settled(): Promise<void> {
  await new Promise(requestAnimationFrame)
  const transitions = document.getAnimations().filter((one) => one instanceof CSSTransition)
  await Promise.allSettled(transitions.map((one) => one.finished))
}

async function check(page: Page, schemes: readonly ('light' | 'dark')[] = ['light', 'dark']): Promise<void> {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme })
    await page.evaluate(settled)
    expect(await axe(page), colorScheme).toEqual([])
  }
}

/** Number of pixels by which the page is wider than its window. */
function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}

test.for(SCREENS)(
  'the screen $name is accessible, also on a narrow window',
  async (screen, { scene, user, newPerson, admin }) => {
    const person = await newPerson({ as: screen.isForAdmin ? { id: 'admin', api: admin } : user })
    const { page } = person
    await person.open(screen.path(scene))
    await screen.begin?.(page)
    await screen.shown(page)
    await check(page)
    await page.setViewportSize(NARROW)
    await screen.shown(page)
    await expect.poll(() => overflow(page)).toBe(0)
    // The narrow layout has the same colours.
    await check(page, ['light'])
  },
)

test.for(SCREENS.filter((screen) => screen.empty))(
  'the screen $name has an accessible empty state',
  async (screen, { scene, person, page }) => {
    await person.open(screen.path(scene))
    await screen.empty?.(page)
    await check(page)
  },
)

test('the sign-in page is accessible', async ({ browser, admin }) => {
  const visitor = await Person.arrive(browser, { id: 'admin', api: admin })
  visitor.guard.expect(/status of 401/)
  await visitor.open('/sign-in')
  await visitor.page.getByLabel('API key').fill('wrong')
  await check(visitor.page)
  await visitor.page.keyboard.press('Enter')
  await visitor.page.getByRole('alert').waitFor()
  await check(visitor.page)
  await visitor.page.setViewportSize(NARROW)
  await expect.poll(() => overflow(visitor.page)).toBe(0)
  await visitor.leave()
})

test('the keyboard help is accessible', async ({ person, page }) => {
  await person.open('')
  await page.getByText('No sandbox yet').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  await check(page)
})
