import type { Route } from 'playwright-core'
import { agent, script } from './house/agents'
import { expect, test } from './house/test'

const ASKS = {
  when: { contains: 'Merge' },
  text: 'I ask.',
  tools: [{ name: 'AskPerson', input: { reason: 'merge conflict', description: 'Ours or theirs?' } }],
}
const APPROVED = { when: { contains: 'approve' }, text: 'So it is merged.' }
const REJECTED = { when: { contains: 'reject' }, text: 'Then I leave it.' }

test('a question is approved beside the timeline, and the comment reaches the agent', async ({
  person,
  page,
  model,
}) => {
  await model.play(ASKS, APPROVED, REJECTED)
  const id = await person.api.spawn(agent('Merge it'))
  await person.open(`/sandboxes/${id}`)
  const card = page.getByRole('region', { name: 'The agent asks: merge conflict' })
  await card.getByText('Ours or theirs?').waitFor()
  await card.getByLabel('Comment').fill('theirs is newer')
  await card.getByRole('button', { name: 'Approve' }).click()
  await card.waitFor({ state: 'detached' })
  await page.getByText(`Approved by ${person.id}: theirs is newer`).waitFor()
  await page.getByText('So it is merged.').first().waitFor()
  expect(await model.asked()).toContain('theirs is newer')
})

test('a question is shown once, and its Markdown is rendered', async ({ person, page, model }) => {
  const input = { reason: 'merge conflict', description: 'Take `theirs`:\n\n- it is **newer**' }
  await model.play({ ...ASKS, tools: [{ name: 'AskPerson', input }] }, APPROVED, REJECTED)
  const id = await person.api.spawn(agent('Merge it'))
  await person.open(`/sandboxes/${id}`)
  const card = page.getByRole('region', { name: 'The agent asks: merge conflict' })
  await card.getByRole('listitem').getByRole('strong').getByText('newer').waitFor()
  await card.getByRole('code').getByText('theirs').waitFor()
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await timeline.getByRole('button', { name: 'AskPerson' }).waitFor()
  await timeline.getByRole('button', { name: 'Question' }).getByText('waiting for an answer').waitFor()
  expect(await timeline.getByText('merge conflict').count()).toBe(0)
  expect(await timeline.getByText('theirs').count()).toBe(0)
  await card.getByRole('button', { name: 'Approve' }).click()
  await timeline.getByText('merge conflict').waitFor()
  await card.waitFor({ state: 'detached' })
  expect(await page.getByText('merge conflict').count()).toBe(1)
})

test('a question that the agent asks while the page loads is shown', async ({ person, page }) => {
  const question = JSON.stringify({ type: 'review', id: 'r', reason: 'merge conflict', description: 'Ours?' })
  const id = await person.api.spawn(script('Ask', `read task; read message; echo '${question}'; read answer`))
  let respond = () => {}
  const isShown = new Promise<void>((resolve) => {
    respond = resolve
  })
  const readsFirst = async (route: Route) => {
    // The server has no question yet. The page gets this response after the event of the question.
    const response = await route.fetch()
    await person.api.post(`/api/v1/sandboxes/${id}/messages`, { content: 'Ask now' })
    await isShown
    await route.fulfill({ response })
  }
  await page.route(`**/api/v1/sandboxes/${id}/reviews`, readsFirst, { times: 1 })
  await person.open(`/sandboxes/${id}`)
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await timeline.getByText('waiting for an answer').waitFor()
  respond()
  await page.getByRole('region', { name: 'The agent asks: merge conflict' }).getByText('Ours?').waitFor()
})
