import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { ApiError } from '~/api/problem'
import { snippets } from '~/screens/spawn/code'
import { type Draft, EMPTY, keep, kept } from '~/screens/spawn/draft'
import { shellWord } from '~/screens/spawn/quote'
import { needs, startable } from '~/screens/spawn/ready'
import { check, hosts, wanted } from '~/screens/spawn/request'
import { refused } from '~/screens/spawn/use-spawn'
import { split } from '~/screens/spawn/words'

const NASTY = 'it\'s "so" $HOME `id` \\ \n!! \'; rm -rf ~ #\ttab % é 🦎 </pre> """ \\u0041'
const SERVER = 'http://127.0.0.1:8000'

function draft(part: Partial<Draft>): Draft {
  return { ...EMPTY, title: 'a task', ...part }
}

const wicked = draft({
  title: 'don\'t "panic"',
  description: NASTY,
  doneWhen: "it's $DONE",
  runtime: 'command',
  command: `bash -c 'echo "$1"; true' -- "it's"`,
  thread: "o'thread",
  variables: [
    { name: 'PLAIN', value: NASTY, isSecret: false },
    { name: 'TOKEN', value: 'what nobody may see', isSecret: true },
  ],
})

/** Arguments that a shell passes to a program, which prints each after a NUL byte. */
function wordsOf(line: string, program: string, env: Record<string, string> = {}): string[] {
  const script = `${program}() { printf '\\0%s' "$@"; }\n${line}`
  const out = execFileSync('sh', ['-c', script], { env: { PATH: process.env.PATH, ...env } as NodeJS.ProcessEnv })
  return out.toString().split('\0').slice(1)
}

function codeOf(id: string, from: Draft): string {
  return snippets(wanted(from, 'ann'), SERVER).find((one) => one.id === id)?.code ?? ''
}

describe('the form as code', () => {
  it('quotes the body for a shell', () => {
    const words = wordsOf(codeOf('curl', wicked), 'curl', { VIV_API_KEY: 'k', TOKEN: 't0k$en' })
    expect(words[1]).toBe(`${SERVER}/api/v1/sandboxes`)
    expect(words).toContain('Authorization: Bearer k')
    const body = wanted(wicked, 'ann').body
    expect(JSON.parse(words.at(-1) ?? '')).toEqual({ ...body, env: { PLAIN: NASTY, TOKEN: 't0k$en' } })
  })

  it('quotes the viv arguments, none of which becomes an option', () => {
    const words = wordsOf(codeOf('viv', { ...wicked, title: '--help' }), 'viv', { TOKEN: 'x y' })
    expect(words.slice(0, 3)).toEqual(['run', '--runtime', 'command'])
    expect(words).toContain(`PLAIN=${NASTY}`)
    expect(words).toContain('TOKEN=x y')
    const rest = words.slice(words.indexOf('--') + 1)
    expect(rest[0]).toMatch(/^--help\n\n/)
    expect(rest[0]).toContain("- done_when: it's $DONE")
    expect(rest.slice(1)).toEqual(['bash', '-c', 'echo "$1"; true', '--', "it's"])
  })

  it('is equivalent Python', () => {
    const body = codeOf('python', wicked).split('\nrequest =')[0]
    const out = execFileSync('python3', ['-c', `${body}\nprint(json.dumps(body))`], {
      env: { PATH: process.env.PATH, TOKEN: 'q"q' } as NodeJS.ProcessEnv,
    })
    const { body: meant } = wanted(wicked, 'ann')
    expect(JSON.parse(out.toString())).toEqual({ ...meant, env: { PLAIN: NASTY, TOKEN: 'q"q' } })
  })

  it('never contains a secret', () => {
    for (const from of [wicked, { ...wicked, runtime: 'none' as const }]) {
      for (const { code } of snippets(wanted(from, 'ann'), SERVER)) expect(code).not.toContain('nobody may see')
    }
  })

  it('lists fields that viv has no option for', () => {
    const found = snippets(wanted(draft({ cpus: '1', egress: 'a.example', timeLimit: '5' }), 'ann'), SERVER)
    expect(found.find((one) => one.id === 'viv')?.note).toContain('the time limit of the task, egress, limits')
  })

  it('leaves plain words unquoted', () => {
    expect(shellWord('http://127.0.0.1:8000/a-b')).toBe('http://127.0.0.1:8000/a-b')
    expect(shellWord('')).toBe("''")
    expect(shellWord('~/x')).toBe("'~/x'")
  })
})

