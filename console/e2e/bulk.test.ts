import { script } from './house/agents'
import { axe } from './house/axe'
import { expect, test } from './house/test'

const IDLE = 'sleep 1000'

test('keys select sandboxes, which are paused and resumed together', async ({ person, page }) => {
  const ids = await Promise.all(['one', 'two', 'three'].map((each) => person.api.spawn(script(`Idle ${each}`, IDLE))))
  await person.open('?sort=title')
  await page.getByRole('link', { name: 'Idle two' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  const bar = page.getByRole('region', { name: 'Selected sandboxes' })
  await bar.getByText('2 selected').waitFor()
  expect(await axe(page)).toEqual([])
  await bar.getByRole('button', { name: 'Pause' }).click()
  const states = async () => (await Promise.all(ids.map((id) => person.api.read(id)))).map((each) => each.state)
  await expect.poll(async () => (await states()).filter((state) => state === 'paused').length).toBe(2)
  await page
    .getByRole('row', { name: /Idle one/ })
    .getByText('Paused', { exact: true })
    .waitFor()
  await page
    .getByRole('row', { name: /Idle three/ })
    .getByText('Paused', { exact: true })
    .waitFor()

  await bar.getByRole('button', { name: 'Resume' }).click()
  await expect.poll(states).toEqual(['running', 'running', 'running'])
  await page.getByRole('link', { name: 'Idle two' }).focus()
  await page.keyboard.press('p')
  await expect.poll(states).toEqual(['running', 'paused', 'running'])
})

test('the order of the fleet stays fixed until it is refreshed', async ({ person, page }) => {
  const ids = { one: await person.api.spawn(script('one', IDLE)), two: await person.api.spawn(script('two', IDLE)) }
  for (const id of Object.values(ids)) await expect.poll(async () => (await person.api.read(id)).status).toBe('running')
  await person.open('?sort=status')
  const titles = () => page.getByRole('table').getByRole('link').allInnerTexts()
  await expect.poll(async () => (await titles()).length).toBe(2)
  const before = await titles()
  const last = before[1] === 'one' ? 'one' : 'two'
  await page.keyboard.press('j')
  // Paused sandboxes are listed before running ones.
  await person.api.post(`/api/v1/sandboxes/${ids[last]}/pause`)
  const again = page.getByRole('button', { name: 'The order has changed. Sort again' })
  await again.waitFor()
  await page.keyboard.press('j')
  expect(await titles()).toEqual(before)
  await again.click()
  await expect.poll(titles).toEqual(before.toReversed())
})

test('ending many sandboxes needs a typed confirmation', async ({ person, page }) => {
  const ids = await Promise.all(Array.from({ length: 5 }, (_, at) => person.api.spawn(script(`Idle ${at}`, IDLE))))
  await person.open('')
  await page.getByRole('link', { name: 'Idle 4' }).waitFor()
  await page.getByLabel('Select all shown').check()
  await page.getByRole('button', { name: 'End', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'End 5 sandboxes?' })
  expect(await dialog.getByRole('button', { name: 'End 5' }).isDisabled()).toBe(true)
  await dialog.getByRole('textbox').fill('end 5')
  await dialog.getByRole('button', { name: 'End 5' }).click()
  const states = async () => (await Promise.all(ids.map((id) => person.api.read(id)))).map((each) => each.state)
  await expect.poll(states).toEqual(Array(5).fill('terminated'))
  await page.getByText('No sandbox yet').waitFor()
})

test('the server panel marks problems with a reason', async ({ person, page }) => {
  await page.route('**/api/v1/node', async (route) => {
    const answer = await route.fetch()
    const node = await answer.json()
    await route.fulfill({ json: { ...node, sandboxes: { active: 7, most: 7 }, failing: { store: 'no answer' } } })
  })
  await person.open('')
  const server = page.getByRole('region', { name: 'Server' })
  await server.getByText('7 of 7').waitFor()
  await server.getByText('The server has the maximum number of sandboxes').waitFor({ state: 'attached' })
  await server.getByText('fails').waitFor()
  await server.getByText(/free/).first().waitFor()
})

test('the palette finds sandboxes, screens and commands', async ({ person, page }) => {
  const id = await person.api.spawn(script('Find the needle', IDLE))
  await person.open('')
  await page.getByRole('link', { name: 'Find the needle' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('needle')
  await page.getByRole('option', { name: /Find the needle/ }).waitFor()
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/sandboxes/${id}`)
  await page.getByRole('heading', { name: 'Find the needle' }).waitFor()

  await page.keyboard.press('Control+k')
  await page.keyboard.type('pause')
  await page.getByRole('option', { name: /pause/i }).first().waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(async () => (await person.api.read(id)).state).toBe('paused')

  await page.keyboard.press('Control+k')
  await page.keyboard.type('go to the inbox')
  await page.getByRole('option', { name: 'Go to the inbox' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  await page.keyboard.press('F6')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/inbox')
})
