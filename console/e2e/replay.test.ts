import type { Locator, Page } from 'playwright-core'
import { agent } from './house/agents'
import { axe } from './house/axe'
import { bash } from './house/model'
import type { Person } from './house/person'
import { expect, test } from './house/test'

const STEPS = [
  {
    thinking: 'Where to begin?',
    text: 'First I look.',
    tools: [bash('echo one > one.txt')],
    usage: { input_tokens: 20_000, output_tokens: 500 },
  },
  { text: 'Then I try.', tools: [bash('exit 3')], usage: { input_tokens: 30_000, output_tokens: 700 } },
  { text: 'All done.', usage: { input_tokens: 10_000, output_tokens: 100 } },
]

/** A run that has ended before the page is opened. */
async function ended(person: Person): Promise<string> {
  const id = await person.api.spawn(agent('Look and try'))
  await expect.poll(async () => (await person.api.read(id)).status).toBe('completed')
  await person.open(`/sandboxes/${id}`)
  return id
}

const timeline = (page: Page) => page.getByRole('region', { name: 'Timeline' })
const line = (page: Page) => page.getByRole('slider', { name: 'Moment of the run' })
const at = (page: Page) => Number(new URL(page.url()).searchParams.get('at'))

test('an ended run is replayed event by event', async ({ person, page, model }) => {
  await model.play(...STEPS)
  const id = await ended(person)
  const events = await person.api.events(id)
  const seqOf = (type: string, n = 0) => events.filter((one) => one.event_type === type)[n]?.seq ?? 0

  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByText(/Covers events 1 to/).waitFor()
  await timeline(page).getByText('First I look.').waitFor({ state: 'detached' })
  await expect.poll(() => timeline(page).getByRole('article').count()).toBe(1)

  await line(page).focus()
  const wanted = seqOf('agent.tool_use')
  for (let seq = 1; seq < wanted; seq++) await page.keyboard.press('ArrowRight')
  await timeline(page).getByText('First I look.').waitFor()
  await timeline(page).getByRole('button', { name: 'echo one' }).getByText('running').waitFor()
  await expect.poll(() => at(page)).toBe(wanted)

  await page.reload()
  await timeline(page).getByRole('button', { name: 'echo one' }).getByText('running').waitFor()
  await expect.poll(() => line(page).getAttribute('aria-valuetext')).toContain(`Event ${wanted},`)
  expect(await axe(page)).toEqual([])
})

test('cost, tokens and tools match the replayed moment', async ({ person, page, model }) => {
  await model.play(...STEPS)
  const id = await ended(person)
  const first = (await person.api.events(id)).find((one) => one.event_type === 'agent.model_call')?.seq
  const facts = page.getByRole('complementary', { name: 'Facts' })
  await facts.getByText('60k').or(facts.getByText('60.0k')).waitFor()
  await person.open(`/sandboxes/${id}?replay=true&at=${first}`)
  await facts.getByText('Cost at this moment').waitFor()
  await facts.getByText('20.0k').waitFor()
  await page.getByRole('button', { name: 'Live' }).click()
  await facts.getByText('60.0k').waitFor()
  await timeline(page).getByText('All done.').first().waitFor()
})

test('a replay runs to the end and stops', async ({ person, page, model }) => {
  await model.play(...STEPS)
  // The page may list the files of the sandbox while the sandbox ends.
  person.guard.expect(/status of 404 .*\/files\?/)
  // An ended sandbox appends no events, so the end does not move.
  await person.api.end(await ended(person))
  await timeline(page).getByText('Sandbox ended').waitFor()
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByRole('button', { name: '16×' }).click()
  await page.getByRole('button', { name: 'Play', exact: true }).click()
  await timeline(page).getByText('All done.').first().waitFor()
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
  const end = await line(page).getAttribute('max')
  expect(Number(await line(page).inputValue())).toBeCloseTo(Number(end))
})

test('a running run is replayed and then followed live', async ({ person, page, model }) => {
  const wait = bash('until [ -e go ]; do sleep 0.05; done; echo went on')
  await model.play({ text: 'I wait.', tools: [wait] }, { text: 'All done.' })
  const id = await person.api.spawn(agent('Wait for me'))
  await person.open(`/sandboxes/${id}`)
  await timeline(page).getByText('I wait.').waitFor()
  await page.getByRole('button', { name: 'Replay' }).click()
  await timeline(page).getByText('I wait.').waitFor({ state: 'detached' })
  await person.api.run(id, 'touch go')
  await expect.poll(async () => (await person.api.read(id)).status).toBe('completed')
  expect(await timeline(page).getByRole('article').count()).toBe(1)
  await page.getByRole('button', { name: 'Live', exact: true }).click()
  await timeline(page).getByText('All done.').first().waitFor()
  expect(new URL(page.url()).search).toBe('')
})

test('the cost over time is a chart, a sentence and a table', async ({ person, page, model }) => {
  await model.play(...STEPS)
  const id = await ended(person)
  const calls = (await person.api.events(id)).filter((one) => one.event_type === 'agent.model_call')
  await page.getByRole('button', { name: /^Cost over time: \$/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Cost over time' })
  await dialog.getByText(/60,000 tokens in, 1,300 out/).waitFor()
  await dialog.getByText('budget $1.00').waitFor()
  expect(await axe(page)).toEqual([])
  const chart = dialog.getByRole('figure').filter({ hasText: 'budget' })
  for (const value of ['$0.00', '$0.25', '$0.50', '$0.75', '$1.00'])
    await chart.getByText(value, { exact: true }).waitFor()
  const middle = async (place: Locator) => {
    const box = await place.boundingBox()
    return (box?.y ?? 0) + (box?.height ?? 0) / 2
  }
  const [zero, most] = [chart.getByText('$0.00', { exact: true }), chart.getByText('$1.00', { exact: true })]
  const plot = await chart.locator('svg').boundingBox()
  expect(Math.abs((await middle(zero)) - (plot?.y ?? 0) - (plot?.height ?? 0))).toBeLessThan(4)
  expect(Math.abs((await middle(most)) - (plot?.y ?? 0))).toBeLessThan(4)
  const times = await chart.locator('time').allTextContents()
  expect(times).toHaveLength(5)
  for (const time of times) expect(time).toMatch(/^\d{1,2}:\d{2}/)
  await dialog.getByRole('button', { name: 'As a table' }).click()
  const rows = dialog.getByRole('row')
  await expect.poll(() => rows.count()).toBe(1 + calls.length)
  expect(await rows.last().textContent()).toContain('60,000')
  expect(await axe(page)).toEqual([])
})
