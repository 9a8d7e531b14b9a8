import type { SessionBody, SpawnBody } from './draft'
import { javaCode } from './java'
import { pieces, pythonText, shellText, shellWord } from './quote'
import type { Wanted } from './request'

/** Another way to send the same request. */
export interface Snippet {
  readonly id: 'curl' | 'viv' | 'python' | 'java'
  readonly label: string
  readonly code: string
  /** Prerequisites of the code. */
  readonly note: string
}

/** All code forms. None contains a secret or a key: they come from the environment of the program. */
export function snippets(wanted: Wanted, server: string): Snippet[] {
  const note = `Reads ${['VIV_API_KEY', ...wanted.secrets].join(', ')} from the environment.`
  const careful = wanted.secrets.length > 0 ? `${note} A secret must not have quotes or backslashes here.` : note
  return [
    { id: 'curl', label: 'curl', code: curl(wanted, server), note: careful },
    viv(wanted, server),
    { id: 'python', label: 'Python', code: python(wanted, server), note: `${note} Needs no package.` },
    { id: 'java', label: 'Java', ...javaCode(wanted, server, note, careful) },
  ]
}

function curl({ path, body, secrets }: Wanted, server: string): string {
  return [
    `curl -sS ${shellWord(server + path)} \\`,
    `  -H "Authorization: Bearer $VIV_API_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellText(pieces(body, secrets))}`,
  ].join('\n')
}

function python({ path, body, secrets }: Wanted, server: string): string {
  return `import json, os, urllib.request

body = ${pythonText(pieces(body, secrets))}
request = urllib.request.Request(
    ${JSON.stringify(server + path)},
    data=json.dumps(body).encode(),
    headers={"Authorization": "Bearer " + os.environ["VIV_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as answer:
    print(json.load(answer))`
}

function viv(wanted: Wanted, server: string): Snippet {
  const [words, gaps] =
    wanted.path === '/create_session' ? shellWords(wanted.body) : runWords(wanted.body, wanted.secrets)
  const code = words
    .map((line, index) => (index === 0 ? line.replace('viv', vivAt(server)) : `  ${line}`))
    .join(' \\\n')
  const note = 'Reads the key from VIV_API_KEY or the profile.'
  const lost = gaps.length > 0 ? ` It has no option for ${gaps.join(', ')}: left out.` : ''
  return { id: 'viv', label: 'viv', code, note: note + lost }
}

function vivAt(server: string): string {
  return `VIV_SERVER=${shellWord(server)} viv`
}

function shellWords(body: SessionBody): [string[], string[]] {
  const user = body.user_id === undefined ? '' : ` --user ${shellWord(body.user_id)}`
  return [[`viv shell${user} -- ${shellWord(body.thread_id)}`], gapsOf(body, ['env', 'egress'])]
}

/** Options first, then the words, so that a word that begins with a dash is not an option. */
function runWords(body: SpawnBody, secrets: readonly string[]): [string[], string[]] {
  const option = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [`--${name} ${shellWord(String(value))}`]
  const env = Object.entries(body.env ?? {}).map(([name, value]) =>
    secrets.includes(name) ? `-e ${name}="$${name}"` : `-e ${shellWord(`${name}=${value}`)}`,
  )
  const words = [
    `viv run --runtime ${body.runtime}`,
    ...option('model', body.model),
    ...option('budget', body.budget_usd),
    ...option('guardian', body.guardian),
    ...repositoryWords(body.repository, option),
    ...option('thread', body.thread_id),
    ...option('user', body.user_id),
    ...option('resume-from', body.resume_from),
    ...env,
    `-- ${[taskText(body), ...(body.command ?? [])].map(shellWord).join(' ')}`,
  ]
  const limit = Object.keys(body.task?.constraints ?? {}).length > 0 ? ['the time limit of the task'] : []
  return [words, [...limit, ...gapsOf(body, ['egress'])]]
}

type Option = (name: string, value: string | undefined) => string[]

function repositoryWords(repository: SpawnBody['repository'], option: Option): string[] {
  if (repository === undefined || typeof repository.credential !== 'string') return []
  return [
    ...option('repository', repository.url),
    ...option('credential', repository.credential),
    ...option('base', repository.base),
    ...option('ticket', repository.ticket),
    ...option('on-success', repository.on_success),
  ]
}

const GAPS = { env: 'variables', egress: 'egress', limits: 'limits', image: 'the image', timeout_minutes: 'idle time' }

function gapsOf(body: SpawnBody | SessionBody, also: readonly ('env' | 'egress')[]): string[] {
  const names = [...also, 'limits', 'image', 'timeout_minutes'] as const
  return names.flatMap((name) => (body[name] === undefined ? [] : [GAPS[name]]))
}

/** The task as one text, as the worker composes it. */
function taskText({ task }: SpawnBody): string {
  const context = Object.entries(task?.context ?? {}).map(([name, value]) => `- ${name}: ${value}`)
  const parts = [
    task?.title ?? '',
    task?.description ?? '',
    context.length > 0 ? `Context:\n${context.join('\n')}` : '',
  ]
  return parts.filter(Boolean).join('\n\n')
}
