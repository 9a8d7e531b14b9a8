import { agent, script, told } from './agents'
import type { Api } from './api'
import { bash, type Model, type Step } from './model'

/** Example fleet: the ids of its sandboxes. */
export interface Scene {
  /** An agent that has written files and waits for an answer. */
  readonly asking: string
  /** A running agent. */
  readonly working: string
  readonly failed: string
  readonly completed: string
  /** A sandbox without an agent, of the thread `playground`, with files in it. */
  readonly bare: string
  /** The thread of `bare`. */
  readonly thread: string
  /** Port of a web server in `bare`. */
  readonly port: number
  /** A task whose two attempts failed. */
  readonly task: string
}

const PARSER = `cat > parser.py <<'END'
import re

TOKEN = re.compile(r"\\s*(?:(\\d+)|(.))")


def tokens(text):
    for number, operator in TOKEN.findall(text):
        yield int(number) if number else operator


def evaluate(text):
    total, sign = 0, 1
    for token in tokens(text):
        if token in ("+", "-"):
            sign = -1 if token == "-" else 1
        else:
            total += sign * token
    return total
END
cat > test_parser.py <<'END'
import unittest

from parser import evaluate


class ParserTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(evaluate("1 + 2 - 4"), -1)

    def test_double_minus(self):
        self.assertEqual(evaluate("3 - -2"), 5)
END
ls -l`

const PARSER_RUN: readonly Step[] = [
  {
    when: { contains: 'parser' },
    thinking: 'The failing test is about two signs in a row. I rebuild the smallest parser that shows it, then fix it.',
    text: 'I start with a **small parser** and the test that fails.',
    tools: [bash(PARSER)],
    usage: { input_tokens: 18_400, output_tokens: 1_310 },
  },
  {
    text: 'Now I run the tests.',
    tools: [bash('python3 -B -m unittest')],
    usage: { input_tokens: 21_950, output_tokens: 240 },
  },
  {
    thinking: 'The second sign overwrites the first. A sign has to multiply, not replace.',
    text: 'As I thought: the second sign overwrites the first, where it should *multiply* it.',
    tools: [
      bash(
        `sed -i 's/sign = -1 if token == "-" else 1/sign *= -1 if token == "-" else 1/; s/total += sign \\* token/total, sign = total + sign * token, 1/' parser.py && python3 -B -m unittest`,
      ),
    ],
    usage: { input_tokens: 23_700, output_tokens: 890 },
  },
  {
    text: 'Both tests pass. The branch has moved on meanwhile, so I ask before I overwrite it.',
    tools: [
      {
        name: 'AskPerson',
        input: {
          reason: 'Push over a newer commit?',
          description: 'origin/parser is two commits ahead. They touch only the README. May I rebase and push?',
        },
      },
    ],
    usage: { input_tokens: 24_300, output_tokens: 410 },
  },
]

const WORKING = [
  `read task`,
  told('agent.thinking', { text: 'The settings page reads its colours from three places. One of them has to win.' }),
  told('agent.message', { text: 'I collect all colours of the settings page first.' }),
  told('agent.tool_use', { tool_use_id: 't1', tool_name: 'Grep', tool_input: { pattern: '#[0-9a-f]{6}' } }),
  told('agent.tool_result', { tool_use_id: 't1', tool_name: 'Grep', content: '41 matches in 9 files' }),
  `echo '{"type":"usage","input_tokens":31200,"output_tokens":2100,"cost_usd":0.1251}'`,
  // Never idle, like a test run.
  'while :; do',
  told('agent.tool_use', {
    tool_use_id: 't2',
    tool_name: 'Bash',
    tool_input: { command: 'npm test -- --watch=false' },
  }),
  'timeout 0.2 sh -c "while :; do :; done"; sleep 3; done',
].join('\n')

const FAILED = `read task; echo 'connecting to db.internal:5432'; echo 'psql: error: could not translate host name' >&2; exit 2`

const REVIEWS = [
  'read task',
  told('agent.message', { text: 'The change is small, but it touches the lock. I read the callers.' }),
  `echo '{"type":"usage","input_tokens":52800,"output_tokens":1900,"cost_usd":0.1869}'`,
  told('agent.tool_use', { tool_use_id: 't1', tool_name: 'Read', tool_input: { file_path: 'src/pool/lease.rs' } }),
  'sleep 3600 & wait',
].join('\n')

const COMPLETED = [
  'read task',
  told('agent.message', { text: 'I count the words of all chapters.' }),
  `printf 'chapter,words\\n1,4210\\n2,3988\\n' > words.csv`,
  `echo '{"type":"usage","input_tokens":4100,"output_tokens":300,"cost_usd":0.0168}'`,
  `echo '{"type":"result","summary":"8,198 words in two chapters."}'`,
].join('\n')

const FILES = `mkdir -p src/pages && printf '# Playground\\n\\nA place to try things.\\n' > README.md &&
printf 'export const answer: number = 42\\n\\nexport function greet(name: string): string {\\n  return \`Hello, \${name}!\`\\n}\\n' > src/greet.ts &&
printf '<!doctype html>\\n<title>Playground</title>\\n<h1>It works</h1>\\n<p>This page is served in the sandbox.</p>\\n' > src/pages/index.html`

