import type { Page } from 'playwright-core'
import { agent } from './house/agents'
import { bash, type Step } from './house/model'
import type { Person } from './house/person'
import { expect, test } from './house/test'

/** Tool call that ends when a test releases it or a user interrupts it. */
const UNTIL_TOLD = 'until [ -e go ]; do sleep 0.05; done; echo went on'
const WAITS: Step = {
  when: { contains: 'Call the API' },
  thinking: 'Which API is it?',
  text: 'I wait.',
  tools: [bash(UNTIL_TOLD)],
  usage: { input_tokens: 100_000, output_tokens: 2_000 },
}
const OBEYS: Step = { when: { contains: 'the other API' }, text: 'As you say.', tools: [bash('echo other | tee api')] }
const GOES_ON: Step = {
  when: { contains: 'went on', lacks: 'the other API' },
  text: 'As planned.',
  tools: [bash('echo planned | tee api')],
}
const ENDS: Step = { text: 'All done.' }

async function watch(person: Person, title: string): Promise<string> {
  const id = await person.api.spawn(agent(title))
  await person.open(`/sandboxes/${id}`)
  return id
}

/** A key does nothing while its button is disabled. */
async function enabled(page: Page, button: string): Promise<void> {
  await expect.poll(() => page.getByRole('button', { name: button, exact: true }).isEnabled()).toBe(true)
}

test('a run is shown live, and a message changes its next step', async ({ person, page, model }) => {
  await model.play(WAITS, OBEYS, GOES_ON, ENDS)
  const id = await watch(person, 'Call the API')
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await timeline.getByText('Which API is it?').waitFor()
  await timeline.getByText('I wait.').waitFor()
  await timeline.getByRole('button', { name: UNTIL_TOLD }).getByText('running').waitFor()

  await page.keyboard.press('m')
  await page.keyboard.type('Use the other API.')
  await enabled(page, 'Send')
  await page.keyboard.press('Control+Enter')
  const said = timeline.getByRole('article').filter({ hasText: `Message by ${person.id}` })
  await said.getByText('delivered').waitFor()
  await expect.poll(() => page.getByLabel('Message to the agent').inputValue()).toBe('')
  await person.api.run(id, 'touch go')

  await timeline.getByText('As you say.').waitFor()
  await timeline.getByRole('button', { name: 'echo other | tee api' }).click()
  await timeline.locator('pre').getByText('other', { exact: true }).waitFor()
  await page.getByText('The run has ended: nobody would hear a message.').waitFor()
  await page.locator('header').getByText('Completed').first().waitFor()
  expect(await model.asked()).toContain('Use the other API.')
  expect(await person.api.run(id, 'cat api')).toBe('other\n')
  expect(await timeline.getByText('As planned.').count()).toBe(0)
})

test('the cost is counted while the run is active', async ({ person, page, model }) => {
  await model.play(WAITS, ENDS)
  const id = await watch(person, 'Call the API')
  const facts = page.getByRole('complementary', { name: 'Facts' })
  const cost = async () => (await person.api.read(id)).run?.cost_usd ?? 0
  await expect.poll(cost).toBeGreaterThan(0)
  await facts.getByText('100k').waitFor()
  await facts
    .getByRole('strong')
    .getByText(`$${(await cost()).toFixed(2)}`)
    .waitFor()
  await facts.getByRole('meter', { name: 'Budget spent' }).waitFor()
})

test('guidance reaches the agent before its next step', async ({ person, page, model }) => {
  await model.play(WAITS, OBEYS, GOES_ON, ENDS)
  const id = await watch(person, 'Call the API')
  await page.getByText('I wait.').waitFor()
  await page.getByLabel('Message to the agent').fill('Better the other API.')
  await page.getByRole('button', { name: 'Guide' }).click()
  await page.getByText(`Guidance by ${person.id}`).waitFor()
  await page.getByText('delivered').waitFor()
  await person.api.run(id, 'touch go')
  await page.getByText('As you say.').waitFor()
})

test('an interrupt ends the tool call, and the agent continues', async ({ person, page, model }) => {
  await model.play(WAITS, OBEYS, GOES_ON, ENDS)
  await watch(person, 'Call the API')
  await page.getByRole('button', { name: UNTIL_TOLD }).waitFor()
  await page.getByLabel('Message to the agent').fill('Stop. Take the other API.')
  await enabled(page, 'Interrupt')
  await page.keyboard.press('Control+.')
  await page.getByText(`Interrupt by ${person.id}`).waitFor()
  await page.getByText('As you say.').waitFor()
  await page.getByRole('button', { name: UNTIL_TOLD }).getByText('failed').waitFor()
})

test('a paused sandbox stops until it is resumed', async ({ person, page, model }) => {
  await model.play(WAITS, ENDS)
  const id = await watch(person, 'Call the API')
  await page.getByRole('button', { name: UNTIL_TOLD }).waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  expect((await person.api.read(id)).status).toBe('paused')
  await page.keyboard.press('p')
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await person.api.run(id, 'touch go')
  await page.getByText('All done.').first().waitFor()
})

test('a sandbox ends after a confirmation, and its timeline stays', async ({ person, page, model }) => {
  await model.play(WAITS)
  const id = await watch(person, 'Call the API')
  await page.getByText('I wait.').waitFor()
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click()
  expect((await person.api.read(id)).state).toBe('running')
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor({ state: 'detached' })
  await page.getByText('I wait.').waitFor()
  expect((await person.api.read(id)).state).toBe('terminated')
})