describe('the request of the form', () => {
  it('contains only the filled fields', () => {
    expect(wanted(draft({ budget: '' }), 'ann')).toEqual({
      path: '/api/v1/sandboxes',
      body: { task: { title: 'a task' }, runtime: 'claude', on_idle: 'hibernate' },
      secrets: [],
    })
  })

  it('is a session with its owner if nothing runs', () => {
    const { path, body } = wanted(draft({ runtime: 'none', thread: ' box-1 ', memory: '512' }), 'ann')
    expect(path).toBe('/create_session')
    expect(body).toEqual({ thread_id: 'box-1', user_id: 'ann', on_idle: 'hibernate', limits: { memory_mb: 512 } })
  })

  it('contains the repository and allows its host', () => {
    const from = draft({ repository: 'https://git.example:8443/a.git', revision: 'main', egress: 'pypi.org, pypi.org' })
    expect(hosts(from)).toEqual(['pypi.org', 'git.example:8443'])
    expect(wanted(from, 'ann').body).toMatchObject({
      task: { context: { repository: 'https://git.example:8443/a.git', revision: 'main' } },
      egress: { allow: ['pypi.org', 'git.example:8443'] },
    })
  })
})

describe('a repository that the server clones', () => {
  const from = draft({
    repository: ' https://git.example/a ',
    revision: 'main',
    credential: 'forge',
    ticket: 'T-1',
    onSuccess: 'pull_request',
    guardian: 'stop',
  })

  it('is a field of the request, and its host is not allowed to the agent', () => {
    expect(wanted(from, 'ann').body).toMatchObject({
      task: { title: 'a task' },
      guardian: 'stop',
      repository: {
        url: 'https://git.example/a',
        credential: 'forge',
        base: 'main',
        ticket: 'T-1',
        on_success: 'pull_request',
      },
    })
    expect(wanted(from, 'ann').body).not.toHaveProperty('task.context')
    expect(hosts(from)).toEqual([])
  })

  it('needs an address and a known action', () => {
    expect(wanted({ ...from, repository: '' }, 'ann').body).not.toHaveProperty('repository')
    expect(wanted({ ...from, onSuccess: 'merge' }, 'ann').body).not.toHaveProperty('repository.on_success')
    expect(wanted({ ...from, guardian: 'sleep' }, 'ann').body).not.toHaveProperty('guardian')
  })

  it('has options of viv', () => {
    const words = wordsOf(codeOf('viv', from), 'viv')
    const options = words.slice(0, words.indexOf('--')).join(' ')
    expect(options).toContain(
      '--guardian stop --repository https://git.example/a --credential forge --base main --ticket T-1 --on-success pull_request',
    )
  })

  it('shows an error of the server beside its field', () => {
    const problem = { type: 'x', title: 'Invalid request', detail: 'x', status: 422 }
    const of = (field: string) => refused(new ApiError(problem, undefined, { field, rule: 'is wrong' })).problems
    expect(of('repository.ticket')).toEqual({ ticket: 'Is wrong.' })
    expect(of('repository.base')).toEqual({ revision: 'Is wrong.' })
    expect(of('repository.credential')).toEqual({ credential: 'Is wrong.' })
    expect(of('guardian')).toEqual({ guardian: 'Is wrong.' })
  })
})

