import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { after } from '~/store/matches'
import { Splitter } from '~/ui/Splitter'
import { Empty } from '~/ui/States'
import { HidesContext, useIgnored } from '../files/use-ignored'
import { Announcer } from './Announcer'
import { Composer } from './Composer'
import { Facts } from './Facts'
import { Notice } from './Notice'
import { ReplayBar } from './ReplayBar'
import { Reviews } from './Reviews'
import css from './SandboxScreen.module.css'
import { TaskText } from './TaskText'
import { type Target, TimelineList } from './TimelineList'
import { TimelineTools } from './TimelineTools'
import type { PanelProps } from './tabs'
import { useRowFilter } from './use-filter'
import { useFind } from './use-find'
import { useLoadAll } from './use-load-all'
import { useReplay } from './use-replay'
import { useStory } from './use-story'

/** The timeline, live or at a moment, and the message box. */
export function TimelinePanel({ sandbox, watch, actions }: PanelProps) {
  const { at, replay: isReplaying = false } = useSearch({ from: '/frame/console/sandboxes/$sandboxId' })
  const navigate = useNavigate({ from: '/console/sandboxes/$sandboxId' })
  const link = isReplaying ? undefined : at
  const story = useStory(watch, link)
  const { replay, hasFailed, retry } = useReplay(watch.events)
  const timeline = replay?.timeline ?? story.events.timeline
  const hides = useIgnored(sandbox, watch)
  const choice = useRowFilter(timeline.rows, hides)
  const [target, setTarget] = useTarget(story.finding === 'here' ? link : undefined)
  const find = useFind(timeline, choice.filter, link, (seq) => setTarget({ seq, takesFocus: false }))
  const row = link === undefined ? undefined : timeline.indexOf(link)
  const { shown } = choice.filter
  const isHidden = row !== undefined && shown !== undefined && shown[after(shown, row) - 1] !== row
  const showAll = () => choice.choose({ show: undefined, errors: undefined, ignored: true })
  const { events } = story
  const toLive = () =>
    void navigate({ search: (before) => ({ ...before, at: undefined, replay: undefined }), replace: true })
  const toStart = () =>
    void navigate({ search: (before) => ({ ...before, at: events.oldestKept, replay: undefined }), replace: true })
  const loadAll = useLoadAll(story.events)
  return (
    <div className={css.columns}>
      <div className={css.story}>
        {sandbox.run && <TaskText run={sandbox.run} />}
        <TimelineTools
          choice={choice}
          current={find.current}
          onGo={find.go}
          searched={{
            loaded: events.events.length,
            all: events.headSeq - events.oldestKept + 1,
            onLoad: events.hasOlder ? loadAll : undefined,
          }}
          onStart={replay ? undefined : toStart}
          onReplay={
            replay ? undefined : () => void navigate({ search: (before) => ({ ...before, replay: true as const }) })
          }
        />
        {!replay && (
          <Notice
            story={story}
            at={link}
            isHidden={isHidden}
            isNarrow={choice.filter.isNarrow}
            onLoad={loadAll}
            onShow={showAll}
            onLive={toLive}
          />
        )}
        {timeline.rows.length === 0 && <Empty title="No events yet" />}
        {timeline.rows.length > 0 && shown?.length === 0 && (
          <Empty title={`0 of ${timeline.rows.length} match`}>
            <button type="button" onClick={showAll}>
              Show all
            </button>
          </Empty>
        )}
        {timeline.rows.length > 0 && shown?.length !== 0 && (
          <HidesContext value={hides}>
            <TimelineList
              key={replay ? 'replay' : keyOf(events)}
              events={events}
              timeline={timeline}
              shown={shown}
              isLive={replay !== undefined || story.isLive}
              target={replay && target?.takesFocus ? undefined : target}
              marked={find.currentSeq ?? link}
              found={find.matches}
              onEnd={replay ? () => undefined : toLive}
              onStart={replay ? undefined : toStart}
            />
          </HidesContext>
        )}
        {replay && (
          <ReplayBar
            replay={replay}
            events={watch.events}
            isAlive={sandbox.end === undefined}
            hasFailed={hasFailed}
            onRetry={retry}
            onLeave={toLive}
          />
        )}
        <Reviews sandbox={sandbox} />
        <Composer sandbox={sandbox} state={watch.state} actions={actions} />
      </div>
      <Splitter name="facts" pane="after" label="Width of the facts" />
      <Facts sandbox={sandbox} events={watch.events} replay={replay} />
      <Announcer events={watch.events} />
    </div>
  )
}

/** Scroll target: the event of the address, then later requests. */
function useTarget(at: number | undefined) {
  const [target, setTarget] = useState<Target | undefined>(at === undefined ? undefined : { seq: at, takesFocus: true })
  useEffect(() => {
    setTarget(at === undefined ? undefined : { seq: at, takesFocus: true })
  }, [at])
  return [target, setTarget] as const
}

const keys = new WeakMap<object, number>()
let lastKey = 0

/** Another list of events is another list component, because positions differ. */
function keyOf(events: object): number {
  const known = keys.get(events)
  if (known !== undefined) return known
  keys.set(events, ++lastKey)
  return lastKey
}
