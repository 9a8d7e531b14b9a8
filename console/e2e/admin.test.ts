import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Api } from './house/api'
import { axe } from './house/axe'
import { Person, signIn } from './house/person'
import { expect, test } from './house/test'

test('a revoked key ends its browser session', async ({ browser, admin }) => {
  const chief = await Person.arrive(browser, { id: 'admin', api: admin })
  await chief.enter()
  await chief.open('/admin')
  const user = `u-${randomBytes(4).toString('hex')}`
  await chief.page.getByRole('button', { name: 'Issue an API key' }).click()
  await chief.page.getByLabel('Label').fill('laptop')
  await chief.page.getByLabel('Expires').selectOption('in 30 days')
  await chief.page.getByLabel('User id').fill(user)
  await chief.page.getByRole('button', { name: 'Issue the key' }).click()
  const key = await chief.page.getByLabel('Key', { exact: true }).inputValue()
  await chief.page.getByRole('button', { name: 'Done' }).click()
  await chief.page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await chief.page.evaluate(() => document.documentElement.outerHTML)).not.toContain(key)
  expect(await axe(chief.page)).toEqual([])
  const line = chief.page.getByRole('listitem').filter({ hasText: user })
  await line.getByText('laptop').waitFor()
  await line.getByText('never used').waitFor()
  await line.getByText(/^expires /).waitFor()

  const visitor = await Person.arrive(browser, { id: user, api: new Api(admin.url, key) })
  visitor.guard.expect(/status of 401/)
  await signIn(visitor.page, key)
  await visitor.page.getByRole('heading', { name: 'Fleet' }).waitFor()

  await chief.page.getByRole('listitem').filter({ hasText: user }).getByRole('button', { name: 'Revoke' }).click()
  await chief.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await chief.page.getByText(user, { exact: true }).waitFor({ state: 'detached' })
  // The browser session ends without a click.
  await visitor.page.getByLabel('API key').waitFor()
  await expect(visitor.api.get('/threads')).rejects.toThrow('401')
  await visitor.leave()
  await chief.leave()
})

test('the audit log is filtered by the address and can be downloaded', async ({ browser, admin, person }) => {
  const id = await person.api.sandbox(`t-${person.id}`)
  await person.api.run(id, 'true')
  const chief = await Person.arrive(browser, { id: 'admin', api: admin })
  await chief.enter()
  const { page } = chief
  await chief.open('/admin?part=audit')
  await page.getByLabel('User', { exact: true }).fill(person.id)
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/admin?*user=${person.id}*`)
  const names = async () => new Set(await page.getByRole('listitem').locator('strong').allTextContents())
  await expect.poll(names).toEqual(new Set([person.id]))
  await page.getByRole('listitem').getByText('Ran a command').first().waitFor()
  await page.getByLabel('Action').selectOption('Got a token')
  await page.waitForURL('**/console/admin?*kind=issued*')
  await page.getByText('Ran a command').waitFor({ state: 'detached' })

  // New entries appear.
  const before = await page.getByText('Got a token').count()
  await person.api.sandbox(`t-${person.id}`)
  await expect
    .poll(async () => (await page.getByRole('listitem').allTextContents()).join(' '))
    .toMatch(/Got a token.*Got a token/s)
  expect(before).toBeGreaterThan(0)

  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'NDJSON' }).click(),
  ])
  const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n')
  expect(new Set(lines.map((line) => JSON.parse(line).kind))).toEqual(new Set(['issued']))
  await page.getByLabel('Outcome').selectOption('refused or failed')
  await page.getByText('No matches').waitFor()
  await page.getByRole('button', { name: 'Show everything' }).click()
  await page.getByRole('listitem').first().waitFor()
  expect(await axe(page)).toEqual([])

  await page.getByRole('link', { name: 'Sandboxes' }).click()
  await page.getByRole('link', { name: `t-${person.id}` }).waitFor()
  expect(await axe(page)).toEqual([])
  await chief.leave()
})

test('the admin page is for the admin only', async ({ person, page }) => {
  await person.open('/admin')
  await page.getByText('Only the admin has access').waitFor()
  expect(await page.getByRole('navigation', { name: 'Main' }).getByText('Admin').count()).toBe(0)
})

test('settings are stored in the browser and show the signed-in user', async ({ person, page }) => {
  person.guard.expect(/status of 401/)
  await person.open('/settings')
  await page.getByText(person.id).last().waitFor()
  await page.getByRole('radio', { name: 'Dark' }).check()
  await page.getByRole('radio', { name: 'Date and time' }).check()
  await page.getByRole('checkbox', { name: 'Keys without Ctrl or Alt' }).uncheck()
  await page.reload()
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
  expect(await page.getByRole('radio', { name: 'Date and time' }).isChecked()).toBe(true)
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('n')
  expect(new URL(page.url()).pathname).toBe('/console/settings')
  await page.getByRole('button', { name: 'Sign out of this browser' }).click()
  await page.getByLabel('API key').waitFor()
})
