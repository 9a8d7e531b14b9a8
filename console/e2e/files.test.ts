import type { Page } from 'playwright-core'
import { axe } from './house/axe'
import type { Person } from './house/person'
import { expect, test } from './house/test'

const row = (page: Page, name: string) => page.getByRole('treeitem', { name: new RegExp(`^${name}`) })
const editor = (page: Page) => page.getByRole('textbox', { name: /^Content of/ })

/** Opens the files of a sandbox in which these commands ran. */
async function look(person: Person, lines: string): Promise<string> {
  const id = await person.api.sandbox(`files-${person.id}`)
  await person.api.run(id, lines)
  await person.open(`/sandboxes/${id}?tab=files`)
  await person.page.getByRole('tree', { name: 'Files' }).waitFor({ state: 'attached' })
  return id
}

/** Replaces the content of the open file. */
async function edit(page: Page, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await editor(page).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}

test('a file written by a command appears, and can be edited and saved', async ({ person, page }) => {
  const id = await look(person, 'mkdir src; echo one > src/a.txt')
  await row(page, 'src').click()
  await row(page, 'a.txt').waitFor()
  await person.api.run(id, 'printf "print(1)\\n" > src/app.py; rm src/a.txt')
  await row(page, 'app.py').click()
  await editor(page).getByText('print(1)').waitFor()
  await row(page, 'a.txt').waitFor({ state: 'detached' })

  await edit(page, 'print(2)  # type ? and t as text')
  await page.getByText('not saved').first().waitFor()
  await page.keyboard.press('Control+s')
  await page.getByText('not saved').first().waitFor({ state: 'detached' })
  expect(await person.api.run(id, 'cat src/app.py')).toBe('print(2)  # type ? and t as text')
  expect(await axe(page)).toEqual([])
})

test('a concurrent change is not overwritten', async ({ person, page }) => {
  person.guard.expect(/status of 412/)
  const id = await look(person, 'echo one > a.txt')
  await row(page, 'a.txt').click()
  await editor(page).getByText('one').waitFor()
  await edit(page, 'mine')
  await person.api.run(id, 'echo theirs > a.txt')
  await page.getByText('The file was changed in the sandbox.').waitFor()
  expect(await editor(page).textContent()).toContain('mine')

  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('textbox', { name: 'In the sandbox now' }).getByText('theirs').waitFor()
  await page.getByRole('textbox', { name: 'Your version' }).getByText('mine').waitFor()
  expect(await person.api.run(id, 'cat a.txt')).toBe('theirs\n')
  expect(await axe(page)).toEqual([])

  await page.getByRole('button', { name: 'Overwrite with my version' }).click()
  await page.getByText('The file was changed in the sandbox.').waitFor({ state: 'detached' })
  expect(await person.api.run(id, 'cat a.txt')).toBe('mine')
})

test('an unsaved edit survives a change of the tab', async ({ person, page }) => {
  await look(person, 'echo one > a.txt')
  await row(page, 'a.txt').click()
  await editor(page).getByText('one').waitFor()
  await edit(page, 'not yet')
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.getByRole('region', { name: 'Timeline' }).waitFor()
  await page.getByRole('tab', { name: 'Files' }).click()
  await row(page, 'a.txt').getByText('not saved').waitFor()
  await row(page, 'a.txt').click()
  await editor(page).getByText('not yet').waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
})

test('dropped files are uploaded and replace nothing without confirmation', async ({ person, page }) => {
  person.guard.expect(/status of 412/)
  const id = await look(person, 'mkdir docs; echo old > docs/b.txt')
  const dropped = await page.evaluateHandle(() => {
    const items = new DataTransfer()
    items.items.add(new File(['from the desk'], 'a.txt'))
    items.items.add(new File(['new'], 'b.txt'))
    return items
  })
  await row(page, 'docs').dispatchEvent('dragover', { dataTransfer: dropped })
  await row(page, 'docs').dispatchEvent('drop', { dataTransfer: dropped })
  const uploads = page.getByRole('region', { name: 'Uploads' })
  await uploads.getByText('exists already').waitFor()
  await expect.poll(() => person.api.run(id, 'cat docs/a.txt docs/b.txt')).toBe('from the deskold\n')
  await uploads.getByRole('button', { name: 'Replace' }).click()
  await uploads.getByText('exists already').waitFor({ state: 'detached' })
  await expect.poll(() => person.api.run(id, 'cat docs/b.txt')).toBe('new')
})

