import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import type { LogEvent } from '~/api/types'
import { useShortcuts } from '~/keys/shortcuts'
import { indexUntil } from '~/store/log-events'
import { after, type Matches } from '~/store/matches'
import { copy } from '~/ui/copy'
import { count, whole } from '~/ui/format'
import { Splitter } from '~/ui/Splitter'
import { Empty } from '~/ui/States'
import { useSaid } from '~/ui/said'
import { Notice } from '../sandbox/Notice'
import type { PanelProps } from '../sandbox/tabs'
import { useLoadAll } from '../sandbox/use-load-all'
import { useStory } from '../sandbox/use-story'
import { linkTo } from '../sandbox/use-timeline-keys'
import { EventBody } from './EventBody'
import css from './EventsPanel.module.css'
import { saveAsLines } from './ndjson'
import { RawList } from './RawList'
import { RawTools } from './RawTools'
import { useRawFilter } from './use-raw-filter'
import { useSelected } from './use-selected'

/** The raw log: every event with all of its data. */
export function EventsPanel({ sandbox, watch }: PanelProps) {
  const { at } = useSearch({ from: '/frame/console/sandboxes/$sandboxId' })
  const navigate = useNavigate({ from: '/console/sandboxes/$sandboxId' })
  const story = useStory(watch, at)
  const { events } = story
  const loadAll = useLoadAll(events)
  const list = events.events
  const choice = useRawFilter(list)
  const { filter, choose } = choice
  const [selected, select] = useSelected(at)
  const [isFollowing, follow] = useState(at === undefined)
  const [said, say] = useSaid()
  const place = selected === undefined ? -1 : indexUntil(list, selected)
  const event = list[place]?.seq === selected ? list[place] : undefined

  const show = (seq: number) => {
    follow(false)
    select(seq)
  }
  const go = (among: Matches<LogEvent> | undefined, step: 1 | -1) => {
    const next = among?.next(place < 0 && step < 0 ? list.length : place, step)
    const target = next === undefined ? undefined : list[next]
    if (target !== undefined) show(target.seq)
  }
  const toLive = () => {
    void navigate({ search: (before) => ({ ...before, at: undefined }), replace: true })
    follow(true)
  }
  const clear = () => choose({ types: undefined, errors: undefined, q: undefined })
  const copyLink = () => {
    if (selected === undefined) return
    copy(linkTo(selected)).then(
      () => say(`Link to event ${whole(selected)} copied`),
      () => say('The browser blocked the copy'),
    )
  }
  useEventKeys({
    follow: () => (isFollowing ? follow(false) : toLive()),
    error: (step) => go(filter.failed, step),
    copyLink,
    step: (by) => {
      const { shown } = filter
      const target = list[shown === undefined ? place + by : (shown[after(shown, place) - 1 + by] ?? -1)]
      if (target !== undefined) show(target.seq)
    },
  })
  const total = filter.shown?.length ?? list.length
  const shownEvents = () => (filter.shown === undefined ? list : filter.shown.flatMap((index) => list[index] ?? []))
  return (
    <div className={css.panel}>
      <RawTools
        choice={choice}
        current={place >= 0 && filter.found?.has(place) ? filter.found.countUntil(place) : 0}
        onGo={(step) => go(filter.found, step)}
        onJump={show}
        onExport={() => saveAsLines(`${sandbox.sandbox_id}.ndjson`, shownEvents())}
        headSeq={events.headSeq}
      />
      <Notice
        story={story}
        at={at}
        isHidden={false}
        isNarrow={filter.isNarrow || choice.word !== ''}
        onLoad={loadAll}
        onShow={clear}
        onLive={toLive}
      />
      <div className={css.columns}>
        <p role="status" className={said ? css.said : 'visually-hidden'}>
          {said}
        </p>
        {list.length === 0 && <Empty title="The log is empty" />}
        {list.length > 0 && total === 0 && (
          <Empty title={`0 of ${count(list.length)} match`}>
            <button type="button" className={css.clear} onClick={clear}>
              Clear the filter
            </button>
          </Empty>
        )}
        {total > 0 && (
          <RawList
            events={events}
            shown={filter.shown}
            found={filter.found}
            selected={selected}
            onSelect={show}
            isLive={story.isLive}
            isFollowing={isFollowing && story.isLive}
            onFollow={follow}
          />
        )}
        {event && <Splitter name="event" pane="after" label="Width of the event" />}
        {event && <EventBody event={event} onClose={() => select(undefined)} />}
      </div>
    </div>
  )
}

interface Keys {
  readonly follow: () => void
  readonly error: (step: 1 | -1) => void
  readonly copyLink: () => void
  readonly step: (by: 1 | -1) => void
}

function useEventKeys(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  useShortcuts(
    'Events',
    useMemo(
      () => [
        { keys: 'j', does: 'Next event', run: () => latest.current.step(1) },
        { keys: 'k', does: 'Previous event', run: () => latest.current.step(-1) },
        { keys: ']', does: 'Next failed event', run: () => latest.current.error(1) },
        { keys: '[', does: 'Previous failed event', run: () => latest.current.error(-1) },
        { keys: 'f', does: 'Follow new events, or stop', run: () => latest.current.follow() },
        { keys: 'c', does: 'Copy a link to the event', run: () => latest.current.copyLink() },
      ],
      [],
    ),
  )
}
