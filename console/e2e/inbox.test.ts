import { agent, script } from './house/agents'
import { expect, test } from './house/test'

const ASKS = {
  when: { contains: 'Merge' },
  text: 'I ask.',
  tools: [{ name: 'AskPerson', input: { reason: 'merge conflict', description: 'Ours or theirs?' } }],
}
const APPROVED = { when: { contains: 'approve' }, text: 'So it is merged.' }
const REJECTED = { when: { contains: 'reject' }, text: 'Then I leave it.' }

test('a question appears without a reload and is rejected with keys', async ({ person, page, model }) => {
  await model.play(ASKS, APPROVED, REJECTED)
  await person.open('/inbox')
  await page.getByText('No open questions').waitFor()
  const id = await person.api.spawn(agent('Merge it'))
  await page.getByRole('button', { name: 'Question: merge conflict' }).waitFor()
  await page.getByRole('link', { name: 'Inbox' }).getByText('1').waitFor()

  await page.keyboard.press('j')
  await page.getByText('Ours or theirs?').first().waitFor()
  await page.keyboard.press('r')
  await page.getByLabel('Reason').waitFor()
  await page.keyboard.type('neither')
  await page.keyboard.press('Enter')
  await page.getByText(new RegExp(`Rejected by ${person.id} .*neither`)).waitFor()
  await expect.poll(async () => (await person.api.read(id)).status).toBe('completed')
  expect((await person.api.reviews(id))[0]).toMatchObject({ status: 'rejected', comment: 'neither' })
})

test('keys decide nothing while the focus is elsewhere', async ({ person, page, model }) => {
  await model.play(ASKS, APPROVED, REJECTED)
  const id = await person.api.spawn(agent('Merge it'))
  await person.open('/inbox')
  const line = page.getByRole('button', { name: /merge conflict/ })
  await line.waitFor()
  await page.keyboard.press('a')
  expect((await person.api.reviews(id))[0]?.status).toBe('pending')
  await line.focus()
  await page.keyboard.press('a')
  await page.getByText(`Approved by ${person.id}`).first().waitFor()
  await expect.poll(async () => (await person.api.read(id)).status).toBe('completed')
})

test('a question answered elsewhere is locked and shows the user', async ({ person, page, model }) => {
  await model.play(ASKS, APPROVED, REJECTED)
  const id = await person.api.spawn(agent('Merge it'))
  await person.open('/inbox')
  await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
  const [review] = await person.api.reviews(id)
  await person.api.post(`/api/v1/sandboxes/${id}/reviews/${review?.review_id}`, {
    decision: 'approve',
    comment: 'mine',
  })
  await page.getByText(new RegExp(`Approved by ${person.id} .*mine`)).waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0)
})

test('failed runs and interventions are listed until dismissed', async ({ person, page }) => {
  const id = await person.api.spawn(script('Break', 'echo no such thing >&2; exit 3'))
  const other = await person.api.spawn(script('Listen', 'sleep 1000'))
  await person.api.post(`/api/v1/sandboxes/${other}/interventions`, { message: 'Mind the gap', source: 'guardian' })
  await expect.poll(async () => (await person.api.read(id)).status).toBe('failed')
  await person.open('/inbox')
  await page.getByRole('button', { name: /Intervention: Mind the gap/ }).click()
  await page.getByText('guardian sent to the agent:').waitFor()
  await page.getByRole('button', { name: /Failed: .*no such thing/ }).click()
  await page.getByRole('link', { name: 'Continue in a new sandbox' }).waitFor()
  await page.keyboard.press('e')
  await page.getByRole('button', { name: /no such thing/ }).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('button', { name: /Intervention: / }).waitFor()
  expect(await page.getByRole('button', { name: /no such thing/ }).count()).toBe(0)
})
