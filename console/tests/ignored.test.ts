import { describe, expect, it } from 'vitest'
import { IgnoreRules } from '~/store/ignored'

function hidden(files: Record<string, string>, ...paths: string[]): string[] {
  const rules = new IgnoreRules(new Map(Object.entries(files)))
  return paths.filter((path) => rules.hides(path))
}

describe('IgnoreRules', () => {
  it('hides version control and caches without any file', () => {
    const paths = ['.git/index', 'src/__pycache__/a.pyc', 'web/node_modules/x/y.js', 'src/a.py', '.gitignore', 'git/x']
    expect(hidden({}, ...paths)).toEqual(['.git/index', 'src/__pycache__/a.pyc', 'web/node_modules/x/y.js'])
  })

  it('reads .gitignore as git does', () => {
    const text = '# a comment\n\n*.log\n!keep.log\n/build\ndist/\ndoc/**/*.txt\na/?.c\n[ab]*.o\n\\#odd\ntrail  \n'
    const paths = ['x.log', 'deep/x.log', 'keep.log', 'build/a', 'sub/build/a', 'dist/a', 'sub/dist/a', 'dist']
    expect(hidden({ '': text }, ...paths)).toEqual(['x.log', 'deep/x.log', 'build/a', 'dist/a', 'sub/dist/a'])
    const more = ['doc/a.txt', 'doc/b/c/a.txt', 'sub/doc/a.txt', 'a/b.c', 'a/bb.c', 'b/a1.o', 'c.o', '#odd', 'trail']
    expect(hidden({ '': text }, ...more)).toEqual(['doc/a.txt', 'doc/b/c/a.txt', 'a/b.c', 'b/a1.o', '#odd', 'trail'])
  })

  it('applies a nested file to its own directory, after those above', () => {
    const files = { '': '*.tmp\n', web: '!a.tmp\n/out\n' }
    expect(hidden(files, 'a.tmp', 'web/a.tmp', 'web/b.tmp', 'web/out/x', 'web/src/out/x', 'out/x')).toEqual([
      'a.tmp',
      'web/b.tmp',
      'web/out/x',
    ])
  })

  it('does not show a file of a hidden directory again', () => {
    expect(hidden({ '': 'dist/\n!dist/keep\n' }, 'dist/keep')).toEqual(['dist/keep'])
  })

  it('is fast with patterns that an agent made to be slow', () => {
    const slow = `${'*a'.repeat(200)}b\n${'**/'.repeat(200)}x/b\n`
    expect(hidden({ '': slow }, `${'a/'.repeat(300)}${'a'.repeat(200)}`)).toEqual([])
  })
})