describe('the rules of the form', () => {
  it('require a task, a thread or a program', () => {
    expect(check(EMPTY)).toEqual({ title: expect.any(String) })
    expect(check({ ...EMPTY, runtime: 'none' })).toEqual({ thread: expect.any(String) })
    expect(check(draft({ runtime: 'command' }))).toEqual({ command: 'Enter a program.' })
    expect(check(draft({ runtime: 'command', command: "echo 'a" }))).toEqual({
      command: 'A single quote is not closed.',
    })
  })

  it('require numbers above 0 in the visible fields', () => {
    expect(Object.keys(check(draft({ budget: '-1', cpus: 'two', memory: '0' })))).toEqual(['budget', 'cpus', 'memory'])
    expect(check({ ...draft({ budget: 'x', runtime: 'none', thread: 't' }) })).toEqual({})
  })

  it('reject a password in a repository address and a duplicate variable', () => {
    expect(check(draft({ repository: 'https://me:secret@git.example/a' })).repository).toContain('password')
    expect(check(draft({ repository: 'git@git.example:a' })).repository).toContain('https://')
    const twice = { name: 'A', value: '', isSecret: false }
    expect(check(draft({ variables: [twice, twice] })).variables).toBe('A occurs twice.')
  })

  it('show a server error beside its field', () => {
    const problem = { type: 'x', title: 'Invalid request', detail: 'limits.cpus must be at most 2', status: 422 }
    const fields = { field: 'limits.cpus', rule: 'must be at most 2' }
    expect(refused(new ApiError(problem, undefined, fields)).problems).toEqual({
      cpus: 'Must be at most 2.',
    })
    const env = { field: 'env.LD_X', rule: 'is reserved' }
    expect(refused(new ApiError(problem, undefined, env)).problems).toEqual({ variables: 'Env.LD_X is reserved.' })
    expect(refused(new ApiError({ ...problem, status: 503 })).whole).toBe(problem.detail)
    const there = new ApiError({ ...problem, status: 409 }, undefined, { session_id: 'sbx1' })
    expect(refused(there)).toMatchObject({ existing: 'sbx1', problems: { thread: expect.any(String) } })
  })
})

describe('a draft', () => {
  it('is stored without its secrets', () => {
    keep(wicked)
    expect(JSON.stringify({ ...localStorage })).not.toContain('nobody may see')
    expect(kept()).toEqual({ ...wicked, variables: [wicked.variables[0], { ...wicked.variables[1], value: '' }] })
  })

  it('is empty if the stored value is invalid', () => {
    for (const junk of ['', '{', '[]', 'null', '{"runtime":7,"variables":[1,{"name":2}],"title":{}}']) {
      localStorage.setItem('viv.spawn', junk)
      expect(kept()).toEqual(EMPTY)
    }
  })
})

describe('words of a command line', () => {
  it('are split as a shell would, without expansions', () => {
    for (const line of [`a 'b c' "d \\" e" f\\ g`, `"" ''`, `a"b"'c'`, `"\\n" \\\\ '\\'`]) {
      expect(split(line)).toEqual({ words: wordsOf(`f ${line}`, 'f') })
    }
    expect(split('  ')).toEqual({ words: [] })
    expect(split('echo $HOME *')).toEqual({ words: ['echo', '$HOME', '*'] })
  })
})

describe('what a server can start', () => {
  const bare = { worker_image: 'worker', has_worker_image: false, models: [] as string[] }
  const commands = (...given: Parameters<typeof needs>) => needs(...given).map((need) => need.command)

  it('names the commands for what is missing', () => {
    expect(commands('claude', bare)).toEqual(['viv image build worker', 'ANTHROPIC_API_KEY=… viv serve'])
    expect(commands('claude', { ...bare, has_worker_image: true, models: ['openai'] })).toHaveLength(1)
    expect(commands('openhands', { ...bare, has_worker_image: true, models: ['openai'] })).toEqual([])
    expect(commands('claude', { ...bare, models: ['anthropic'] }, 'my-image')).toEqual([])
    expect(commands('command', bare)).toEqual([])
    expect(commands('claude', undefined)).toEqual([])
  })

  it('replaces a runtime that cannot be started', () => {
    expect(startable(draft({ runtime: 'claude' }), bare).runtime).toBe('command')
    expect(startable(draft({ runtime: 'none' }), bare).runtime).toBe('none')
    expect(startable(draft({ runtime: 'claude' }), undefined).runtime).toBe('claude')
  })
})
