import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { newUser } from '../house/api'
import { settled } from '../house/axe'
import { Person } from '../house/person'
import { makeScene } from '../house/scene'
import { test as plain } from '../house/test'
import { SCREENS } from '../screens'

const OUT = join(import.meta.dirname, '../../../docs/console')

const test = plain
  .extend('user', { scope: 'file' }, ({ admin }) => newUser(admin, 'ada'))
  .extend('scene', { scope: 'file' }, async ({ admin, user, model }, { onCleanup }) => {
    onCleanup(() => user.api.endAll())
    await mkdir(OUT, { recursive: true })
    await Promise.all(['bruno', 'carla', 'deploy-bot'].map((name) => newUser(admin, name)))
    return await makeScene(user.api, model)
  })

async function take(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await settled(page)
    await page.screenshot({ path: join(OUT, `${name}-${colorScheme}.png`), caret: 'hide', animations: 'disabled' })
  }
}

test.for(SCREENS)('$name', async (screen, { scene, user, newPerson, admin }) => {
  const person = await newPerson({ as: screen.isForAdmin ? { id: 'admin', api: admin } : user })
  await person.open(screen.path(scene))
  await screen.begin?.(person.page)
  await screen.shown(person.page)
  await screen.ripe?.(person.page)
  await take(person.page, screen.name)
})

test('sign-in', async ({ browser, admin }) => {
  const visitor = await Person.arrive(browser, { id: 'admin', api: admin })
  visitor.guard.expect(/status of 401/)
  await visitor.open('/sign-in')
  await visitor.page.getByText('version').waitFor()
  await take(visitor.page, 'sign-in')
  await visitor.leave()
})

test('shortcuts', async ({ scene, user, newPerson }) => {
  const { page } = await newPerson({ as: user })
  await page.goto(`/console/sandboxes/${scene.asking}`)
  await page.getByRole('button', { name: 'Approve' }).waitFor()
  await page.locator('body').press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  await take(page, 'shortcuts')
})
