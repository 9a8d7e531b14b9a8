import { script, told } from './house/agents'
import { expect, test } from './house/test'

/** A call that fails, as an agent reports it. */
function failing(number: number): string {
  const call = { tool_use_id: `t${number}`, tool_name: 'Bash' }
  const used = told('agent.tool_use', { ...call, tool_input: { command: 'make it' }, shell_command: 'make it' })
  const failed = told('agent.tool_result', { ...call, content: 'no rule to make it', is_error: true, exit_code: 2 })
  return `${used}; ${failed}`
}

test('notes of the guardian are in the timeline, with the events that show the pattern', async ({ person, page }) => {
  const calls = Array.from({ length: 6 }, (_, number) => failing(number)).join('; ')
  const id = await person.api.spawn(script('Make it', `read task; ${calls}; sleep 600 & wait`))
  await person.open(`/sandboxes/${id}`)
  const timeline = page.getByRole('region', { name: 'Timeline' })
  const note = timeline.locator('article').filter({ hasText: 'Guardian sent a message' })
  await note.getByText('repeated_failure').waitFor()
  await note.getByText(/make it.* failed \d+ times/).waitFor()
  await timeline.getByText('Message of the guardian').waitFor()
  await note.getByRole('link', { name: /^\d+$/ }).last().click()
  await page.waitForURL(/[?&]at=\d+/)
  await page.getByRole('button', { name: /^Guardian \d/ }).click()
  await timeline.getByText('no rule to make it').first().waitFor({ state: 'detached' })
  expect(await note.count()).toBe(1)
})
