import { axe } from './house/axe'
import { expect, test } from './house/test'

test('a snapshot is taken and restored', async ({ person, page }) => {
  const id = await person.api.sandbox(`t-${person.id}`)
  await person.api.run(id, 'echo before > file')
  await person.open(`/sandboxes/${id}?tab=snapshots`)
  await page.getByText('No snapshot yet').waitFor()
  await page.keyboard.press('t')
  await page.getByLabel('Name').fill('first')
  await page.getByRole('button', { name: 'Save snapshot' }).click()
  await page.getByText('Saved as first.').waitFor()
  await page.getByText('current files are based on it').waitFor()

  await person.api.run(id, 'echo after > file')
  await page.getByRole('button', { name: 'Restore first' }).click()
  const question = page.getByRole('dialog', { name: 'Restore first?' })
  await question.getByText('are lost').waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(await person.api.run(id, 'cat file')).toBe('after\n')
  await page.getByRole('button', { name: 'Restore first' }).click()
  await question.getByRole('button', { name: 'Restore' }).click()
  await page.getByText('Restored first.').waitFor()
  expect(await person.api.run(id, 'cat file')).toBe('before\n')
  expect(await axe(page)).toEqual([])

  await page.getByRole('button', { name: 'Delete first' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete it' }).click()
  await page.getByText('No snapshot yet').waitFor()
})

test('a fork is its own thread and appears in the tree of both', async ({ person, page }) => {
  const thread = `t-${person.id}`
  const id = await person.api.sandbox(thread)
  await person.api.run(id, 'echo origin > file')
  for (const name of ['first', 'second']) await person.api.post(`/threads/${thread}/snapshots`, { name })
  await person.open(`/sandboxes/${id}?tab=snapshots`)
  // The second snapshot is a child of the first.
  await page
    .getByRole('listitem')
    .filter({ hasText: 'first' })
    .getByRole('listitem')
    .getByText('second', { exact: true })
    .waitFor()

  await page.getByRole('button', { name: 'Fork second' }).click()
  const dialog = page.getByRole('dialog', { name: 'Fork second' })
  expect(await dialog.getByLabel('Thread').inputValue()).toBe(`${thread}-fork-1`)
  await dialog.getByRole('button', { name: 'Fork and open it' }).click()
  await page.waitForURL((url) => !url.pathname.includes(id))
  await page.getByRole('heading', { name: `${thread}-fork-1` }).waitFor()
  const fork = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  expect(await person.api.run(fork, 'cat file')).toBe('origin\n')
  await person.api.run(fork, 'echo fork > file')
  expect(await person.api.run(id, 'cat file')).toBe('origin\n')

  await page.getByRole('tab', { name: 'Snapshots' }).click()
  await page.getByText('Forked from').getByRole('link', { name: thread }).click()
  await page.getByRole('link', { name: `${thread}-fork-1` }).waitFor()
  expect(new URL(page.url()).pathname).toContain(id)
})
