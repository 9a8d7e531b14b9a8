import { cleanup, screen, within } from '@testing-library/react'
import { afterEach, describe, expect, it } from 'vitest'
import { GraphPicture } from '~/screens/tasks/GraphPicture'
import { routed } from './routed'

afterEach(cleanup)

describe('the picture of tasks', () => {
  it('has a link with title and status for each task, in the order of the layers', async () => {
    const tasks = [
      { id: 't2', dependsOn: ['t1'], title: 'Test it', status: 'running' as const, note: 'attempt 2' },
      { id: 't1', dependsOn: [], title: 'Build it', status: 'completed' as const },
    ]
    await routed(<GraphPicture tasks={tasks} label="Graph of the tasks" isLinked />)
    const links = within(screen.getByRole('region', { name: 'Graph of the tasks' })).getAllByRole('link')
    expect(links.map((link) => link.textContent)).toEqual(['Build it Completed', 'Test it Running · attempt 2'])
    expect(links[0]?.getAttribute('href')).toBe('/console/tasks/t1')
  })

  it('is one image with a text without links', async () => {
    const tasks = [
      { id: 'a', dependsOn: ['b'], title: 'Test it\u202e' },
      { id: 'b', dependsOn: [], title: 'Build it' },
    ]
    await routed(<GraphPicture tasks={tasks} label="Picture" />)
    screen.getByRole('img', { name: 'Test it\\u202e, after Build it; Build it' })
  })
})
