import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { type ReactNode, Suspense, useState } from 'react'
import { number, text } from '~/api/data'
import { forensicsUrl } from '~/api/forensics'
import type { Sandbox } from '~/api/types'
import type { EventStore } from '~/store/event-store'
import { newest } from '~/store/history'
import type { Replay } from '~/store/replay'
import { bytes, count, moment, money, plain, span } from '~/ui/format'
import { lazily } from '~/ui/lazily'
import { useNow } from '~/ui/now'
import { CostChart } from './CostChart'
import css from './Facts.module.css'

const CostDialog = lazily(() => import('./CostDialog'), 'CostDialog')

const MOST_TOOLS = 8

interface Props {
  readonly sandbox: Sandbox
  readonly events: EventStore
  /** The replayed moment; undefined for now. */
  readonly replay: Replay | undefined
}

/** Cost, usage and properties of the sandbox. */
export function Facts({ sandbox, events, replay }: Props) {
  const [isOpen, setOpen] = useState(false)
  const [isChartOpen, showChart] = useState(false)
  const { counters } = events
  const spent = replay?.spent ?? counters.spent
  const tools = replay?.tools ?? counters.tools
  const isPriced = counters.series.isPriced || counters.spent.costUsd > 0 || counters.spent.inputTokens === 0
  const at = replay?.event && Date.parse(replay.event.created_at)
  return (
    <aside className={css.facts} aria-label="Facts" data-open={isOpen || undefined}>
      <button type="button" className={css.toggle} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <ChevronRight size={15} aria-hidden />
        Cost and facts
        {sandbox.run && <span>{isPriced ? money(spent.costUsd) : `${count(spent.inputTokens)} tokens`}</span>}
      </button>
      {sandbox.run && (
        <section>
          <h2>{replay ? 'Cost at this moment' : 'Cost'}</h2>
          {isPriced ? (
            <Budget spent={spent.costUsd} budget={sandbox.run.budget_usd} />
          ) : (
            <p className={css.unpriced}>Tokens only: the price is unknown.</p>
          )}
          <CostChart
            counters={counters}
            budget={sandbox.run.budget_usd}
            at={at}
            isPriced={isPriced}
            onOpen={() => showChart(true)}
          />
          <dl className={css.list}>
            <Fact name="Tokens in">{count(spent.inputTokens)}</Fact>
            <Fact name="Tokens out">{count(spent.outputTokens)}</Fact>
            <Fact name="Cached">{count(spent.cacheTokens)}</Fact>
            <Fact name="Tool calls">{count(spent.toolCalls)}</Fact>
          </dl>
        </section>
      )}
      {isChartOpen && (
        <Suspense>
          <CostDialog
            events={events}
            budget={sandbox.run?.budget_usd}
            isPriced={isPriced}
            onClose={() => showChart(false)}
          />
        </Suspense>
      )}
      {tools.size > 0 && <Tools tools={tools} loaded={events.hasOlder ? events.events.length : undefined} />}
      <section>
        <h2>Sandbox</h2>
        <dl className={css.list}>
          {sandbox.run?.model && <Fact name="Model">{sandbox.run.model}</Fact>}
          <Fact name="Runtime">{sandbox.runtime ?? 'no agent'}</Fact>
          <TaskFact sandbox={sandbox} />
          <Fact name="Owner">{sandbox.user_id}</Fact>
          <Fact name="Thread">
            <code>{sandbox.thread_id}</code>
          </Fact>
          <Fact name="Started">{moment(sandbox.created_at)}</Fact>
          <Ending sandbox={sandbox} />
          <Forensics sandbox={sandbox} />
        </dl>
      </section>
    </aside>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={css.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A link to the task of the queue. The thread of an attempt is named after its task. */
function TaskFact({ sandbox: { run, thread_id: thread } }: { sandbox: Sandbox }) {
  const taskId = run?.task?.task_id
  if (taskId === undefined || !thread.startsWith(`${taskId}-`)) return null
  return (
    <Fact name="Task">
      <Link to="/console/tasks/$taskId" params={{ taskId }}>
        Open the task
      </Link>
    </Fact>
  )
}

function Budget({ spent, budget }: { spent: number; budget: number | undefined }) {
  return (
    <div className={css.budget}>
      <strong>{money(spent)}</strong>
      {budget !== undefined && (
        <>
          <span>of {money(budget)}</span>
          <meter
            min={0}
            max={budget}
            high={budget * 0.8}
            optimum={0}
            value={Math.min(spent, budget)}
            aria-label="Budget spent"
          >
            {Math.round((spent / budget) * 100)} %
          </meter>
        </>
      )}
    </div>
  )
}

function Tools({ tools, loaded }: { tools: ReadonlyMap<string, number>; loaded: number | undefined }) {
  const most = [...tools].sort((a, b) => b[1] - a[1]).slice(0, MOST_TOOLS)
  return (
    <section>
      <h2>{loaded === undefined ? 'Tools' : `Tools of the last ${count(loaded)} events`}</h2>
      <dl className={css.list}>
        {most.map(([name, calls]) => (
          <Fact key={name} name={plain(name)}>
            {count(calls)}
          </Fact>
        ))}
      </dl>
    </section>
  )
}

/** Returns a text for the end of a sandbox at its deadline. */
function deadline(sandbox: Sandbox): string {
  if (sandbox.state === 'hibernated') return 'Files deleted'
  return sandbox.on_idle === 'hibernate' || sandbox.state === 'paused' ? 'Hibernates' : 'Ends'
}

function Ending({ sandbox }: { sandbox: Sandbox }) {
  const left = Date.parse(sandbox.expires_at) - useNow()
  if (sandbox.end) return <Fact name="Ended">{moment(sandbox.end.at)}</Fact>
  const condition =
    sandbox.expires_by !== 'idle' ? '' : sandbox.status === 'paused' ? ', unless resumed' : ', if unused'
  return <Fact name={deadline(sandbox)}>{left > 0 ? `in ${span(left)}${condition}` : 'soon'}</Fact>
}

/** The state of a run that ended abnormally, if the server has collected it. An event says so. */
function Forensics({ sandbox: { sandbox_id: id, run } }: { sandbox: Sandbox }) {
  const { data } = useQuery({
    queryKey: ['sandbox', id, 'forensics'],
    queryFn: () => newest(id, 'sandbox.forensics_collected', 1),
    enabled: run?.status === 'failed' || run?.status === 'terminated',
  })
  const found = data?.[0]?.event_data ?? {}
  const runId = text(found, 'run_id')
  if (runId === undefined) return null
  return (
    <Fact name="Forensics">
      <a href={forensicsUrl(runId)} download>
        Download {bytes(number(found, 'bytes') ?? 0)}
      </a>
    </Fact>
  )
}