const THREAD = 'playground'
/** A port that is not in use: without isolation it is a port of the machine. */
const PORT = 20_000 + Math.floor(Math.random() * 10_000)

/** Creates the fleet for a user. Returns when every sandbox has its state. */
export async function makeScene(api: Api, model: Model): Promise<Scene> {
  await model.play(...PARSER_RUN)
  const [asking, working, failed, completed, bare] = await Promise.all([
    api.spawn(agent("Make the parser's tests pass", { description: 'test_double_minus fails.', budget_usd: 2 })),
    api.spawn({ ...script('Dark mode for the settings page', WORKING), budget_usd: 5 }),
    api.spawn(script('Move the reports to PostgreSQL 18', FAILED)),
    api.spawn(script('Count the words of the manual', COMPLETED)),
    api.sandbox(THREAD),
    api.spawn({ ...script('Review pull request 412', REVIEWS), budget_usd: 1 }),
    api.spawn(
      script('Nightly update of the dependencies', COMPLETED.replace('4100', '9200').replace('0.0168', '0.0571')),
    ),
  ])
  await api.run(bare, FILES)
  const hook = { url: 'http://127.0.0.1:9/night', event_types: ['task.failed'], secret: 'a secret of the scene' }
  await api.post('/api/v1/webhooks', hook)
  const task = await makeTasks(api)
  await share(api)
  // The restore of a snapshot ends all processes, so this comes after it.
  const serve = `cd src/pages && exec python3 -m http.server ${PORT}`
  await api.post(`/sandboxes/${bare}/exec`, { command: serve, detach: true })
  await listening(api, bare, PORT)
  await Promise.all([
    stands(api, asking, 'paused'),
    stands(api, failed, 'failed'),
    stands(api, completed, 'completed'),
    heard(api, working, 'agent.tool_use'),
  ])
  return { asking, working, failed, completed, bare, thread: THREAD, port: PORT, task }
}

/** Creates a graph of tasks in many states. Returns the id of the task whose attempts failed. */
async function makeTasks(api: Api): Promise<string> {
  const run = (name: string, title: string, line: string, more: object = {}) => ({
    name,
    title,
    runtime: 'command',
    command: ['sh', '-c', line],
    ...more,
  })
  const { tasks } = await api.post<{ tasks: { name: string; task_id: string }[] }>('/api/v1/tasks/graph', {
    tasks: [
      run('build', 'Build the project', `read task; echo '{"type":"result","summary":"Built in 41 s."}'`),
      run('unit', 'Run the unit tests', 'read task; sleep 3600 & wait', {
        depends_on: ['build'],
        agent_type: 'tester',
      }),
      run('deploy', 'Deploy to staging', `echo 'no route to staging.internal' >&2; exit 3`, {
        description: 'Deploy the build to **staging**, and wait until its health check passes.',
        depends_on: ['build'],
        agent_type: 'deployer',
        max_retries: 1,
        priority: 'high',
      }),
      { name: 'notes', title: 'Write the release notes', depends_on: ['build'], agent_type: 'writer' },
      { name: 'docs', title: 'Check the links of the manual', agent_type: 'writer', priority: 'low' },
      run('release', 'Publish the release', 'true', { depends_on: ['unit', 'deploy', 'notes'], priority: 'critical' }),
    ],
  })
  const id = tasks.find((one) => one.name === 'deploy')?.task_id ?? ''
  const status = async (name: string) => {
    const taskId = tasks.find((one) => one.name === name)?.task_id
    return (await api.get<{ status: string }>(`/api/v1/tasks/${taskId}`)).status
  }
  await api.until('the tasks have their states', async () => {
    return (await status('release')) === 'blocked' && (await status('unit')) === 'running'
  })
  return id
}

/** Invites two members, and creates snapshots, one restored and one forked. */
async function share(api: Api): Promise<void> {
  const snapshots = `/threads/${THREAD}/snapshots`
  const take = async (name: string) => (await api.post<{ snapshot_id: string }>(snapshots, { name })).snapshot_id
  await api.post(`/threads/${THREAD}/members`, { user_id: 'bruno', scopes: ['fs:ro', 'shell:ro'] })
  await api.post(`/threads/${THREAD}/members`, { user_id: 'carla', scopes: ['fs:rw', 'shell', 'process'] })
  const first = await take('As it was cloned')
  const second = await take('Before the redesign')
  await api.post(`${snapshots}/${second}/fork`, { thread_id: `${THREAD}-fork-1` })
  await api.post(`${snapshots}/${first}/restore`)
  await take('Second try')
}

async function stands(api: Api, id: string, status: string): Promise<void> {
  await api.until(`${id} is ${status}`, async () => (await api.read(id)).status === status)
}

async function heard(api: Api, id: string, type: string): Promise<void> {
  await api.until(`${id} told ${type}`, async () => (await api.events(id)).some((event) => event.event_type === type))
}

/** Waits until a program listens on the port. */
export async function listening(api: Api, id: string, port: number): Promise<void> {
  const knock = `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo open || true`
  await api.until('the page is served', async () => (await api.run(id, knock)) === 'open\n')
}
