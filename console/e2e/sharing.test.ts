import { agent, script } from './house/agents'
import { axe } from './house/axe'
import { bash } from './house/model'
import type { Person } from './house/person'
import { expect, test } from './house/test'

async function invite(person: Person, guest: string, preset: string): Promise<void> {
  const { page } = person
  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog', { name: 'Invite a user' })
  await dialog.getByLabel('User id').fill(guest)
  await dialog.getByRole('button', { name: preset }).click()
  await dialog.getByRole('button', { name: 'Invite' }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('an observer sees the timeline, cannot write, and loses access immediately', async ({
  person,
  page,
  newPerson,
  model,
}) => {
  await model.play(
    { text: 'I wait for nobody.', tools: [bash('until [ -e go ]; do sleep 0.05; done')] },
    { text: 'Done.' },
  )
  const id = await person.api.spawn(agent('Show it to a guest'))
  const guest = await newPerson()
  guest.guard.expect(/status of 40[34]/)
  await person.open(`/sandboxes/${id}`)
  await page.getByText('I wait for nobody.').waitFor()
  await page.keyboard.press('s')
  await invite(person, guest.id, 'Observer')
  const people = page.getByRole('region', { name: 'People' })
  await people.getByText(guest.id, { exact: true }).waitFor()
  await people.getByText('shell:ro').waitFor()

  await guest.open('')
  await guest.page.getByRole('link', { name: 'Show it to a guest' }).click()
  await guest.page.getByText('I wait for nobody.').waitFor()
  await guest.page.getByText('You have read access.').waitFor()
  expect(await guest.page.getByLabel('Message to the agent').count()).toBe(0)
  await expect.poll(() => guest.page.getByRole('button', { name: 'Pause' }).count()).toBe(0)
  await expect(guest.api.post(`/api/v1/sandboxes/${id}/messages`, { content: 'Let me' })).rejects.toThrow('403')

  const connected = page.getByRole('region', { name: 'Connected now' })
  await connected.getByRole('listitem').filter({ hasText: guest.id }).getByText('reads the timeline').waitFor()
  await page
    .getByRole('region', { name: 'Recent accesses' })
    .getByRole('listitem')
    .filter({ hasText: guest.id })
    .filter({ hasText: 'Was refused' })
    .first()
    .waitFor()
  expect(await axe(page)).toEqual([])

  await people.getByRole('button', { name: `Remove the member ${guest.id}` }).click()
  await people.getByText(`${guest.id} is out`).waitFor()
  await connected.getByText(guest.id, { exact: true }).waitFor({ state: 'detached' })
  await guest.page.getByText('You no longer have access to this sandbox').waitFor()
  await expect(guest.api.read(id)).rejects.toThrow('404')
})

test('a changed invitation changes the rights of the guest', async ({ person, page, newPerson }) => {
  const id = await person.api.sandbox(`t-${person.id}`)
  const guest = await newPerson()
  await person.open(`/sandboxes/${id}?tab=sharing`)
  await page.getByText('No other members.').waitFor()
  await page.keyboard.press('i')
  await page.keyboard.press('Escape')
  await invite(person, guest.id, 'Observer')

  await page.getByRole('button', { name: `Change what ${guest.id} may do` }).click()
  const dialog = page.getByRole('dialog', { name: `What ${guest.id} may do` })
  await dialog.getByRole('checkbox', { name: 'fs:rw' }).check()
  expect(await dialog.getByRole('checkbox', { name: 'fs:ro' }).isChecked()).toBe(false)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('region', { name: 'People' }).getByText('fs:rw').waitFor()
  const members = await person.api.get<{ members: { scopes: string[] }[] }>(`/threads/t-${person.id}/members`)
  expect(members.members[0]?.scopes.toSorted()).toEqual(['fs:rw', 'shell:ro'])

  // The fleet may still list the sandbox, and read its events, when the guest has left.
  guest.guard.expect(/status of 404 .*\/events\?/)
  await guest.open(`/sandboxes/${id}?tab=sharing`)
  expect(await guest.page.getByRole('button', { name: 'Invite' }).count()).toBe(0)
  await guest.page.getByRole('button', { name: 'Leave' }).click()
  await guest.page.getByRole('heading', { name: 'Fleet' }).waitFor()
  await page.getByText('No other members.').waitFor()
})

test('a token is shown once, has its scopes, and can be revoked', async ({ person, page }) => {
  const id = await person.api.sandbox(`t-${person.id}`)
  await person.api.run(id, 'echo hello > greeting')
  await person.open(`/sandboxes/${id}?tab=sharing`)
  await page.getByRole('button', { name: 'Issue a token' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio', { name: '5 minutes', exact: true }).check()
  await dialog.getByRole('button', { name: 'Issue the token' }).click()
  const token = await dialog.getByLabel('Token', { exact: true }).inputValue()
  expect(await dialog.getByLabel('Line').inputValue()).not.toContain(token)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })

  const read = () =>
    fetch(`${person.api.url}/sandboxes/${id}/files/greeting`, { headers: { Authorization: `Bearer ${token}` } })
  expect(await (await read()).text()).toBe('hello\n')
  expect(await page.evaluate(() => document.documentElement.outerHTML)).not.toContain(token)

  const tokens = page.getByRole('region', { name: 'Tokens' })
  const ends = tokens.getByRole('button', { name: 'Revoke the token' })
  const none = tokens.getByText('No valid tokens.')
  await ends.first().waitFor()
  while ((await none.count()) === 0) {
    const name = (await tokens.locator('code').first().textContent()) ?? ''
    await ends.first().click()
    await tokens.getByText(name, { exact: true }).waitFor({ state: 'detached' })
  }
  expect((await read()).status).toBe(401)
})

test('sharing fits a small screen in the dark theme', async ({ newPerson }) => {
  const person = await newPerson({ colorScheme: 'dark', viewport: { width: 380, height: 800 } })
  const id = await person.api.spawn(script('Small', 'sleep 1000'))
  await person.open(`/sandboxes/${id}?tab=sharing`)
  await person.page.getByRole('region', { name: 'Connected now' }).getByText(person.id).waitFor()
  expect(await person.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(380)
  expect(await axe(person.page)).toEqual([])
})
