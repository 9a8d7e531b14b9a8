import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Sandbox } from '~/api/types'
import type { Counters } from '~/store/counters'
import { count, moment, money, span } from '~/ui/format'
import { useNow } from '~/ui/now'
import { CostChart } from './CostChart'
import css from './Facts.module.css'

const MOST_TOOLS = 8

/** What it costs and uses, and what it is. */
export function Facts({ sandbox, counters }: { sandbox: Sandbox; counters: Counters }) {
  const [isOpen, setOpen] = useState(false)
  const { spent, tools, cost } = counters
  return (
    <aside className={css.facts} aria-label="Facts" data-open={isOpen || undefined}>
      <button type="button" className={css.toggle} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <ChevronRight size={15} aria-hidden />
        Cost and facts
        {sandbox.run && <span>{money(spent.costUsd)}</span>}
      </button>
      {sandbox.run && (
        <section>
          <h2>Cost</h2>
          <Budget spent={spent.costUsd} budget={sandbox.run.budget_usd} />
          <CostChart points={cost} />
          <dl className={css.list}>
            <Fact name="Tokens in">{count(spent.inputTokens)}</Fact>
            <Fact name="Tokens out">{count(spent.outputTokens)}</Fact>
            <Fact name="Cached">{count(spent.cacheTokens)}</Fact>
            <Fact name="Tool calls">{count(spent.toolCalls)}</Fact>
          </dl>
        </section>
      )}
      {tools.size > 0 && <Tools tools={tools} />}
      <section>
        <h2>Sandbox</h2>
        <dl className={css.list}>
          {sandbox.run?.model && <Fact name="Model">{sandbox.run.model}</Fact>}
          <Fact name="Runtime">{sandbox.runtime ?? 'no agent'}</Fact>
          <Fact name="Owner">{sandbox.user_id}</Fact>
          <Fact name="Thread">
            <code>{sandbox.thread_id}</code>
          </Fact>
          <Fact name="Started">{moment(sandbox.created_at)}</Fact>
          <Ending sandbox={sandbox} />
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

function Tools({ tools }: { tools: ReadonlyMap<string, number> }) {
  const most = [...tools].sort((a, b) => b[1] - a[1]).slice(0, MOST_TOOLS)
  return (
    <section>
      <h2>Tools</h2>
      <dl className={css.list}>
        {most.map(([name, calls]) => (
          <Fact key={name} name={name}>
            {count(calls)}
          </Fact>
        ))}
      </dl>
    </section>
  )
}

function Ending({ sandbox }: { sandbox: Sandbox }) {
  const left = Date.parse(sandbox.expires_at) - useNow()
  if (sandbox.end) return <Fact name="Ended">{moment(sandbox.end.at)}</Fact>
  const condition = sandbox.expires_by === 'idle' ? ', if unused' : ''
  return <Fact name="Ends">{left > 0 ? `in ${span(left)}${condition}` : 'soon'}</Fact>
}