test('a file is uploaded with the button and downloaded', async ({ person, page }) => {
  await look(person, 'true')
  await page.getByText('No files yet').waitFor()
  const content = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
  await page.getByLabel('Files to upload').setInputFiles({ name: 'all.bin', mimeType: '', buffer: content })
  await row(page, 'all.bin').click()
  await page.getByText('00000010').waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download' }).click()
  const stream = await (await download).createReadStream()
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece as Buffer)
  expect(Buffer.concat(pieces).equals(content)).toBe(true)
})

test('an image is shown, and other content with an image name is not', async ({ person, page }) => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><script>document.title=1</script></svg>'
  await look(person, `echo '${svg}' > a.svg; echo no > b.png`)
  await row(page, 'a.svg').click()
  await page.getByRole('img', { name: 'a.svg' }).waitFor()
  await page.getByText('40 × 30').waitFor()
  await row(page, 'b.png').click()
  await page.getByText('The file has the name of an image, but not its content.').waitFor()
})

test('files are created, moved, found and deleted with keys', async ({ person, page }) => {
  const id = await look(person, 'mkdir -p src/deep; echo x > src/deep/found.txt; echo a > a.txt')
  await row(page, 'src').focus()
  await page.keyboard.press('ArrowRight')
  await row(page, 'deep').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowRight')
  await row(page, 'found.txt').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'src/deep/found.txt' }).waitFor()
  await page.getByRole('tab', { name: 'Files' }).focus()
  await page.keyboard.press('t')
  await page.keyboard.type('a.tx')
  await page.getByRole('option', { name: 'a.txt' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'a.txt' }).waitFor()

  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByLabel('Path in the workspace').fill('docs/b.txt')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'docs/b.txt' }).waitFor()
  await row(page, 'b.txt').focus()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete it' }).click()
  await row(page, 'b.txt').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'New folder' }).click()
  await page.getByLabel('Path in the workspace').fill('made')
  await page.keyboard.press('Enter')
  await row(page, 'made').waitFor()
  expect(await person.api.run(id, 'ls -d docs/* made 2>/dev/null')).toBe('made\n')
})

test('the files of a paused or ended sandbox are shown without a resume', async ({ person, page }) => {
  person.guard.expect(/status of (404|409)/)
  const id = await look(person, 'echo kept > a.txt')
  await row(page, 'a.txt').waitFor()
  // The files of an ended sandbox come from the log, so the log must have the last change.
  const told = async () => (await person.api.events(id)).findLast((event) => event.event_data.path === 'a.txt')
  await expect.poll(async () => (await told())?.event_data.size).toBe('kept\n'.length)
  await person.api.post(`/api/v1/sandboxes/${id}/pause`)
  await page.getByText('Resume it to see its files').waitFor()
  expect((await person.api.read(id)).state).toBe('paused')
  await page.getByRole('tabpanel').getByRole('button', { name: 'Resume' }).click()
  await page.getByText('Resume it to see its files').waitFor({ state: 'detached' })
  await person.api.end(id)
  await page.getByText('The sandbox has ended. These are the files in the log.').waitFor()
  await row(page, 'a.txt').click()
  await editor(page).getByText('kept').waitFor()
})

test('on a small screen the tree and the file are separate', async ({ newPerson }) => {
  const person = await newPerson({ viewport: { width: 380, height: 800 }, colorScheme: 'dark' })
  const { page } = person
  await look(person, 'echo one > a.txt')
  await row(page, 'a.txt').click()
  await editor(page).getByText('one').waitFor()
  expect(await page.getByRole('tree').isVisible()).toBe(false)
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Back to the tree' }).click()
  await page.getByRole('tree').waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(380)
})

test('a read-only member cannot change files and sees the reason', async ({ person, newPerson }) => {
  const id = await look(person, 'echo one > a.txt')
  const guest = await newPerson()
  const scopes = ['fs:ro', 'shell:ro']
  await person.api.post(`/threads/files-${person.id}/members`, { user_id: guest.id, scopes })
  await guest.open(`/sandboxes/${id}?tab=files&path=a.txt`)
  await editor(guest.page).getByText('one').waitFor()
  const forbidden = guest.page.getByTitle('You have read access to the files')
  await forbidden.first().waitFor()
  expect(await guest.page.getByRole('button', { name: 'Edit', exact: true }).isDisabled()).toBe(true)
  expect(await guest.page.getByRole('button', { name: 'Upload' }).isDisabled()).toBe(true)
})
